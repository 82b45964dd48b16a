package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// StaleLink is a link that leads elsewhere after a move, because it could not be rewritten.
type StaleLink struct {
	Line   int // counted from 1
	Target string
	Reason string
}

// The reasons for a [StaleLink].
const (
	unwritable        = "no link can hold the new path"
	unwritableHeading = "no link can hold the new heading"
	unlocated         = "the link cannot be taken apart"
	disturbed         = "with the new path other links would be read differently"
)

// replacement is the new text for a span of a text.
type replacement struct {
	markdown.Span
	text string
}

// Rewrite returns the text of a file with its links rewritten, the number of these links, and the
// links that could not be rewritten. source is the path of the file before the move. Only notes,
// canvases and bases have links. text is never modified; it is returned if nothing changes.
func (m *Move) Rewrite(text []byte, source string) (edited []byte, changed int, left []StaleLink) {
	return m.RewriteParts(text, source, func(int) *Move { return m })
}

// RewriteParts is [Move.Rewrite] for a note whose parts go to several places. of returns the move for the part at an
// offset of the text; m is the move for the properties.
func (m *Move) RewriteParts(
	text []byte,
	source string,
	of func(at int) *Move,
) (edited []byte, changed int, left []StaleLink) {
	var edits []replacement
	switch strings.ToLower(path.Ext(source)) {
	case ".md":
		const fence = 1 // the properties begin on the second line
		found := markdown.Scan(text)
		front := found.Frontmatter
		block, inProperties, lost := frontmatter.RewriteLinks(
			text[front.Start:front.End],
			func(raw string, link markdown.Link) string {
				edits, reason := m.link(raw, link, source)
				if reason != "" {
					left = append(left, StaleLink{link.Line + fence, link.Target, reason})
				}
				if len(edits) == 0 {
					return ""
				}
				return string(apply([]byte(raw), edits))
			},
		)
		for _, link := range lost {
			left = append(left, StaleLink{link.Line + fence, link.Target, unlocated})
		}
		if inProperties > 0 {
			edits = append(edits, replacement{front, string(block)})
		}
		inBody, rewrites, lostInBody := bodyEdits(text, found, source, of)
		edits = append(edits, inBody...)
		changed = inProperties + rewrites
		left = append(left, lostInBody...)
	case ".canvas":
		// Only strings of the JSON change; its layout stays.
		line := newLineFinder(text).of
		for _, n := range canvasNodes(text) {
			switch n.kind {
			case "file", "group":
				some, reason := m.file(text, n, source)
				if reason != "" {
					left = append(left, StaleLink{line(n.file.Start), unquote(text[n.file.Start:n.file.End]), reason})
				}
				slices.SortFunc(some, func(a, b replacement) int { return cmp.Compare(a.Start, b.Start) })
				edits = append(edits, some...)
				changed = changed + min(len(some), 1)
			case "text":
				inner := []byte(unquote(text[n.text.Start:n.text.End]))
				some, rewrites, lost := bodyEdits(inner, markdown.Scan(inner), source, of)
				edits = append(edits, encodeEdits(text[n.text.Start:n.text.End], n.text.Start, some)...)
				changed += rewrites
				for _, l := range lost {
					left = append(left, StaleLink{line(n.text.Start), l.Target, l.Reason})
				}
			}
		}
	case ".base":
		edits, left = m.expressions(text, source)
		changed = len(edits)
	}
	return apply(text, edits), changed, left
}

// bodyEdits returns the edits to the links of a Markdown text. There are no edits if the edited text
// would have other tags, or other links than the rewritten ones.
func bodyEdits(
	text []byte,
	found markdown.Note,
	source string,
	of func(at int) *Move,
) (edits []replacement, changed int, left []StaleLink) {
	add := func(some []replacement, start int) {
		for _, e := range some {
			edits = append(edits, replacement{markdown.Span{Start: start + e.Start, End: start + e.End}, e.text})
		}
	}
	for _, link := range found.Links {
		m := of(link.Span.Start)
		if !m.Concerns(link, source) {
			continue
		}
		some, reason := m.link(string(text[link.Span.Start:link.Span.End]), link, source)
		if reason != "" {
			left = append(left, StaleLink{link.Line, link.Target, reason})
			continue
		}
		add(some, link.Span.Start)
		changed += min(len(some), 1)
	}
	lineFinder := newLineFinder(text)
	for _, base := range found.Bases {
		some, lost := of(base.Start).expressions(text[base.Start:base.End], source)
		add(some, base.Start)
		changed += len(some)
		for _, l := range lost {
			l.Line += lineFinder.of(base.Start) - 1
			left = append(left, l)
		}
	}
	if changed == 0 {
		return nil, 0, left
	}
	// A link may contain embeds in its text, which precede its target.
	slices.SortFunc(edits, func(a, b replacement) int { return cmp.Compare(a.Start, b.Start) })
	rescanned := markdown.Scan(apply(text, edits))
	haveSameTags := slices.EqualFunc(found.Tags, rescanned.Tags, func(a, b markdown.Tag) bool { return a.Text == b.Text })
	haveRightLinks := slices.EqualFunc(found.Links, rescanned.Links, func(a, b markdown.Link) bool {
		return a.Style == b.Style && a.Embed == b.Embed && of(a.Span.Start).keeps(a, b, source)
	})
	if haveSameTags && haveRightLinks {
		return edits, changed, left
	}
	left = nil
	for _, link := range found.Links {
		if of(link.Span.Start).Concerns(link, source) {
			left = append(left, StaleLink{link.Line, link.Target, disturbed})
		}
	}
	return nil, 0, left
}

// apply returns text with the edits applied, which must be in the order of text.
func apply(text []byte, edits []replacement) []byte {
	if len(edits) == 0 {
		return text
	}
	size := len(text)
	for _, e := range edits {
		size += len(e.text) - (e.End - e.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.Start]...), e.text...)
		at = e.End
	}
	return append(out, text[at:]...)
}

// lineFinder finds the line numbers of offsets. For increasing offsets it reads the text once.
type lineFinder struct {
	text     []byte
	at, line int // the last offset and its line
}

func newLineFinder(text []byte) *lineFinder { return &lineFinder{text: text, line: 1} }

// of returns the line of an offset, counted from 1.
func (l *lineFinder) of(offset int) int {
	if offset < l.at {
		l.at = 0
		l.line = 1
	}
	l.line += bytes.Count(l.text[l.at:offset], []byte("\n"))
	l.at = offset
	return l.line
}

// parts has the spans of the parts of a link.
type parts struct {
	raw           string
	style         markdown.LinkStyle
	angle         bool // whether the target is in angle brackets
	display, path markdown.Span
}

// split finds the parts of ![[path#sub|display]] or ![display](path#sub "title"). ok is false if they cannot be found.
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
	// The target of an inline link begins after the first "](" with which the rest parses as the
	// same link.
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
			// The path of an inline link ends before the subpath.
			start := closing + len("](")
			start += len(p.raw[start:]) - len(strings.TrimLeft(p.raw[start:], " \t"))
			p.angle = p.raw[start] == '<'
			if p.angle {
				start++
			}
			end := start
			for ; end < len(p.raw)-1; end++ {
				b := p.raw[end]
				beginsSubpath := b == '#' || strings.HasPrefix(p.raw[end:], `\#`)
				isEnd := b <= ' '
				if p.angle {
					isEnd = b == '>'
				}
				if beginsSubpath || isEnd {
					break
				}
				if b == '\\' {
					end++
				}
			}
			p.path = markdown.Span{Start: start, End: min(end, len(p.raw)-1)}
			return p, true
		}
	}
}

// parsesAs reports whether the link has the path file and this subpath if written replaces the span at.
func (p parts) parsesAs(at markdown.Span, written, file, subpath string) bool {
	text := strings.TrimPrefix(p.raw[:at.Start], "!") + written + p.raw[at.End:]
	if p.style == markdown.Inline {
		text = "[x" + p.raw[p.display.End:at.Start] + written + p.raw[at.End:]
	}
	link, ok := markdown.ParseLink(text)
	leadsThere := ok && link.Path == file && link.Subpath == subpath
	return leadsThere && link.Style == p.style
}

// spellings returns the ways to write a path in a link of this kind, the best one first: with few
// characters percent-encoded, as the app writes it, and with more.
func (p parts) spellings(path string) []string {
	switch {
	case p.style == markdown.Wikilink:
		return []string{path}
	case p.angle:
		return []string{path, encode(path, "<>\\%")}
	}
	return []string{encode(path, " \\"), encode(path, " \\%()<>`$[]*_!\"'{|}~")}
}

// encode percent-encodes control characters and the characters in marks.
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

// node is a node of a canvas: its type, and the spans of its strings, including quotes.
type node struct {
	kind                string
	file, subpath, text markdown.Span
}

// canvasNodes returns the nodes of a canvas that have a file or a text. There are none if it is
// not valid JSON.
func canvasNodes(text []byte) (all []node) {
	if !json.Valid(text) {
		return nil
	}
	eachMember(text, 0, func(key string, list []byte, at int) {
		if key != "nodes" || list[0] != '[' {
			return
		}
		eachMember(list, at, func(_ string, object []byte, at int) {
			if object[0] != '{' {
				return
			}
			var n node
			eachMember(object, at, func(key string, value []byte, at int) {
				span := markdown.Span{Start: at, End: at + len(value)}
				switch {
				case value[0] != '"':
				case key == "type":
					n.kind = unquote(value)
				case key == "file", key == "background": // the image of a group
					n.file = span
				case key == "subpath":
					n.subpath = span
				case key == "text":
					n.text = span
				}
			})
			has := n.file
			if n.kind == "text" {
				has = n.text
			}
			if has.End > 0 {
				all = append(all, n)
			}
		})
	})
	return all
}

// eachMember calls member for each member of an object, or each element of an array, in valid JSON. at is the
// offset of text in the whole file; member is called with the offset of the value in the whole file.
func eachMember(text []byte, at int, member func(key string, value []byte, at int)) {
	// The text is valid, so its end is the only possible error.
	d := json.NewDecoder(bytes.NewReader(text))
	open, _ := d.Token()
	if _, isList := open.(json.Delim); !isList {
		return
	}
	for d.More() {
		key := ""
		if open == json.Delim('{') {
			name, _ := d.Token()
			key, _ = name.(string)
		}
		var value json.RawMessage
		_ = d.Decode(&value)
		member(key, value, at+int(d.InputOffset())-len(value))
	}
}

// unquote decodes a JSON string.
func unquote(quoted []byte) string {
	var text string
	_ = json.Unmarshal(quoted, &text) // cannot fail: quoted is part of valid JSON
	return text
}

// quote encodes a JSON string with as few escapes as possible.
func quote(text string) []byte {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // cannot fail for a string
	return bytes.TrimSuffix([]byte(out.String()), []byte("\n"))
}

// escape is the length of an escape with four hexadecimal digits in a JSON string.
const escape = len(`\ud83d`)

// isSurrogatePair reports whether a JSON string continues with an escaped surrogate pair, which stands for one character
// of four bytes. text begins with an escape of four digits.
func isSurrogatePair(text []byte) bool {
	isHigh := strings.EqualFold(string(text[2]), "d")
	if !isHigh || !bytes.HasPrefix(text[escape:], []byte(`\u`)) {
		return false
	}
	return len(unquote([]byte(`"`+string(text[:2*escape])+`"`))) == 4
}

// encodeEdits converts edits to the decoded text of a JSON string to edits to the JSON string quoted, which
// begins at the offset at.
func encodeEdits(quoted []byte, at int, edits []replacement) []replacement {
	out := make([]replacement, len(edits))
	from := 1
	decoded := 0 // from and said are offsets in quoted and in the decoded text
	advance := func(to int) int {
		for decoded < to {
			if quoted[from] < utf8.RuneSelf && quoted[from] != '\\' {
				decoded++
				from++
				continue
			}
			// The next character is an escape, a pair of surrogate escapes, or its UTF-8 bytes.
			rest := quoted[from:]
			size := 1
			switch {
			case rest[0] != '\\':
				for rest[size] >= 0x80 && rest[size] < 0xc0 {
					size++
				}
			case rest[1] != 'u':
				size = len(`\n`)
			case isSurrogatePair(rest):
				size = 2 * escape
			default:
				size = escape
			}
			decoded += len(unquote(append(append([]byte{'"'}, quoted[from:from+size]...), '"')))
			from += size
		}
		return from
	}
	for i, e := range edits {
		written := quote(e.text)
		out[i].Start = at + advance(e.Start)
		out[i].End = at + advance(e.End)
		out[i].text = string(written[1 : len(written)-1])
	}
	return out
}
