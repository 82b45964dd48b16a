package relink

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Format says how a target is written: the app's setting newLinkFormat. Any but these is the
// default of the app: the name if no other file has it, otherwise the path.
type Format string

const (
	Relative Format = "relative" // a path from the folder of the note
	Absolute Format = "absolute" // a path from the vault's folder
)

// Move is a change of the paths of files, or of the places of parts of a file. It is immutable
// and safe for use by several goroutines.
type Move struct {
	// to has the new paths of the files that move, and folders those of folders.
	to, folders   map[string]string
	before, after *lookup.Files
	format        Format
	names         map[string]bool // folded names by which a link may mean one of the files
	here          string          // path of the text after the move, "" for that of its source
	parts         func(file, subpath string) (newFile, newSubpath string)
}

// New returns the move of the files at the keys of to to their values. before and after are the
// files of the vault before and after it. folders are folders that move, for the expressions of
// bases that name one. A file that appears, and is no value of to, is one of appears: a link
// that it would catch is rewritten.
func New(to, folders map[string]string, appears []string, before, after *lookup.Files, format Format) *Move {
	m := &Move{to: to, folders: folders, before: before, after: after, format: format, names: map[string]bool{}}
	for from, p := range to {
		appears = append(appears, from, p)
	}
	for _, p := range appears {
		name := lookup.Fold(path.Base(p))
		m.names[name] = true
		m.names[strings.TrimSuffix(name, ".md")] = true
	}
	return m
}

// Dividing returns the move in which parts of files go to other files. parts returns where a
// file and a subpath ("#A#B", "#^id", "" for the whole) are afterwards. The names of all these
// files have to be known to m.
func (m Move) Dividing(parts func(file, subpath string) (newFile, newSubpath string)) *Move {
	m.parts = parts
	return &m
}

// At returns the move for a text that is at a path afterwards, wherever its source goes.
func (m Move) At(here string) *Move {
	m.here = here
	return &m
}

// Means reports whether a link may mean one of the files by the last part of its path, which
// is folded.
func (m *Move) Means(name string) bool { return m.names[name] }

// Concerns reports whether a link in the file source, a path before the move, has to change.
// It is quick for the many that need not.
func (m *Move) Concerns(link markdown.Link, source string) bool {
	_, _, concerned := m.destination(link.Path, link.Subpath, source)
	return concerned
}

// Rewrite returns the text of the file source, a path before the move, with its links
// rewritten, how many those are, and the ones that could not be. Only notes, canvases and bases
// have links. text is never modified; without a change it is returned.
func (m *Move) Rewrite(text []byte, source string) (edited []byte, changed int, left []Left) {
	return rewrite(m, text, source)
}

// place returns the path after the move of the text of the file source.
func (m *Move) place(source string) string {
	if m.here != "" {
		return m.here
	}
	return cmp.Or(m.to[source], source)
}

// destination returns where a link in source has to lead; concerned is false if it does.
func (m *Move) destination(target, subpath, source string) (wanted, part string, concerned bool) {
	_, moves := m.to[source]
	// In other files only links whose last part is a name that one of the files has or had can
	// lead elsewhere than before.
	if !moves && m.parts == nil && m.here == "" && !m.names[lookup.Fold(target[strings.LastIndexByte(target, '/')+1:])] {
		return "", "", false
	}
	i, ok := m.before.Resolve(target, source)
	if !ok {
		return "", "", false
	}
	file := m.before.Path(i)
	wanted, part = cmp.Or(m.to[file], file), subpath
	if m.parts != nil {
		wanted, part = m.parts(file, subpath)
	}
	return wanted, part, part != subpath || !m.leads(target, m.place(source), wanted)
}

// leads reports whether target leads from a note to a file after the move.
func (m *Move) leads(target, note, file string) bool {
	i, ok := m.after.Resolve(target, note)
	return ok && m.after.Path(i) == file
}

func (m *Move) link(raw string, old markdown.Link, source string) (edits []edit, reason string) {
	file, part, concerned := m.destination(old.Path, old.Subpath, source)
	if !concerned {
		return nil, ""
	}
	p, ok := split(raw, old)
	if !ok {
		return nil, unlocated
	}
	at, tail := p.path, ""
	if part != old.Subpath {
		if old.Subpath != "" {
			subpath, ok := p.subpathSpan(old)
			if !ok {
				return nil, unlocated
			}
			at.End = subpath.End
		}
		tail = part
	}
	for _, target := range m.targets(old, source, file) {
		for _, written := range p.spellings(target + tail) {
			if !p.reads(at, written, target, part) {
				continue
			}
			// A display text that was the name of the file before becomes its new name.
			target, shown, renamed := edit{at, written}, p.raw[p.display.Start:p.display.End], old.Display
			if i, ok := m.before.Resolve(old.Path, source); ok && !old.Embed && m.parts == nil && old.Display != "" && old.Display == stem(m.before.Path(i)) {
				renamed = stem(file)
			}
			switch {
			case renamed == shown || shown != old.Display || !isPlain(shown) || !isPlain(renamed):
				return []edit{target}, ""
			case p.style == markdown.Wikilink:
				return []edit{target, {p.display, renamed}}, ""
			}
			return []edit{{p.display, renamed}, target}, ""
		}
	}
	return nil, unwritable
}

func (m *Move) keeps(old, edited markdown.Link, source string) bool {
	file, part, concerned := m.destination(old.Path, old.Subpath, source)
	if !concerned {
		return old.Path == edited.Path && old.Subpath == edited.Subpath
	}
	return old.Target == edited.Target || part == edited.Subpath && m.leads(edited.Path, m.place(source), file)
}

// file returns the new path of a file node. It is a path of the vault, which the app matches
// with regard to case.
func (m *Move) file(text []byte, n node, source string) (edits []edit, reason string) {
	subpath := ""
	if n.subpath.End > 0 {
		subpath = unquote(text[n.subpath.Start:n.subpath.End])
	}
	file := unquote(text[n.file.Start:n.file.End])
	to, part, concerned := m.to[file], subpath, m.to[file] != "" && m.to[file] != file
	if m.to[file] == "" || m.parts != nil {
		to, part, concerned = m.destination("/"+file, subpath, source)
	}
	switch {
	case !concerned:
		return nil, ""
	case !utf8.ValidString(to):
		return nil, unwritable
	}
	edits = []edit{{n.file, string(quote(to))}}
	if part != subpath && n.subpath.End > 0 {
		edits = append(edits, edit{n.subpath, string(quote(part))})
	}
	return edits, ""
}

// isPlain reports whether a display text means nothing but itself.
func isPlain(display string) bool { return !strings.ContainsAny(display, "[]|`\\<$#") }

// targets returns the ways to write a link from a note to a file that lead there, best
// first. A wikilink omits the extension of a note where it can.
func (m *Move) targets(old markdown.Link, source, file string) []string {
	note := m.place(source)
	paths := []string{file, "/" + file}
	name := path.Base(file)
	switch {
	case m.format == Relative || note != source && isRelative(old.Path):
		// A path relative to the folder of the note.
		folder := path.Dir(note)
		var from []string
		if folder != "." {
			from = strings.Split(folder, "/")
		}
		to := strings.Split(file, "/")
		for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
			from, to = from[1:], to[1:]
		}
		way := strings.Repeat("../", len(from)) + strings.Join(to, "/")
		switch { // without dots it may also be read as a path from the vault's folder
		case isRelative(way):
			paths = append([]string{way}, paths...)
		case isRelative(old.Path):
			paths = append([]string{"./" + way}, paths...)
		default:
			paths = append([]string{way, "./" + way}, paths...)
		}
	case m.format == Absolute:
	case m.after.Named(name) == 1:
		paths = append([]string{name}, paths...)
	default:
		paths = append(paths, name) // several files have the name, even if this is the nearest
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

// Wikilink returns a link from a note to a file after the move.
func (m *Move) Wikilink(note, file string) string {
	for _, target := range m.targets(markdown.Link{Style: markdown.Wikilink}, note, file) {
		return "[[" + target + "]]"
	}
	return "[[" + file + "]]"
}

// isRelative reports whether a link is a path from the folder of its note.
func isRelative(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
}

// stem returns the name of a file without its extension.
func stem(p string) string {
	name := path.Base(p)
	return strings.TrimSuffix(name, path.Ext(name))
}

// Heading is a change of the text of a heading; links to it follow. It is immutable and safe
// for use by several goroutines.
type Heading struct {
	note  string
	files *lookup.Files
	names func(subpath string) []int // see [NewHeading]
	parts []string                   // spellings of the new text in a link, best first
}

// NewHeading returns the renaming of a heading of the note at a path of files to the text to.
// names returns which parts of a link to the note ("#A#B") name the heading, counted from 0.
func NewHeading(note string, files *lookup.Files, names func(subpath string) []int, to string) *Heading {
	h := &Heading{note: note, files: files, names: names}
	// As the app writes it, which omits what would end the link, and with less
	// punctuation. A link matches a heading without regard to either.
	first := PartOf(to)
	second := strings.Join(strings.Fields(delicate().ReplaceAllString(first, " ")), " ")
	for _, part := range []string{first, second} {
		if part != "" && !slices.Contains(h.parts, part) {
			h.parts = append(h.parts, part)
		}
	}
	return h
}

// PartOf returns a heading as it is written in a link, without its mark.
func PartOf(heading string) string {
	return strings.Join(strings.Fields(unlinkable().ReplaceAllString(heading, " ")), " ")
}

var (
	unlinkable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[:#|^\\\r\n]|%%|\[\[|\]\]`) })
	delicate   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[]\\[()<>`*_$!|\\\\\"]") })
)

// Rewrite returns the text of the file source with its links to the heading rewritten, how
// many those are, and the ones that could not be. Only notes and canvases have links. text
// is never modified; without a change it is returned.
func (h *Heading) Rewrite(text []byte, source string) (edited []byte, changed int, left []Left) {
	return rewrite(h, text, source)
}

// Concerns reports whether a link in the file source leads to the heading.
func (h *Heading) Concerns(link markdown.Link, source string) bool {
	_, concerned := h.subpath(link, source, "")
	return concerned
}

func (h *Heading) keeps(old, edited markdown.Link, source string) bool {
	return old.Path == edited.Path && (old.Subpath == edited.Subpath || h.Concerns(old, source))
}

// file returns the new subpath of a file node.
func (h *Heading) file(text []byte, n node, source string) (edits []edit, reason string) {
	if n.subpath.End == 0 || len(h.parts) == 0 {
		return nil, ""
	}
	link := markdown.Link{Path: "/" + unquote(text[n.file.Start:n.file.End]), Subpath: unquote(text[n.subpath.Start:n.subpath.End])}
	if wanted, concerned := h.subpath(link, source, h.parts[0]); concerned && wanted != link.Subpath {
		return []edit{{n.subpath, string(quote(wanted))}}, ""
	}
	return nil, ""
}

// expressions: those of bases name no heading.
func (h *Heading) expressions([]byte, string) ([]edit, []Left) { return nil, nil }

// subpath returns the subpath that a link has to have with one of the spellings of the
// new heading; concerned is false for a link to something else.
func (h *Heading) subpath(link markdown.Link, source, part string) (wanted string, concerned bool) {
	if link.Subpath == "" {
		return "", false
	}
	place, ok := h.files.Resolve(link.Path, source)
	if !ok || h.files.Path(place) != h.note {
		return "", false
	}
	named := h.names(link.Subpath)
	if len(named) == 0 {
		return "", false
	}
	lead := link.Subpath[:len(link.Subpath)-len(strings.TrimLeft(link.Subpath, "#"))]
	chain := strings.Split(strings.TrimLeft(link.Subpath, "#"), "#")
	for _, n := range named {
		chain[n] = part
	}
	return lead + strings.Join(chain, "#"), true
}

func (h *Heading) link(raw string, old markdown.Link, source string) (edits []edit, reason string) {
	if !h.Concerns(old, source) {
		return nil, ""
	}
	p, ok := split(raw, old)
	if !ok {
		return nil, unlocated
	}
	at, ok := p.subpathSpan(old)
	if !ok {
		return nil, unlocated
	}
	for _, part := range h.parts {
		wanted, _ := h.subpath(old, source, part)
		if wanted == old.Subpath {
			return nil, "" // the link matches the new text as it is
		}
		for _, written := range p.spellings(wanted) {
			if p.reads(at, written, old.Path, wanted) {
				return []edit{{at, written}}, ""
			}
		}
	}
	return nil, unwritableHeading
}

// subpathSpan returns the place of the subpath in a link.
func (p parts) subpathSpan(link markdown.Link) (at markdown.Span, ok bool) {
	start := p.path.End
	if p.style == markdown.Wikilink {
		return markdown.Span{Start: start, End: start + len(link.Subpath)}, strings.HasPrefix(p.raw[start:], link.Subpath)
	}
	for end := start + 1; end < len(p.raw); end++ {
		said, err := url.PathUnescape(p.raw[start:end])
		at = markdown.Span{Start: start, End: end}
		if err == nil && said == link.Subpath && p.reads(at, "#x", link.Path, "#x") {
			return at, true
		}
	}
	return at, false
}
