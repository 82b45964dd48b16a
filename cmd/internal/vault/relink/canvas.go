package relink

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/markdown"
)

// node is a node of a canvas: its type, and the places of its strings with their quotes.
type node struct {
	kind                string
	file, subpath, text markdown.Span
}

// canvasNodes returns the nodes of a canvas that have a file or a text, none if it is not
// valid JSON.
func canvasNodes(text []byte) []node {
	if !json.Valid(text) {
		return nil
	}
	r := reader{text: text, json: json.NewDecoder(bytes.NewReader(text))}
	var all []node
	r.object(func(key string) bool {
		return key == "nodes" && r.array(func() {
			var n node
			r.object(func(key string) bool {
				// It is used only if it is a string.
				start := r.start()
				r.skip()
				span, ok := markdown.Span{Start: start, End: int(r.json.InputOffset())}, r.text[start] == '"'
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

// next returns the next token, nil at the end.
func (r *reader) next() json.Token {
	token, _ := r.json.Token() // the text is valid: its end is the only error
	return token
}

// object reads a value; if it is an object, value is called after every key and returns
// false if it did not read the value.
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

// array reads an array and calls element for each object in it, which element has to read.
// It returns false, without reading, if the value is not an array.
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

// skip reads a value.
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

// unquote decodes a JSON string.
func unquote(quoted []byte) string {
	var text string
	_ = json.Unmarshal(quoted, &text) // it is part of valid JSON
	return text
}

// quote encodes a JSON string with as few escapes as possible.
func quote(text string) []byte {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return bytes.TrimSuffix([]byte(out.String()), []byte("\n"))
}

// onto turns edits to the decoded text of a JSON string into edits to the encoded one, which
// begins at the offset at.
func onto(quoted []byte, at int, edits []edit) []edit {
	out := make([]edit, len(edits))
	from, said := 1, 0 // offsets in quoted and in the decoded text
	advance := func(to int) int {
		for said < to {
			if quoted[from] < utf8.RuneSelf && quoted[from] != '\\' {
				said++
				from++
				continue
			}
			size := unitSize(quoted[from:])
			said += len(unquote(append(append([]byte{'"'}, quoted[from:from+size]...), '"')))
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

// unitSize returns the length of the first character in an encoded string: an escape, a pair
// of surrogate escapes, or the bytes of a character.
func unitSize(quoted []byte) int {
	switch {
	case quoted[0] != '\\':
		size := 1
		for quoted[size] >= 0x80 && quoted[size] < 0xc0 {
			size++
		}
		return size
	case quoted[1] != 'u':
		return len(`\n`)
	}
	const escape = len(`\ud83d`)
	low := bytes.HasPrefix(quoted[escape:], []byte(`\u`))
	if low && strings.EqualFold(string(quoted[2]), "d") && len(unquote([]byte(`"`+string(quoted[:2*escape])+`"`))) == 4 {
		return 2 * escape
	}
	return escape
}
