package relink

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/markdown"
)

// canvas changes the file nodes of a canvas and the links in its text nodes. It
// writes into the strings of the JSON alone; all else stays as it is laid out.
func (m *Move) canvas(text []byte, source string) (edited []byte, changed int, left []Left) {
	var edits []edit
	for _, node := range canvasNodes(text) {
		some, n, lost := m.node(text, node, source)
		edits = append(edits, some...)
		changed += n
		left = append(left, lost...)
	}
	return apply(text, edits), changed, left
}

// node returns the edits to one node.
func (m *Move) node(text []byte, n node, source string) (edits []edit, changed int, left []Left) {
	line := func(at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }
	switch n.kind {
	case "file":
		file := unquote(text[n.file.Start:n.file.End])
		if to, concerned := m.nodeFile(file, source); concerned {
			if !utf8.ValidString(to) {
				return nil, 0, []Left{{line(n.file.Start), file, unwritable}}
			}
			return []edit{{n.file, string(quote(to))}}, 1, nil
		}
	case "text":
		inner := []byte(unquote(text[n.text.Start:n.text.End]))
		edits, changed, left = m.body(inner, markdown.Scan(inner), source)
		if changed > 0 {
			edits = onto(text[n.text.Start:n.text.End], n.text.Start, edits)
		}
		for i := range left {
			left[i].Line = line(n.text.Start)
		}
	}
	return edits, changed, left
}

// nodeFile returns the file that a node has to name, if it names another. A node
// has a path of the vault, and the app knows it by its exact letters.
func (m *Move) nodeFile(file, source string) (to string, concerned bool) {
	if file == m.from {
		return m.to, m.from != m.to
	}
	return m.destination("/"+file, source)
}

// node is one node of a canvas: its type, and where its strings stand, quotes
// included.
type node struct {
	kind                string
	file, subpath, text markdown.Span
}

// canvasNodes returns the nodes of a canvas, none if it is no valid JSON.
func canvasNodes(text []byte) []node {
	if !json.Valid(text) {
		return nil
	}
	return nodes(text)
}

// nodes finds the nodes of a canvas, which is valid JSON.
func nodes(text []byte) []node {
	r := reader{text: text, json: json.NewDecoder(bytes.NewReader(text))}
	var all []node
	r.object(func(key string) bool {
		return key == "nodes" && r.array(func() {
			var n node
			r.object(func(key string) bool {
				span, ok := r.string()
				switch {
				case !ok:
				case key == "type":
					n.kind = unquote(text[span.Start:span.End])
				case key == "file":
					n.file = span
				case key == "subpath":
					n.subpath = span
				case key == "text":
					n.text = span
				}
				return true
			})
			if n.kind == "file" && n.file.End > 0 || n.kind == "text" && n.text.End > 0 {
				all = append(all, n)
			}
		})
	})
	return all
}

// reader walks over valid JSON.
type reader struct {
	text []byte
	json *json.Decoder
}

// next returns the token that follows, nil at the end.
func (r *reader) next() json.Token {
	token, _ := r.json.Token() // the text is valid: its end is the only error
	return token
}

// object reads a value; if it is an object, value is called behind every key.
// value reports false if it left the value alone.
func (r *reader) object(value func(key string) bool) {
	if r.next() != json.Delim('{') {
		return
	}
	for r.json.More() {
		key, _ := r.next().(string)
		if !value(key) {
			r.skip()
		}
	}
	r.next()
}

// array reads a value; if it is an array, element is called for each. Elements
// must be read.
func (r *reader) array(element func()) bool {
	if r.peek() != '[' {
		return false
	}
	r.next()
	for r.json.More() {
		if r.peek() != '{' {
			r.skip()
			continue
		}
		element()
	}
	r.next()
	return true
}

// string reads a value and says where it stands, if it is a string.
func (r *reader) string() (markdown.Span, bool) {
	start := r.start()
	r.skip()
	return markdown.Span{Start: start, End: int(r.json.InputOffset())}, r.text[start] == '"'
}

// skip passes a value.
func (r *reader) skip() {
	var value json.RawMessage
	_ = r.json.Decode(&value) // the text is valid
}

// start returns where the next value begins.
func (r *reader) start() int {
	at := int(r.json.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n:,", r.text[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) peek() byte {
	if at := r.start(); at < len(r.text) {
		return r.text[at]
	}
	return 0
}
