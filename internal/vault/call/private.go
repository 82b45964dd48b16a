package call

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// agentProperty is the property that says what an agent may do, so that "no" is the level none. Of
// any other property "no" says that it is not private.
const agentProperty = "agent"

// LevelIn returns the level to which a text narrows access to its note, [access.Delete] for a text
// that does not. What cannot be understood narrows it to none: a block of properties that is not
// YAML, or not closed, and contains one of the names, and a value that is no level.
func LevelIn(p access.Private, text []byte) access.Level {
	if p.IsZero() {
		return access.Delete
	}
	level := access.Delete
	span, body, _ := markdown.Frontmatter(text)
	block := text[span.Start:span.End]
	closed := true
	if span == (markdown.Span{}) {
		block = openBlock(text)
		closed = false
	}
	if p.MayName(block) {
		properties, err := frontmatter.Parse(block)
		if err != nil || !closed {
			return access.None
		}
		level = levelOf(p, properties)
	}
	if level > access.None && p.MayTag(text[body:]) &&
		slices.ContainsFunc(markdown.Scan(text).Tags, func(t markdown.Tag) bool { return p.Covers(t.Text[1:]) }) {
		return access.None
	}
	return level
}

// mayBeginWithProperties reports whether the beginning of a text is that of a block of properties, or may become one.
func mayBeginWithProperties(beginning []byte) bool {
	return len(openBlock(beginning)) > 0 || bytes.HasPrefix(beginning, []byte("---"))
}

// suspects reports whether a text may narrow access, as far as that is seen piece by piece. It reads
// all of it, but for an error, which makes it suspect.
func suspects(p access.Private, text io.Reader) bool {
	const piece, overlap = 256 << 10, 8 * access.MaxPrivateName // a name is not cut
	buf := make([]byte, 0, piece+overlap)
	for first := true; ; first = false {
		n, err := io.ReadFull(text, buf[len(buf):piece+overlap])
		buf = buf[:len(buf)+n]
		if first && mayBeginWithProperties(buf) {
			return true
		}
		if p.MayTag(buf) {
			return true
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return false
		case err != nil:
			return true
		}
		buf = append(buf[:0], buf[len(buf)-overlap:]...)
	}
}

// openBlock returns what follows the first fence of a text where the app takes it for text: the second
// fence is missing, or something is in front of the first one. It ends before an empty line.
func openBlock(text []byte) []byte {
	rest := access.Unfenced(text)
	for _, stop := range []string{"\n\n", "\n\r\n", "\n---", "\n..."} {
		if at := bytes.Index(rest, []byte(stop)); at >= 0 {
			rest = rest[:at]
		}
	}
	return rest
}

// levelOf returns the level to which properties narrow access.
func levelOf(p access.Private, properties frontmatter.Properties) access.Level {
	level := access.Delete
	for _, property := range properties {
		switch key := access.Fold(strings.TrimSpace(property.Key)); {
		case p.Names(key):
			level = min(level, levelOfValue(key, property.Value))
		case key == "tags" || key == "tag": // also as the app had them before 1.9
			words := strings.FieldsFunc(
				property.Value.String(),
				func(r rune) bool { return strings.ContainsRune(" \t\r\n,\"[]{}:", r) },
			)
			if slices.ContainsFunc(words, func(word string) bool { return p.Covers(strings.TrimLeft(word, "#")) }) {
				level = access.None
			}
		}
	}
	return level
}

func levelOfValue(name string, v frontmatter.Value) access.Level {
	level := access.Delete
	switch v.Kind() {
	case frontmatter.Null:
		return level
	case frontmatter.List:
		for _, element := range v.List() {
			level = min(level, levelOfValue(name, element))
		}
		return level
	}
	text := strings.ToLower(strings.TrimSpace(v.String()))
	switch named, err := access.ParseLevel(text); {
	case text == "":
		return level
	case err == nil:
		return named
	case name != agentProperty && slices.Contains([]string{"false", "no", "off", "n", "0"}, text):
		return level
	}
	return access.None
}

// Hides reports whether some files may be hidden from the caller.
func (v *Vault) Hides() bool { return v.Sight != nil || v.Disk.Judges() }

// IsExcepted reports whether a rule about texts does not apply to the file at a path.
func (v *Vault) IsExcepted(rule string, at disk.Path) bool {
	return v.Host.exceptions.Has(rule, at.String())
}

// Narrowed replies with a line for each note that narrows access to itself: the level, a tab and the
// path. It names notes that are hidden for that, and is for the gateway alone.
func (v *Vault) Narrowed(paths []string) (answer.Reply, error) {
	private := v.Rules.Private()
	if private.IsZero() {
		return answer.Reply{}, nil
	}
	var lines []string
	line := func(level access.Level, path string) { lines = append(lines, level.String()+"\t"+path+"\n") }
	whole := v.Disk.Judging(nil).Raw()
	for _, path := range paths {
		at, err := v.PathOf(path)
		if err != nil || !disk.IsNote(at) || v.IsExcepted("private", at) {
			continue
		}
		text, err := whole.Read(at)
		if err == nil {
			if level := LevelIn(private, text.ForProgram()); level < access.Delete {
				line(level, path)
			}
		} else if !disk.IsMissing(err) {
			line(access.None, path) // it cannot be judged
		}
	}
	if len(paths) == 0 {
		x, err := v.IndexOfNames()
		if err != nil {
			return answer.Reply{}, err
		}
		for _, f := range x.Closed {
			line(access.None, f.Path.String())
		}
		for i, level := range v.levels(x) {
			if 0 < level && level <= access.Delete && !v.IsExcepted("private", x.Files[i].Path) {
				line(level-1, x.Files[i].Path.String())
			}
		}
	}
	slices.Sort(lines)
	return answer.From(v.Disk, strings.Join(lines, "")), nil
}

// levels returns one more than the level to which each seen note narrows access, 0 for other files.
func (v *Vault) levels(x *index.Index) []access.Level {
	return (&search.Derived[[]access.Level]{Name: "levels " + v.Host.judging, Compute: func(files []*index.File) []access.Level {
		return index.Collect(files, func(f index.Facts) access.Level { return levelOf(v.Rules.Private(), f.Properties()) + 1 })
	}}).Of(
		&v.Host.Memo,
		x.Files,
	)
}

// Marked replies with the paths of the seen notes that have one of some tags, written with "#", or for
// "private" narrow access to themselves, a line each.
func (v *Vault) Marked(marks []string) (answer.Reply, error) {
	x, err := v.IndexOfNames()
	if err != nil {
		return answer.Reply{}, err
	}
	tags, err := access.NewPrivate(
		nil,
		slices.DeleteFunc(slices.Clone(marks), func(mark string) bool { return !strings.HasPrefix(mark, "#") }),
	)
	if err != nil {
		return answer.Reply{}, err
	}
	tagged := (&search.Derived[[]bool]{Name: "marked " + strings.Join(tags.Tags, "\n"), Compute: func(files []*index.File) []bool {
		return index.Collect(files, func(f index.Facts) bool {
			return slices.ContainsFunc(f.Tags(), func(tag string) bool { return tags.Covers(strings.TrimPrefix(tag, "#")) })
		})
	}}).Of(
		&v.Host.Memo,
		x.Files,
	)
	var levels []access.Level
	if slices.Contains(marks, "private") && !v.Rules.Private().IsZero() {
		levels = v.levels(x)
	}
	var b strings.Builder
	for i, f := range x.Files {
		isNarrowed := levels != nil && 0 < levels[i] && levels[i] <= access.Delete
		if tagged[i] || isNarrowed && !v.IsExcepted("private", f.Path) {
			b.WriteString(f.Path.String() + "\n")
		}
	}
	return answer.From(v.Disk, b.String()), nil
}

// ClosedNow tells which notes are closed by their texts: another text when others are. It is "" where
// none is, where that is not known without reading every note, and for the text of one note, which says
// itself that it is closed.
func (v *Vault) ClosedNow(command string) string {
	if !v.Disk.Judges() || allowlist.PrintsNamed(command) {
		return ""
	}
	x, ok := v.Host.Knowledge.IndexIfMade(v.View())
	if !ok || len(x.Closed) == 0 {
		return ""
	}
	paths := answer.Map(x.Closed, func(f *index.File) string { return f.Path.String() })
	slices.Sort(paths)
	return answer.Digest([]byte(strings.Join(paths, "\n")))
}
