package relink

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

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
