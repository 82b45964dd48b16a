package relink

import (
	"path"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Format says how a target is written: the app's setting newLinkFormat.
type Format uint8

const (
	// Shortest is the name if no other file has it, otherwise the path.
	Shortest Format = iota
	// Relative is a path from the folder of the note.
	Relative
	// Absolute is a path from the vault's folder.
	Absolute
)

// ParseFormat reads the setting. An unknown one is [Shortest], the default of the app.
func ParseFormat(setting string) Format {
	switch setting {
	case "relative":
		return Relative
	case "absolute":
		return Absolute
	}
	return Shortest
}

// Move is a change of the path of a file. It is immutable and safe for use by several
// goroutines.
type Move struct {
	from, to      string
	before, after *lookup.Files
	format        Format
	names         map[string]bool // folded names by which a link may mean the file
}

// New returns the move of the file at the path from to the path to. before and after are the
// files of the vault before and after it.
func New(from, to string, before, after *lookup.Files, format Format) *Move {
	m := &Move{from: from, to: to, before: before, after: after, format: format, names: map[string]bool{}}
	for _, p := range []string{from, to} {
		name := lookup.Fold(path.Base(p))
		m.names[name] = true
		m.names[strings.TrimSuffix(name, ".md")] = true
	}
	return m
}

// Concerns reports whether a link in the file source, a path before the move, has to change.
// It is quick for the many that need not.
func (m *Move) Concerns(link markdown.Link, source string) bool {
	_, concerned := m.destination(link.Path, source)
	return concerned
}

// Rewrite returns the text of the file source, a path before the move, with its links
// rewritten, how many those are, and the ones that could not be. Only notes and canvases
// have links. text is never modified; without a change it is returned.
func (m *Move) Rewrite(text []byte, source string) (edited []byte, changed int, left []Left) {
	return rewrite(m, text, source)
}

// path returns the path after the move of a file that was at p.
func (m *Move) path(p string) string {
	if p == m.from {
		return m.to
	}
	return p
}

// destination returns where a link in source has to lead; concerned is false if it does.
func (m *Move) destination(target, source string) (wanted string, concerned bool) {
	if target == "" {
		return "", false
	}
	// In other files only links whose last part is a name that the file has or had can
	// lead elsewhere than before.
	if source != m.from && !m.names[lookup.Fold(target[strings.LastIndexByte(target, '/')+1:])] {
		return "", false
	}
	i, ok := m.before.Resolve(target, source)
	if !ok {
		return "", false
	}
	wanted = m.path(m.before.Path(i))
	return wanted, !m.leads(target, m.path(source), wanted)
}

// leads reports whether target leads from a note to a file after the move.
func (m *Move) leads(target, note, file string) bool {
	i, ok := m.after.Resolve(target, note)
	return ok && m.after.Path(i) == file
}

func (m *Move) link(raw string, old markdown.Link, source string) (edits []edit, reason string) {
	file, concerned := m.destination(old.Path, source)
	if !concerned {
		return nil, ""
	}
	parts, ok := split(raw, old)
	if !ok {
		return nil, unlocated
	}
	for _, target := range m.targets(old, m.path(source), file) {
		for _, written := range parts.spellings(target) {
			if parts.reads(parts.path, written, target, old.Subpath) {
				return m.edits(parts, old, file, written), ""
			}
		}
	}
	return nil, unwritable
}

func (m *Move) keeps(old, edited markdown.Link, source string) bool {
	if old.Subpath != edited.Subpath {
		return false
	}
	if old.Path == edited.Path {
		return true
	}
	file, concerned := m.destination(old.Path, source)
	return concerned && m.leads(edited.Path, m.path(source), file)
}

// file returns the new path of a file node. It is a path of the vault, which the app matches
// with regard to case.
func (m *Move) file(text []byte, n node, source string) (at markdown.Span, written []byte, reason string) {
	file := unquote(text[n.file.Start:n.file.End])
	to, concerned := m.to, m.from != m.to
	if file != m.from {
		to, concerned = m.destination("/"+file, source)
	}
	switch {
	case !concerned:
		return n.file, nil, ""
	case !utf8.ValidString(to):
		return n.file, nil, unwritable
	}
	return n.file, quote(to), ""
}

// edits are the new target, and the display text if that changes with it.
func (m *Move) edits(p parts, old markdown.Link, file, written string) []edit {
	target := edit{p.path, written}
	shown := p.raw[p.display.Start:p.display.End]
	renamed := m.display(old, file)
	switch {
	case renamed == shown || shown != old.Display || !isPlain(shown) || !isPlain(renamed):
		return []edit{target}
	case p.style == markdown.Wikilink:
		return []edit{target, {p.display, renamed}}
	}
	return []edit{{p.display, renamed}, target}
}

// isPlain reports whether a display text means nothing but itself.
func isPlain(display string) bool { return !strings.ContainsAny(display, "[]|`\\<$#") }

// targets returns the ways to write a link from a note to a file that lead there, best
// first. A wikilink omits the extension of a note where it can.
func (m *Move) targets(old markdown.Link, note, file string) []string {
	paths := []string{file, "/" + file}
	name := path.Base(file)
	switch {
	case m.format == Relative || note == m.to && isRelative(old.Path):
		way := relative(path.Dir(note), file)
		switch { // without dots it may also be read as a path from the vault's folder
		case isRelative(way):
			paths = append([]string{way}, paths...)
		case isRelative(old.Path):
			paths = append([]string{"./" + way}, paths...)
		default:
			paths = append([]string{way, "./" + way}, paths...)
		}
	case m.format == Shortest && m.after.Named(name) == 1:
		paths = append([]string{name}, paths...)
	case m.format == Shortest:
		paths = append(paths, name) // the name stands for several files, even if this is the nearest
	}
	var all []string
	for _, p := range paths {
		short, isNote := strings.CutSuffix(p, ".md")
		if isNote && old.Style == markdown.Wikilink && m.leads(short, note, file) {
			all = append(all, short)
		}
		if m.leads(p, note, file) {
			all = append(all, p)
		}
	}
	return all
}

// isRelative reports whether a link is a path from the folder of its note.
func isRelative(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
}

// relative returns the relative path from a folder of the vault to a file.
func relative(folder, file string) string {
	var from []string
	if folder != "." {
		from = strings.Split(folder, "/")
	}
	to := strings.Split(file, "/")
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(to, "/")
}

// display returns the display text of a link after the move: the new name if it was the
// old one.
func (m *Move) display(old markdown.Link, file string) string {
	if file == m.to && !old.Embed && old.Display != "" && old.Display == stem(m.from) {
		return stem(m.to)
	}
	return old.Display
}

// stem returns the name of a file without its extension.
func stem(p string) string {
	name := path.Base(p)
	return strings.TrimSuffix(name, path.Ext(name))
}
