package edit

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// LinkFormat says how a target is written: the app's setting newLinkFormat. Any but these is the
// default of the app: the name if no other file has it, otherwise the path.
type LinkFormat string

const (
	RelativeLinks LinkFormat = "relative" // a path from the folder of the note
	AbsoluteLinks LinkFormat = "absolute" // a path from the vault's folder
)

// Move is a change of the paths of files, or of the places of parts of a file. It is immutable
// and safe for use by several goroutines.
type Move struct {
	// to has the new paths of the files that move, and folders those of folders.
	to, folders   map[string]string
	before, after *lookup.Files
	format        LinkFormat
	names         map[string]bool // folded names by which a link may mean one of the files
	here          string          // path of the text after the move, "" for that of its source
	holds         bool            // links of other files to what stays are rewritten, too
	parts         func(file, subpath string) (newFile string, subpaths []string)
}

// NewMove returns the move of the files at the keys of to to their values. before and after are the
// files of the vault before and after it. folders are folders that move, for the expressions of
// bases that name one. A file that appears, and is no value of to, is one of appears: with
// [Move.Holding] a link that it would catch is rewritten.
func NewMove(to, folders map[string]string, appears []string, before, after *lookup.Files, format LinkFormat) *Move {
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
	m.parts = func(file, subpath string) (string, []string) {
		to, part := parts(file, subpath)
		return to, []string{part}
	}
	return &m
}

// Holding returns the move that rewrites also the links of other files to files that stay, where the name of a file
// that appears or moves would catch them.
func (m Move) Holding() *Move {
	m.holds = true
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

// place returns the path after the move of the text of the file source.
func (m *Move) place(source string) string {
	if m.here != "" {
		return m.here
	}
	return cmp.Or(m.to[source], source)
}

// destination returns where a link in source has to lead, and the ways to write its subpath, best
// first; concerned is false if it does.
func (m *Move) destination(target, subpath, source string) (wanted string, parts []string, concerned bool) {
	_, moves := m.to[source]
	// In other files only links whose last part is a name that one of the files has or had can
	// lead elsewhere than before.
	isAnyLink := moves || m.parts != nil || m.here != ""
	if !isAnyLink && !m.names[lookup.Fold(target[strings.LastIndexByte(target, '/')+1:])] {
		return "", nil, false
	}
	i, ok := m.before.Resolve(target, source)
	if !ok {
		return "", nil, false
	}
	file := m.before.Path(i)
	wanted = cmp.Or(m.to[file], file)
	parts = []string{subpath}
	if m.parts != nil {
		wanted, parts = m.parts(file, subpath)
	}
	stays := wanted == file && slices.Equal(parts, []string{subpath})
	isOfOther := !moves && m.here == ""
	if stays && isOfOther && !m.holds {
		return wanted, parts, false
	}
	return wanted, parts, !slices.Equal(parts, []string{subpath}) || !m.leads(target, m.place(source), wanted)
}

// leads reports whether target leads from a note to a file after the move.
func (m *Move) leads(target, note, file string) bool {
	i, ok := m.after.Resolve(target, note)
	return ok && m.after.Path(i) == file
}

// link returns the edits to a link that reads raw: none if it need not be rewritten. reason is why
// it cannot be.
func (m *Move) link(raw string, old markdown.Link, source string) (edits []replacement, reason string) {
	if old.Style == markdown.Reference {
		return m.definition(raw, old, source)
	}
	file, parts, concerned := m.destination(old.Path, old.Subpath, source)
	if !concerned {
		return nil, ""
	}
	p, ok := split(raw, old)
	if !ok {
		return nil, unlocated
	}
	at := p.path
	targets := []string{old.Path}
	divides := !slices.Equal(parts, []string{old.Subpath})
	keepsPath := old.Subpath != "" && m.leads(old.Path, m.place(source), file)
	if !keepsPath {
		targets = m.targets(old, source, file)
	}
	if divides && old.Subpath != "" {
		subpath, ok := p.subpathSpan(old)
		if !ok {
			return nil, unlocated
		}
		if at.End = subpath.End; keepsPath {
			at = subpath
		}
	}
	for _, part := range parts {
		if keepsPath && part == old.Subpath {
			return nil, "" // the link matches the new text as it is
		}
		for _, target := range targets {
			way := target
			switch {
			case keepsPath:
				way = part
			case divides:
				way += part
			}
			for _, written := range p.spellings(way) {
				if p.reads(at, written, target, part) {
					return m.withDisplay(replacement{at, written}, p, old, source, file), ""
				}
			}
		}
	}
	if keepsPath {
		return nil, unwritableHeading
	}
	return nil, unwritable
}

// definition returns the edits to the address of reference links, which is written as that of an inline link.
func (m *Move) definition(raw string, old markdown.Link, source string) (edits []replacement, reason string) {
	const before = "[x]("
	at := strings.Index(raw, "]:") + len("]:")
	at += len(raw[at:]) - len(strings.TrimLeft(raw[at:], " \t"))
	old.Style = markdown.Inline
	edits, reason = m.link(before+raw[at:]+")", old, source)
	for i := range edits {
		edits[i].Start += at - len(before)
		edits[i].End += at - len(before)
	}
	return edits, reason
}

// withDisplay returns the edits to a link with that of its target, in their order. A display text that
// was the name of the file before becomes its new name.
func (m *Move) withDisplay(target replacement, p parts, old markdown.Link, source, file string) []replacement {
	shown := p.raw[p.display.Start:p.display.End]
	renamed := old.Display
	mayBeName := !old.Embed && m.parts == nil && old.Display != ""
	if i, ok := m.before.Resolve(old.Path, source); ok && mayBeName && old.Display == stem(m.before.Path(i)) {
		renamed = stem(file)
	}
	arePlain := isPlain(shown) && isPlain(renamed)
	switch {
	case renamed == shown || shown != old.Display || !arePlain:
		return []replacement{target}
	case p.style == markdown.Wikilink:
		return []replacement{target, {p.display, renamed}}
	}
	return []replacement{{p.display, renamed}, target}
}

// keeps reports whether a link of the edited text is right where old was before.
func (m *Move) keeps(old, edited markdown.Link, source string) bool {
	file, parts, concerned := m.destination(old.Path, old.Subpath, source)
	if !concerned {
		return old.Path == edited.Path && old.Subpath == edited.Subpath
	}
	return old.Target == edited.Target ||
		slices.Contains(parts, edited.Subpath) && m.leads(edited.Path, m.place(source), file)
}

// file returns the edits to the JSON strings of a file node. Its path is one of the vault, which the
// app matches with regard to case. reason is why they cannot be made.
func (m *Move) file(text []byte, n node, source string) (edits []replacement, reason string) {
	subpath := ""
	if n.subpath.End > 0 {
		subpath = unquote(text[n.subpath.Start:n.subpath.End])
	}
	file := unquote(text[n.file.Start:n.file.End])
	to := m.to[file]
	parts := []string{subpath}
	concerned := m.to[file] != "" && m.to[file] != file
	if m.to[file] == "" || m.parts != nil {
		to, parts, concerned = m.destination("/"+file, subpath, source)
	}
	switch {
	case !concerned || len(parts) == 0:
		return nil, ""
	case !utf8.ValidString(to):
		return nil, unwritable
	}
	if to != file {
		edits = []replacement{{n.file, string(quote(to))}}
	}
	if parts[0] != subpath && n.subpath.End > 0 {
		edits = append(edits, replacement{n.subpath, string(quote(parts[0]))})
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
	case m.format == RelativeLinks || note != source && isRelative(old.Path):
		// A path relative to the folder of the note.
		folder := path.Dir(note)
		var from []string
		if folder != "." {
			from = strings.Split(folder, "/")
		}
		to := strings.Split(file, "/")
		for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
			from = from[1:]
			to = to[1:]
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
	case m.format == AbsoluteLinks:
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

// NewHeadingRename returns the renaming of a heading of the note at a path of files to the text to.
// names returns which parts of a link to the note ("#A#B") name the heading, counted from 0.
func NewHeadingRename(note string, files *lookup.Files, names func(subpath string) []int, to string) *Move {
	// As the app writes it, which omits what would end the link, and with less
	// punctuation. A link matches a heading without regard to either.
	first := HeadingInLink(to)
	second := strings.Join(strings.Fields(delicate().ReplaceAllString(first, " ")), " ")
	return &Move{before: files, after: files, parts: func(file, subpath string) (newFile string, subpaths []string) {
		named := names(subpath)
		if file != note || subpath == "" || len(named) == 0 {
			return file, []string{subpath}
		}
		bare := strings.TrimLeft(subpath, "#")
		chain := strings.Split(bare, "#")
		for _, part := range slices.Compact([]string{first, second}) {
			for _, n := range named {
				chain[n] = part
			}
			if part != "" {
				subpaths = append(subpaths, subpath[:len(subpath)-len(bare)]+strings.Join(chain, "#"))
			}
		}
		return file, subpaths
	}}
}

// HeadingInLink returns a heading as it is written in a link, without its mark.
func HeadingInLink(heading string) string {
	return strings.Join(strings.Fields(unlinkable().ReplaceAllString(heading, " ")), " ")
}

var (
	unlinkable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[:#|^\\\r\n]|%%|\[\[|\]\]`) })
	delicate   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[]\\[()<>`*_$!|\\\\\"]") })
)

// subpathSpan returns the place of the subpath in a link.
func (p parts) subpathSpan(link markdown.Link) (at markdown.Span, ok bool) {
	start := p.path.End
	if p.style == markdown.Wikilink {
		return markdown.Span{
				Start: start,
				End:   start + len(link.Subpath),
			}, strings.HasPrefix(
				p.raw[start:],
				link.Subpath,
			)
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
