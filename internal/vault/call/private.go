package call

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// agentProperty is the property for what an agent may do: its value "no" means no access. For any other property "no"
// means that the note is not private.
const agentProperty = "agent"

// LevelIn returns the access level that the text of a note allows, [access.Delete] if it does not restrict access. In
// doubt it returns [access.None]: for an invalid or unclosed block of properties that contains one of the names, and
// for a value that is not a level.
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

// mayBeginWithProperties reports whether a text begins with a block of properties, or with something that may be one.
func mayBeginWithProperties(beginning []byte) bool {
	return len(openBlock(beginning)) > 0 || bytes.HasPrefix(beginning, []byte("---"))
}

// suspects reports whether a text may restrict access, by a quick check of one piece after the other. An error also
// makes the text suspect.
func suspects(p access.Private, text io.Reader) bool {
	const piece, overlap = 256 << 10, 8 * access.MaxPrivateName // pieces overlap, so that no name is split
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

// openBlock returns the text after the opening delimiter of a block of properties that the app does not recognize as
// one: the closing delimiter is missing, or something is before the opening one. It ends before an empty line.
func openBlock(text []byte) []byte {
	rest := access.Unfenced(text)
	for _, stop := range []string{"\n\n", "\n\r\n", "\n---", "\n..."} {
		if at := bytes.Index(rest, []byte(stop)); at >= 0 {
			rest = rest[:at]
		}
	}
	return rest
}

// levelOf returns the access level that properties allow.
func levelOf(p access.Private, properties frontmatter.Properties) access.Level {
	level := access.Delete
	for _, property := range properties {
		switch key := access.Fold(strings.TrimSpace(property.Key)); {
		case p.Names(key):
			level = min(level, levelOfValue(key, property.Value))
		case key == "tags" || key == "tag": // the app before 1.9 also accepted tag, and one text with several tags
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

// Hides reports whether files may be hidden from the caller.
func (v *Vault) Hides() bool { return v.Sight != nil || v.Disk.Judges() }

// IsExcepted reports whether the user exempted the file at a path from a content rule.
func (v *Vault) IsExcepted(rule string, at disk.Path) bool {
	return v.Host.exceptions.Has(rule, at.String())
}

// Narrowed lists the notes that restrict access to themselves, a line each: the level, a tab and the path. For what
// cannot be read, folders included, [protocol.Unread] is in place of the level. It also names hidden notes, and is only
// for the gateway.
func (v *Vault) Narrowed(paths []string) (answer.Reply, error) {
	private := v.Rules.Private()
	if private.IsZero() {
		return answer.Reply{}, nil
	}
	var lines []string
	addLine := func(level, path string) { lines = append(lines, level+"\t"+path+"\n") }
	unrestricted := v.Disk.Judging(nil).Raw()
	for _, path := range paths {
		at, err := v.PathOf(path)
		if err != nil || !disk.IsNote(at) || v.IsExcepted("private", at) {
			continue
		}
		text, err := unrestricted.Read(at)
		if err == nil {
			if level := LevelIn(private, text.ForProgram()); level < access.Delete {
				addLine(level.String(), path)
			}
		} else if !disk.IsMissing(err) {
			addLine(protocol.Unread, path) // it cannot be judged
		}
	}
	if len(paths) == 0 {
		idx, err := v.IndexOfNames()
		if err != nil {
			return answer.Reply{}, err
		}
		for _, path := range idx.UnreadNames() {
			addLine(protocol.Unread, path) // nor can what is in a folder be judged
		}
		for _, f := range idx.Closed {
			if !idx.IsUnread(f.Path.String()) {
				addLine(access.None.String(), f.Path.String())
			}
		}
		for i, level := range v.levels(idx) {
			if 0 < level && level <= access.Delete && !v.IsExcepted("private", idx.Files[i].Path) {
				addLine((level - 1).String(), idx.Files[i].Path.String())
			}
		}
	}
	slices.Sort(lines)
	return answer.From(v.Disk, strings.Join(lines, "")), nil
}

// levels returns for each file one more than the access level that the note allows; 0 for files that are not notes.
func (v *Vault) levels(idx *index.Index) []access.Level {
	return (&search.Derived[[]access.Level]{Name: "levels " + v.Host.judging, Compute: func(files []*index.File) []access.Level {
		return index.Collect(files, func(f index.Facts) access.Level { return levelOf(v.Rules.Private(), f.Properties()) + 1 })
	}}).Of(
		&v.Host.Memo,
		idx.Files,
	)
}

// Marked lists the paths of visible notes that have one of the marks, a line each. A mark is a tag with "#", or
// "private" for notes that restrict access to themselves.
func (v *Vault) Marked(marks []string) (answer.Reply, error) {
	idx, err := v.IndexOfNames()
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
		idx.Files,
	)
	var levels []access.Level
	if slices.Contains(marks, "private") && !v.Rules.Private().IsZero() {
		levels = v.levels(idx)
	}
	var b strings.Builder
	for i, f := range idx.Files {
		isNarrowed := levels != nil && 0 < levels[i] && levels[i] <= access.Delete
		if tagged[i] || isNarrowed && !v.IsExcepted("private", f.Path) {
			b.WriteString(f.Path.String() + "\n")
		}
	}
	return answer.From(v.Disk, b.String()), nil
}

// ClosedNow returns a digest of the paths of notes that are hidden by their own text. It is "" if there are none, if
// that is not known without reading every note, and for commands that print a single note, which report it
// themselves.
func (v *Vault) ClosedNow(command string) string {
	if !v.Disk.Judges() || allowlist.PrintsNamed(command) {
		return ""
	}
	idx, ok := v.Host.Knowledge.IndexIfMade(v.View())
	if !ok || len(idx.Closed) == 0 {
		return ""
	}
	paths := answer.Map(idx.Closed, func(f *index.File) string { return f.Path.String() })
	slices.Sort(paths)
	return answer.Digest([]byte(strings.Join(paths, "\n")))
}
