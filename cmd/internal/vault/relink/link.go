package relink

import (
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/markdown"
)

// The reasons for which a link is left as it is.
const (
	unwritable = "no link can hold the new path"
	unlocated  = "the link cannot be taken apart"
	disturbed  = "with the new path other links would be read differently"
)

// link returns the edits to a link in a note at source, which reads raw: none
// if it needs no other target. reason says why it cannot have it.
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
			if parts.reads(written, target, old.Subpath) {
				return m.edits(parts, old, file, written), ""
			}
		}
	}
	return nil, unwritable
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

// parts says where in a link its pieces stand.
type parts struct {
	raw           string
	style         markdown.LinkStyle
	angle         bool // whether the target of an inline link is in angle brackets
	display, path markdown.Span
}

// split takes a link apart.
func split(raw string, link markdown.Link) (parts, bool) {
	if link.Style == markdown.Wikilink {
		return splitWikilink(raw, link)
	}
	return splitInline(raw, link)
}

// splitWikilink finds the pieces of ![[path#sub|display]].
func splitWikilink(raw string, link markdown.Link) (parts, bool) {
	start := strings.Index(raw, "[[") + len("[[")
	inner := raw[start : len(raw)-len("]]")]
	start += len(inner) - len(strings.TrimLeftFunc(inner, unicode.IsSpace))
	p := parts{raw: raw, path: markdown.Span{Start: start, End: start + len(link.Path)}}
	rest, ok := strings.CutPrefix(raw[start:], link.Path)
	if !ok {
		return p, false
	}
	bar := strings.IndexByte(rest, '|')
	if at := strings.Index(rest[bar+1:], link.Display); bar >= 0 && at >= 0 {
		at += p.path.End + bar + 1
		p.display = markdown.Span{Start: at, End: at + len(link.Display)}
	}
	return p, true
}

// splitInline finds the pieces of ![display](path#sub "title"). The target
// begins behind the first "](" that makes a link of what follows.
func splitInline(raw string, link markdown.Link) (parts, bool) {
	open := strings.IndexByte(raw, '[') + 1
	for from := open; ; {
		n := strings.Index(raw[from:], "](")
		if n < 0 {
			return parts{}, false
		}
		closing := from + n
		from = closing + 1
		same, ok := markdown.ParseLink("[x" + raw[closing:])
		if ok && same.Target == link.Target {
			p := parts{raw: raw, style: markdown.Inline, display: markdown.Span{Start: open, End: closing}}
			p.findPath(closing + len("]("))
			return p, true
		}
	}
}

// findPath finds the path of an inline link whose target begins at or behind
// start. It ends where the link to a part of the file begins.
func (p *parts) findPath(start int) {
	start += len(p.raw[start:]) - len(strings.TrimLeft(p.raw[start:], " \t"))
	p.angle = p.raw[start] == '<'
	if p.angle {
		start++
	}
	end := start
	for ; end < len(p.raw)-1; end++ {
		b, next := p.raw[end], p.raw[end+1]
		if b == '#' || b == '\\' && next == '#' || p.angle && b == '>' || !p.angle && b <= ' ' {
			break
		}
		if b == '\\' {
			end++
		}
	}
	p.path = markdown.Span{Start: start, End: min(end, len(p.raw)-1)}
}

// reads reports whether the link would lead to target and the same part of it,
// if its path were written so.
func (p parts) reads(written, target, subpath string) bool {
	text := strings.TrimPrefix(p.raw[:p.path.Start], "!") + written + p.raw[p.path.End:]
	if p.style == markdown.Inline {
		text = "[x" + p.raw[p.display.End:p.path.Start] + written + p.raw[p.path.End:]
	}
	link, ok := markdown.ParseLink(text)
	return ok && link.Path == target && link.Subpath == subpath && link.Style == p.style
}

// spellings are the ways to write a path in a link of this kind, best first:
// as the app does, which encodes hardly anything, and with more encoded.
func (p parts) spellings(path string) []string {
	switch {
	case p.style == markdown.Wikilink:
		return []string{path}
	case p.angle:
		return []string{path, encode(path, "<>\\%")}
	}
	return []string{encode(path, " \\"), encode(path, " \\%()<>`$[]*_!\"'{|}~")}
}

// encode writes some characters, and control characters always, as percent
// escapes.
func encode(path, marks string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for n := range len(path) {
		b := path[n]
		if b >= ' ' && b != 0x7f && strings.IndexByte(marks, b) < 0 {
			out.WriteByte(b)
			continue
		}
		out.WriteString("%" + string(digits[b>>4]) + string(digits[b&0xf]))
	}
	return out.String()
}
