// Package relink changes the links of notes, canvases and bases so that they lead where they led
// before files or their parts were moved or a heading renamed.
//
// It opens no file: it works on the text of one file and on the paths of the vault before
// and after. Only the target of a link changes, and only links of a file. A link that still
// leads to the right file is left alone, and so is one that led nowhere. Links in code and
// HTML comments are not links, as in the app.
package relink

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Left is a link that leads elsewhere after the change, because it could not be rewritten.
type Left struct {
	Line   int // from 1
	Target string
	Reason string
}

// The reasons for a [Left].
const (
	unwritable        = "no link can hold the new path"
	unwritableHeading = "no link can hold the new heading"
	unlocated         = "the link cannot be taken apart"
	disturbed         = "with the new path other links would be read differently"
)

// change is a [Move] or a [Heading]. A source is the path of the file with the links, before
// the change.
type change interface {
	// Concerns reports whether a link has to be rewritten.
	Concerns(link markdown.Link, source string) bool
	// link returns the edits to a link that reads raw: none if it need not be rewritten.
	// reason is why it cannot be.
	link(raw string, old markdown.Link, source string) (edits []edit, reason string)
	// keeps reports whether a link of the edited text is right where old was before.
	keeps(old, edited markdown.Link, source string) bool
	// file returns the edits to the JSON strings of a file node. reason is why they cannot be made.
	file(text []byte, n node, source string) (edits []edit, reason string)
	// expressions returns the edits to the expressions of a base, and the names in it that
	// could not be rewritten.
	expressions(text []byte, source string) (edits []edit, left []Left)
}

// edit replaces a span of a text.
type edit struct {
	markdown.Span
	text string
}

// rewrite returns the text of a file with its links rewritten, how many those are, and the
// ones that could not be. Only notes, canvases and bases have links. text is never modified;
// without edits it is returned.
func rewrite(c change, text []byte, source string) (edited []byte, changed int, left []Left) {
	var edits []edit
	switch strings.ToLower(path.Ext(source)) {
	case ".md":
		edits, changed, left = note(c, text, source)
	case ".canvas":
		edits, changed, left = canvas(c, text, source)
	case ".base":
		edits, left = c.expressions(text, source)
		changed = len(edits)
	}
	return apply(text, edits), changed, left
}

// note returns the edits to a note: to its properties, then to its body.
func note(c change, text []byte, source string) (edits []edit, changed int, left []Left) {
	const fence = 1 // line above the properties
	found := markdown.Scan(text)
	front := found.Frontmatter
	block, inProperties, lost := frontmatter.RewriteLinks(text[front.Start:front.End], func(raw string, link markdown.Link) string {
		edits, reason := c.link(raw, link, source)
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
		edits = append(edits, edit{front, string(block)})
	}
	inBody, changed, more := body(c, text, found, source)
	return append(edits, inBody...), inProperties + changed, append(left, more...)
}

// body returns the edits to the links of a Markdown text. There are none if the edited text
// would have other tags or links than those that were rewritten.
func body(c change, text []byte, found markdown.Note, source string) (edits []edit, changed int, left []Left) {
	for _, link := range found.Links {
		if !c.Concerns(link, source) {
			continue
		}
		some, reason := c.link(string(text[link.Span.Start:link.Span.End]), link, source)
		if reason != "" {
			left = append(left, Left{link.Line, link.Target, reason})
			continue
		}
		for _, e := range some {
			e.Start += link.Span.Start
			e.End += link.Span.Start
			edits = append(edits, e)
		}
		changed += min(len(some), 1)
	}
	for _, base := range found.Bases {
		some, lost := c.expressions(text[base.Start:base.End], source)
		for _, e := range some {
			e.Start += base.Start
			e.End += base.Start
			edits = append(edits, e)
		}
		changed += len(some)
		for _, l := range lost {
			l.Line += bytes.Count(text[:base.Start], []byte("\n"))
			left = append(left, l)
		}
	}
	if changed == 0 {
		return nil, 0, left
	}
	// The target of a link comes after the links in its text.
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.Start, b.Start) })
	then := markdown.Scan(apply(text, edits))
	sameTags := slices.EqualFunc(found.Tags, then.Tags, func(a, b markdown.Tag) bool { return a.Text == b.Text })
	if sameTags && slices.EqualFunc(found.Links, then.Links, func(a, b markdown.Link) bool {
		return a.Style == b.Style && a.Embed == b.Embed && c.keeps(a, b, source)
	}) {
		return edits, changed, left
	}
	left = nil
	for _, link := range found.Links {
		if c.Concerns(link, source) {
			left = append(left, Left{link.Line, link.Target, disturbed})
		}
	}
	return nil, 0, left
}

// canvas returns the edits to the file nodes of a canvas and to the links in its text nodes.
// They are inside strings of the JSON; the rest keeps its layout.
func canvas(c change, text []byte, source string) (edits []edit, changed int, left []Left) {
	line := func(at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }
	for _, n := range canvasNodes(text) {
		switch n.kind {
		case "file":
			some, reason := c.file(text, n, source)
			if reason != "" {
				left = append(left, Left{line(n.file.Start), unquote(text[n.file.Start:n.file.End]), reason})
			}
			slices.SortFunc(some, func(a, b edit) int { return cmp.Compare(a.Start, b.Start) })
			edits, changed = append(edits, some...), changed+min(len(some), 1)
		case "text":
			inner := []byte(unquote(text[n.text.Start:n.text.End]))
			some, more, lost := body(c, inner, markdown.Scan(inner), source)
			edits = append(edits, onto(text[n.text.Start:n.text.End], n.text.Start, some)...)
			changed += more
			for _, l := range lost {
				left = append(left, Left{line(n.text.Start), l.Target, l.Reason})
			}
		}
	}
	return edits, changed, left
}

// apply returns text with the edits made, which are in order of place.
func apply(text []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return text
	}
	size := len(text)
	for _, e := range edits {
		size += len(e.text) - (e.End - e.Start)
	}
	out, at := make([]byte, 0, size), 0
	for _, e := range edits {
		out = append(append(out, text[at:e.Start]...), e.text...)
		at = e.End
	}
	return append(out, text[at:]...)
}
