package relink

import (
	"cmp"
	"slices"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/markdown"
)

// edit is a piece of a text and what stands in its place.
type edit struct {
	markdown.Span
	text string
}

// note changes the links in the body and in the properties of a note.
func (m *Move) note(text []byte, source string) (edited []byte, changed int, left []Left) {
	found := markdown.Scan(text)
	edits, changed, left := m.body(text, found, source)
	front := found.Frontmatter
	block, inProperties, lost := m.properties(text[front.Start:front.End], source)
	if inProperties > 0 {
		edits = append([]edit{{front, string(block)}}, edits...)
		changed += inProperties
	}
	return apply(text, edits), changed, append(lost, left...)
}

// properties changes the links in a block of properties.
func (m *Move) properties(block []byte, source string) (edited []byte, changed int, left []Left) {
	const fence = 1 // line above the block
	edited, changed, lost := frontmatter.RewriteLinks(block, func(text string, link markdown.Link) string {
		edits, reason := m.link(text, link, source)
		if reason != "" {
			left = append(left, Left{link.Line + fence, link.Target, reason})
		}
		if len(edits) == 0 {
			return ""
		}
		return string(apply([]byte(text), edits))
	})
	for _, link := range lost {
		left = append(left, Left{link.Line + fence, link.Target, unlocated})
	}
	return edited, changed, left
}

// body returns the edits to the links of a text, and how many links those are.
// There are none if one of them would disturb the others.
func (m *Move) body(text []byte, found markdown.Note, source string) (edits []edit, changed int, left []Left) {
	for _, link := range found.Links {
		if !m.Concerns(link, source) {
			continue
		}
		some, reason := m.link(string(text[link.Span.Start:link.Span.End]), link, source)
		if reason != "" {
			left = append(left, Left{link.Line, link.Target, reason})
			continue
		}
		for _, e := range some {
			e.Start += link.Span.Start
			e.End += link.Span.Start
			edits = append(edits, e)
		}
		changed++
	}
	// The target of a link stands behind those of the links in its text.
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.Start, b.Start) })
	if changed == 0 || m.isKept(text, found, edits, source) {
		return edits, changed, left
	}
	left = nil
	for _, link := range found.Links {
		if m.Concerns(link, source) {
			left = append(left, Left{link.Line, link.Target, disturbed})
		}
	}
	return nil, 0, left
}

// isKept reports whether the edited text has the same tags, and the same links,
// and all that led somewhere lead there.
func (m *Move) isKept(text []byte, old markdown.Note, edits []edit, source string) bool {
	found := markdown.Scan(apply(text, edits))
	sameTags := slices.EqualFunc(old.Tags, found.Tags, func(a, b markdown.Tag) bool { return a.Text == b.Text })
	return sameTags && slices.EqualFunc(old.Links, found.Links, func(a, b markdown.Link) bool {
		return a.Subpath == b.Subpath && a.Style == b.Style && a.Embed == b.Embed && m.isRight(a, b, source)
	})
}

// isRight reports whether a link is the old one, or leads where that has to.
func (m *Move) isRight(old, link markdown.Link, source string) bool {
	if old.Path == link.Path {
		return true
	}
	file, concerned := m.destination(old.Path, source)
	return concerned && m.leads(link.Path, m.path(source), file)
}

// apply returns text with all edits made, which are in its order.
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
