package relink

import (
	"bytes"
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Heading is a heading of a note that gets another text, while links to it stay links
// to it. It does not change and may be used by several goroutines.
type Heading struct {
	note  string
	files *lookup.Files
	// names returns which parts of a link to the note name the heading, by their
	// place between the marks "#".
	names func(subpath string) []int
	parts []string // the new text as a part of a link, best first
}

// NewHeading returns the renaming of a heading of the note at a path among files, to
// the text to. names returns which parts of a link to the note ("#A#B") name the
// heading, counted from 0.
func NewHeading(note string, files *lookup.Files, names func(subpath string) []int, to string) *Heading {
	return &Heading{note: note, files: files, names: names, parts: linkParts(to)}
}

var (
	unlinkable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[:#|^\\\r\n]|%%|\[\[|\]\]`) })
	delicate   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[]\\[()<>`*_$!|\\\\\"]") })
)

// linkParts returns the ways to write a heading as a part of a link: as the app does,
// which leaves out what would end the link, and with less punctuation. To a link it
// does not count.
func linkParts(heading string) (parts []string) {
	first := strings.Join(strings.Fields(unlinkable().ReplaceAllString(heading, " ")), " ")
	second := strings.Join(strings.Fields(delicate().ReplaceAllString(first, " ")), " ")
	for _, part := range []string{first, second} {
		if part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// Rewrite returns the text of a file with its links to the heading changed, and how
// many those are; left are links that could not be. Files other than notes and
// canvases have no links. text is never modified.
func (h *Heading) Rewrite(text []byte, source string) (edited []byte, changed int, left []Left) {
	switch strings.ToLower(path.Ext(source)) {
	case ".md":
		return h.inNote(text, source)
	case ".canvas":
		return h.inCanvas(text, source)
	}
	return text, 0, nil
}

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

// link returns the edits to a link that reads raw, none if it is to something else.
func (h *Heading) link(raw string, old markdown.Link, source string) (edits []edit, reason string) {
	if _, concerned := h.subpath(old, source, ""); !concerned {
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
			return nil, ""
		}
		for _, written := range p.spellings(wanted) {
			if p.withSubpath(at, written, old.Path, wanted) {
				return []edit{{at, written}}, ""
			}
		}
	}
	return nil, unwritableHeading
}

const unwritableHeading = "no link can hold the new heading"

// subpathSpan returns where the part of the file is written in a link.
func (p parts) subpathSpan(link markdown.Link) (at markdown.Span, ok bool) {
	start := p.path.End
	if p.style == markdown.Wikilink {
		return markdown.Span{Start: start, End: start + len(link.Subpath)}, strings.HasPrefix(p.raw[start:], link.Subpath)
	}
	for end := start + 1; end < len(p.raw); end++ {
		said, err := url.PathUnescape(p.raw[start:end])
		at = markdown.Span{Start: start, End: end}
		if err == nil && said == link.Subpath && p.withSubpath(at, "#x", link.Path, "#x") {
			return at, true
		}
	}
	return at, false
}

// withSubpath reports whether the link would lead to the same file and to subpath, if
// that were written so.
func (p parts) withSubpath(at markdown.Span, written, file, subpath string) bool {
	text := strings.TrimPrefix(p.raw[:at.Start], "!") + written + p.raw[at.End:]
	if p.style == markdown.Inline {
		text = "[x" + p.raw[p.display.End:at.Start] + written + p.raw[at.End:]
	}
	link, ok := markdown.ParseLink(text)
	return ok && link.Path == file && link.Subpath == subpath && link.Style == p.style
}

func (h *Heading) inNote(text []byte, source string) (edited []byte, changed int, left []Left) {
	const fence = 1 // line above the block
	found := markdown.Scan(text)
	edits, changed, left := h.inBody(text, found, source)
	front := found.Frontmatter
	block, inProperties, lost := frontmatter.RewriteLinks(text[front.Start:front.End], func(raw string, link markdown.Link) string {
		edits, reason := h.link(raw, link, source)
		if reason != "" {
			left = append(left, Left{link.Line + fence, link.Target, reason})
		}
		if len(edits) == 0 {
			return ""
		}
		return string(apply([]byte(raw), edits))
	})
	for _, link := range lost {
		left = append(left, Left{link.Line + fence, link.Target, unlocated})
	}
	if inProperties > 0 {
		edits = append([]edit{{front, string(block)}}, edits...)
	}
	return apply(text, edits), changed + inProperties, left
}

// inBody returns the edits to the links of a text, and how many links those are. There
// are none if one of them would disturb the others.
func (h *Heading) inBody(text []byte, found markdown.Note, source string) (edits []edit, changed int, left []Left) {
	for _, link := range found.Links {
		some, reason := h.link(string(text[link.Span.Start:link.Span.End]), link, source)
		if reason != "" {
			left = append(left, Left{link.Line, link.Target, reason})
		}
		for _, e := range some {
			e.Start += link.Span.Start
			e.End += link.Span.Start
			edits = append(edits, e)
			changed++
		}
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.Start, b.Start) })
	if changed == 0 || h.isKept(found, markdown.Scan(apply(text, edits)), source) {
		return edits, changed, left
	}
	for _, link := range found.Links {
		if _, concerned := h.subpath(link, source, ""); concerned {
			left = append(left, Left{link.Line, link.Target, disturbed})
		}
	}
	return nil, 0, left
}

// isKept reports whether an edited text has the same tags, and the same links but for
// those to the heading.
func (h *Heading) isKept(old, now markdown.Note, source string) bool {
	sameTags := slices.EqualFunc(old.Tags, now.Tags, func(a, b markdown.Tag) bool { return a.Text == b.Text })
	return sameTags && slices.EqualFunc(old.Links, now.Links, func(a, b markdown.Link) bool {
		_, concerned := h.subpath(a, source, "")
		return a.Path == b.Path && a.Style == b.Style && a.Embed == b.Embed && (concerned || a.Subpath == b.Subpath)
	})
}

// inCanvas changes the links of file nodes and of text nodes.
func (h *Heading) inCanvas(text []byte, source string) (edited []byte, changed int, left []Left) {
	var edits []edit
	for _, n := range canvasNodes(text) {
		line := 1 + bytes.Count(text[:max(n.text.Start, n.subpath.Start)], []byte("\n"))
		switch {
		case n.kind == "file" && n.subpath.End > 0:
			file := unquote(text[n.file.Start:n.file.End])
			link := markdown.Link{Path: "/" + file, Subpath: unquote(text[n.subpath.Start:n.subpath.End])}
			if len(h.parts) == 0 {
				continue
			}
			if wanted, concerned := h.subpath(link, source, h.parts[0]); concerned && wanted != link.Subpath {
				edits = append(edits, edit{n.subpath, string(quote(wanted))})
				changed++
			}
		case n.kind == "text":
			inner := []byte(unquote(text[n.text.Start:n.text.End]))
			some, more, lost := h.inBody(inner, markdown.Scan(inner), source)
			if more > 0 {
				edits = append(edits, onto(text[n.text.Start:n.text.End], n.text.Start, some)...)
				changed += more
			}
			for _, l := range lost {
				left = append(left, Left{line, l.Target, l.Reason})
			}
		}
	}
	return apply(text, edits), changed, left
}
