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

// LinkFormat says how targets of links are written; it is the setting newLinkFormat of the app. Any
// other value is the default of the app: the name if no other file has it, otherwise the path.
type LinkFormat string

const (
	RelativeLinks LinkFormat = "relative" // a path from the folder of the note
	AbsoluteLinks LinkFormat = "absolute" // a path from the vault's folder
)

// Move is a change of the paths of files, or of the places of parts of a file. It is immutable
// and safe for concurrent use.
type Move struct {
	to, folders   map[string]string // the new paths of files and folders that move, by old path
	before, after *lookup.Files
	format        LinkFormat
	names         map[string]bool // folded names by which a link may mean one of the files
	here          string          // path of the text after the move, "" for the new path of its source
	holds         bool            // whether links of other files to files that stay are rewritten, too
	// parts returns the file and the ways to write the subpath after the move; nil if parts do not move.
	parts func(file, subpath string) (newFile string, subpaths []string)
}

// NewMove returns the move of files; to has their new paths by old path. before and after are the
// files of the vault before and after the move. folders has the new paths of folders by old path,
// for expressions of bases that name folders. appears are other files that are created: with
// [Move.Holding], links that would lead to them are rewritten.
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

// Dividing returns the move in which parts of files go to other files. parts returns the new file
// and subpath for a file and a subpath ("#A#B", "#^id", "" for the whole file). m must know the
// names of all these files.
func (m Move) Dividing(parts func(file, subpath string) (newFile, newSubpath string)) *Move {
	m.parts = func(file, subpath string) (string, []string) {
		to, part := parts(file, subpath)
		return to, []string{part}
	}
	return &m
}

// Holding returns the move that also rewrites links of other files to files that stay, if they would otherwise lead to a
// file that appears or moves.
func (m Move) Holding() *Move {
	m.holds = true
	return &m
}

// At returns the move for a text that will be at the path here, wherever its source goes.
func (m Move) At(here string) *Move {
	m.here = here
	return &m
}

// Means reports whether a link may mean one of the moved files; name is the last part of its
// path, folded.
func (m *Move) Means(name string) bool { return m.names[name] }

// Concerns reports whether a link in the file source, a path before the move, must change.
// It is fast for most links that need not change.
func (m *Move) Concerns(link markdown.Link, source string) bool {
	_, _, concerned := m.destination(link.Path, link.Subpath, source)
	return concerned
}

// place returns the path of the text of the file source after the move.
func (m *Move) place(source string) string {
	if m.here != "" {
		return m.here
	}
	return cmp.Or(m.to[source], source)
}

// destination returns the file to which a link in source must lead, and the ways to write its subpath, the
// best one first. concerned is false if the link leads there as it is.
func (m *Move) destination(target, subpath, source string) (wanted string, parts []string, concerned bool) {
	_, moves := m.to[source]
	// In other files, only links whose last part is the old or new name of a moved file can lead
	// elsewhere than before.
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

// leads reports whether a link with this target in note leads to file after the move.
func (m *Move) leads(target, note, file string) bool {
	i, ok := m.after.Resolve(target, note)
	return ok && m.after.Path(i) == file
}

// link returns the edits to a link with the text raw, none if it need not be rewritten. reason is why it
// cannot be rewritten.
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
		at.End = subpath.End
		if keepsPath {
			at = subpath
		}
	}
	for _, part := range parts {
		if keepsPath && part == old.Subpath {
			return nil, "" // the link fits the new heading as it is
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
				if p.parsesAs(at, written, target, part) {
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

// definition returns the edits to the target in a definition of reference links, which is written like that of an inline
// link.
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

// withDisplay returns the edits to a link in their order: target, and the edit to the display text if that was the
// name of the file, so that it becomes the new name.
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

// keeps reports whether edited is the right link in place of old.
func (m *Move) keeps(old, edited markdown.Link, source string) bool {
	file, parts, concerned := m.destination(old.Path, old.Subpath, source)
	if !concerned {
		return old.Path == edited.Path && old.Subpath == edited.Subpath
	}
	return old.Target == edited.Target ||
		slices.Contains(parts, edited.Subpath) && m.leads(edited.Path, m.place(source), file)
}

// file returns the edits to the JSON strings of a file node. Its path is relative to the vault, and case-sensitive
// in the app. reason is why the node cannot be edited.
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

// isPlain reports whether a display text has no characters with a meaning in Markdown.
func isPlain(display string) bool { return !strings.ContainsAny(display, "[]|`\\<$#") }

// targets returns the targets with which a link leads to file, the best one first. A wikilink
// omits the extension of a note if possible.
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
		switch { // without dots, it may also be read as a path from the root of the vault
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
		paths = append(paths, name) // comes last, because several files have the name
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

// isRelative reports whether a target begins with ./ or ../, and so is relative to the folder of its note.
func isRelative(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../")
}

// stem returns the name of a file without its extension.
func stem(p string) string {
	name := path.Base(p)
	return strings.TrimSuffix(name, path.Ext(name))
}

// NewHeadingRename returns the move for renaming a heading of a note to the text to. note is its path in
// files. names returns which parts of a subpath ("#A#B") name the heading, counted from 0.
func NewHeadingRename(note string, files *lookup.Files, names func(subpath string) []int, to string) *Move {
	// The heading as the app writes it in links, without characters that would end the link, and
	// with even less punctuation. Links match headings without regard to either.
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

// HeadingInLink returns a heading as it is written in a link, without the "#".
func HeadingInLink(heading string) string {
	return strings.Join(strings.Fields(unlinkable().ReplaceAllString(heading, " ")), " ")
}

var (
	unlinkable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[:#|^\\\r\n]|%%|\[\[|\]\]`) })
	delicate   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[]\\[()<>`*_$!|\\\\\"]") })
)

// subpathSpan returns the span of the subpath in a link. ok is false if it cannot be found.
func (p parts) subpathSpan(link markdown.Link) (at markdown.Span, ok bool) {
	start := p.path.End
	if p.style == markdown.Wikilink {
		at = markdown.Span{Start: start, End: start + len(link.Subpath)}
		return at, strings.HasPrefix(p.raw[start:], link.Subpath)
	}
	for end := start + 1; end < len(p.raw); end++ {
		decoded, err := url.PathUnescape(p.raw[start:end])
		at = markdown.Span{Start: start, End: end}
		if err == nil && decoded == link.Subpath && p.parsesAs(at, "#x", link.Path, "#x") {
			return at, true
		}
	}
	return at, false
}
