package jsonc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/clients/edit"
)

// style is how a text is written, so that an entry is written in the same way.
type style struct {
	text    []byte
	newline string
	unit    string // one level of indentation
	inline  bool   // the whole text is one line
	colon   string // between a name and its value
	space   string // behind a comma on the same line
}

func styleOf(text []byte, root *node) style {
	s := style{text: text, newline: edit.Newline(text), unit: "  ", colon: ": ", space: " "}
	if root == nil || root.kind != '{' || len(root.members) == 0 {
		return s
	}
	first := root.members[0]
	body := text[root.start:root.end]
	if bytes.IndexByte(body, '\n') < 0 {
		s.inline = true
		if !bytes.Contains(body, []byte(`": `)) {
			s.colon, s.space = ":", ""
		}
		return s
	}
	if s.startsLine(first.keyStart) {
		outer, inner := s.lineIndent(root.start), s.lineIndent(first.keyStart)
		if unit, ok := strings.CutPrefix(inner, outer); ok && unit != "" {
			s.unit = unit
		}
	}
	return s
}

// startsLine reports whether nothing but white space is before an offset on its line.
func (s style) startsLine(offset int) bool {
	start := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	return start > 0 && len(bytes.TrimLeft(s.text[start:offset], " \t")) == 0
}

// oneLine reports whether an object is all on one line, so that one more member is put
// there.
func (s style) oneLine(n *node) bool {
	return bytes.IndexByte(s.text[n.start:n.end], '\n') < 0
}

// memberIndent returns the indentation for one more member of an object.
func (s style) memberIndent(holder *node) string {
	for i := len(holder.members) - 1; i >= 0; i-- {
		if at := holder.members[i].keyStart; s.startsLine(at) {
			return s.lineIndent(at)
		}
	}
	return s.lineIndent(holder.start) + s.unit
}

// whole returns a text of white space and comments with an object behind it.
func (s style) whole(text []byte, value edit.Object) []byte {
	out := bytes.Clone(text)
	comments := bytes.TrimRight(bytes.TrimPrefix(text, []byte(edit.BOM)), " \t\r\n")
	if len(comments) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		out = append(out, s.newline...)
	}
	s.text = out
	return append(append(out, s.render(value, s.lineIndent(len(out)), true)...), s.newline...)
}

// render returns a value as JSON. With lines an object has one line for each member,
// indented by one unit more than indent.
func (s style) render(value any, indent string, lines bool) string {
	switch v := value.(type) {
	case string:
		return s.quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		quoted := make([]string, len(v))
		for i, item := range v {
			quoted[i] = s.quote(item)
		}
		return "[" + strings.Join(quoted, ","+s.space) + "]"
	case edit.Object:
		return s.renderObject(v, indent, lines)
	}
	return "null"
}

func (s style) renderObject(object edit.Object, indent string, lines bool) string {
	if len(object) == 0 {
		return "{}"
	}
	before, after, separator := "", "", ","+s.space
	if lines {
		before, after = s.newline+indent+s.unit, s.newline+indent
		separator = "," + before
	}
	var members []string
	for _, m := range object {
		members = append(members, s.quote(m.Key)+s.colon+s.render(m.Value, indent+s.unit, lines))
	}
	return "{" + before + strings.Join(members, separator) + after + "}"
}

// quote returns a string as JSON, with < > & as they are.
func (s style) quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Render returns an object as JSON with two spaces of indentation.
func Render(value edit.Object) string {
	return style{newline: "\n", unit: "  ", colon: ": ", space: " "}.render(value, "", true)
}

// RenderLine returns an object as JSON without white space.
func RenderLine(value edit.Object) string {
	return style{colon: ":"}.render(value, "", false)
}
