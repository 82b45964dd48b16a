package relink

import (
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/markdown"
)

// parts are the places of the pieces of a link.
type parts struct {
	raw           string
	style         markdown.LinkStyle
	angle         bool // whether the target of an inline link is in angle brackets
	display, path markdown.Span
}

// split finds the pieces of ![[path#sub|display]] or ![display](path#sub "title").
func split(raw string, link markdown.Link) (p parts, ok bool) {
	if link.Style == markdown.Wikilink {
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
	// The target of an inline link begins after the first "](" that makes the same link
	// of the rest.
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

// findPath finds the path of an inline link whose target begins at or after start. It ends
// before the subpath.
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

// reads reports whether the link leads to file and subpath if written replaces the span at.
func (p parts) reads(at markdown.Span, written, file, subpath string) bool {
	text := strings.TrimPrefix(p.raw[:at.Start], "!") + written + p.raw[at.End:]
	if p.style == markdown.Inline {
		text = "[x" + p.raw[p.display.End:at.Start] + written + p.raw[at.End:]
	}
	link, ok := markdown.ParseLink(text)
	return ok && link.Path == file && link.Subpath == subpath && link.Style == p.style
}

// spellings returns the ways to write a path in a link of this kind, best first: as the app
// does, which encodes little, and with more percent-encoded.
func (p parts) spellings(path string) []string {
	switch {
	case p.style == markdown.Wikilink:
		return []string{path}
	case p.angle:
		return []string{path, encode(path, "<>\\%")}
	}
	return []string{encode(path, " \\"), encode(path, " \\%()<>`$[]*_!\"'{|}~")}
}

// encode percent-encodes marks and control characters.
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
