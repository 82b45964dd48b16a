package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// JSON edits JSON files, with comments and trailing commas if the client accepts them. Otherwise
// they are malformed: the client could not read the file either. The parser is not
// tailscale/hujson, which accepts duplicate names and text that is not UTF-8, rejects a byte order
// mark, has no limit of depth and does not tell where commas are.
type JSON struct{ Comments, TrailingCommas bool }

// Decode returns the text as a parser would, nil for an empty one; numbers are
// json.Number. The error is an [*Malformed] or an [*Unsupported].
func (o JSON) Decode(text []byte) (any, error) {
	root, err := parseJSON(text, o)
	if err != nil {
		return nil, err
	}
	return root.plain(text), nil
}

// Set returns the text with the entry at a place, added or replaced. Mappings that
// are missing on the way to it are made.
func (o JSON) Set(text []byte, at Place, entry Object) ([]byte, error) {
	root, err := parseJSON(text, o)
	if err != nil {
		return nil, err
	}
	s := jsonStyleOf(text, root)
	keys := append(append([]string{}, at.Path...), at.Name)
	var changed []byte
	if root == nil {
		changed = s.whole(text, nestedObject(keys, entry))
	} else {
		holder, inline := root, s.inline
		for len(keys) > 1 {
			if err := holder.mustBeObject(text, at); err != nil {
				return nil, err
			}
			i := holder.find(keys[0])
			if i < 0 {
				break
			}
			inline = s.inline || len(holder.members) > 1 && s.oneLine(holder)
			holder, keys = holder.members[i].value, keys[1:]
		}
		if len(holder.members) > 0 {
			inline = s.inline || s.oneLine(holder)
		}
		if err := holder.mustBeObject(text, at); err != nil {
			return nil, err
		}
		if i := holder.find(keys[0]); i >= 0 {
			old := holder.members[i]
			changed = Apply(text, Splice{Start: old.value.start, End: old.value.end,
				Text: s.render(entry, s.lineIndent(old.keyStart), !inline)})
		} else {
			changed = s.insert(holder, !inline, keys[0], nestedObject(keys[1:], entry))
		}
	}
	return changed, o.verify(text, changed, at)
}

// Remove returns the text without the entry at a place, the text itself if there is
// none. A mapping that becomes empty stays.
func (o JSON) Remove(text []byte, at Place) ([]byte, error) {
	root, err := parseJSON(text, o)
	if err != nil || root == nil {
		return text, err
	}
	holder, parent := root, (*jsonNode)(nil)
	for _, key := range at.Path {
		i := holder.find(key)
		if i < 0 {
			return text, nil
		}
		holder, parent = holder.members[i].value, holder
	}
	i := holder.find(at.Name)
	if i < 0 {
		return text, nil
	}
	changed := removeMember(text, parent, holder, i)
	return changed, o.verify(text, changed, at)
}

func (o JSON) verify(text, changed []byte, at Place) error {
	before, err := o.Decode(text)
	if err != nil {
		return err
	}
	after, err := o.Decode(changed)
	if err != nil {
		return &Unsupported{Reason: "the edited file would be malformed: " + err.Error()}
	}
	return Verify(before, after, at)
}

func (n *jsonNode) mustBeObject(text []byte, at Place) error {
	if n.kind == '{' {
		return nil
	}
	return MalformedAt(text, n.start, fmt.Sprintf("an object is needed here, for %s", at))
}

// nestedObject returns the value of the first of keys[1:] that is missing: the entry, or
// objects around it.
func nestedObject(keys []string, entry Object) Object {
	for i := len(keys) - 1; i >= 0; i-- {
		entry = Object{{Key: keys[i], Value: entry}}
	}
	return entry
}

// insert adds a member at the end of an object, after a comment on the line of the last one.
// With lines it gets a line of its own.
func (s jsonStyle) insert(holder *jsonNode, lines bool, key string, value any) []byte {
	closing := s.lineIndent(holder.start)
	indent := s.memberIndent(holder)
	body := s.quote(key) + s.colon + s.render(value, indent, lines)
	if lines {
		body = s.newline + indent + body
	}
	if len(holder.members) == 0 {
		at := sameLineComments(s.text, holder.start+1)
		rest := s.text[at : holder.end-1]
		end := at
		if len(bytes.TrimSpace(rest)) == 0 {
			end = holder.end - 1
			if lines {
				body += s.newline + closing
			}
		}
		return Apply(s.text, Splice{Start: at, End: end, Text: body})
	}
	last := holder.members[len(holder.members)-1]
	if last.comma >= 0 {
		at := sameLineComments(s.text, last.comma+1)
		return Apply(s.text, Splice{Start: at, End: at, Text: body + ","})
	}
	comma := Splice{Start: last.value.end, End: last.value.end, Text: ","}
	at := sameLineComments(s.text, last.value.end)
	if !lines {
		body = s.space + body
	}
	return Apply(s.text, comma, Splice{Start: at, End: at, Text: body})
}

// removeMember takes a member out, with the white space before it and one comma. An object
// that becomes empty is written as {}, unless that would put all of its parent on one
// line: then one more entry would be written in another way.
func removeMember(text []byte, parent, holder *jsonNode, i int) []byte {
	m := holder.members[i]
	cut := []Splice{{Start: m.gap, End: m.value.end}}
	switch {
	case m.comma >= 0:
		cut = append(cut, Splice{Start: m.comma, End: m.comma + 1})
	case i > 0:
		comma := holder.members[i-1].comma
		cut = append(cut, Splice{Start: comma, End: comma + 1})
	}
	if len(holder.members) == 1 {
		before, after := text[holder.start+1:m.gap], text[m.value.end:holder.end-1]
		rest := bytes.TrimSpace(append(bytes.Clone(before), after...))
		collapses := parent == nil || bytes.IndexByte(text[parent.start:holder.start], '\n') >= 0 || bytes.IndexByte(text[holder.end:parent.end], '\n') >= 0
		if (len(rest) == 0 || string(rest) == ",") && collapses {
			return Apply(text, Splice{Start: holder.start + 1, End: holder.end - 1})
		}
	}
	return Apply(text, cut...)
}

// sameLineComments returns the end of the comments that follow an offset on its line, the offset
// itself without any.
func sameLineComments(text []byte, at int) int {
	for next := at; next < len(text); {
		switch text[next] {
		case ' ', '\t':
			next++
			continue
		case '/':
		default:
			return at
		}
		end := commentEnd(text, next)
		if end <= 0 || bytes.IndexByte(text[next:end], '\n') >= 0 {
			return at
		}
		at, next = end, end
	}
	return at
}

// lineIndent returns the white space with which the line of an offset begins.
func (s jsonStyle) lineIndent(offset int) string {
	start := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	line := strings.TrimPrefix(string(s.text[start:offset]), BOM)
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// jsonStyle is how a text is written, so that an entry is written in the same way.
type jsonStyle struct {
	text    []byte
	newline string
	unit    string // one level of indentation
	inline  bool   // the whole text is one line
	colon   string // between a name and its value
	space   string // after a comma on the same line
}

func jsonStyleOf(text []byte, root *jsonNode) jsonStyle {
	s := jsonStyle{text: text, newline: Newline(text), unit: "  ", colon: ": ", space: " "}
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
func (s jsonStyle) startsLine(offset int) bool {
	start := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	return start > 0 && len(bytes.TrimLeft(s.text[start:offset], " \t")) == 0
}

// oneLine reports whether an object is all on one line, so that one more member is put
// there.
func (s jsonStyle) oneLine(n *jsonNode) bool {
	return bytes.IndexByte(s.text[n.start:n.end], '\n') < 0
}

// memberIndent returns the indentation for one more member of an object.
func (s jsonStyle) memberIndent(holder *jsonNode) string {
	for i := len(holder.members) - 1; i >= 0; i-- {
		if at := holder.members[i].keyStart; s.startsLine(at) {
			return s.lineIndent(at)
		}
	}
	return s.lineIndent(holder.start) + s.unit
}

// whole returns a text of white space and comments followed by an object.
func (s jsonStyle) whole(text []byte, value Object) []byte {
	out := bytes.Clone(text)
	comments := bytes.TrimRight(bytes.TrimPrefix(text, []byte(BOM)), " \t\r\n")
	if len(comments) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		out = append(out, s.newline...)
	}
	s.text = out
	return append(append(out, s.render(value, s.lineIndent(len(out)), true)...), s.newline...)
}

// render returns a value as JSON. With lines an object has one line for each member,
// indented by one unit more than indent.
func (s jsonStyle) render(value any, indent string, lines bool) string {
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
	case Object:
		return s.renderObject(v, indent, lines)
	}
	return "null"
}

func (s jsonStyle) renderObject(object Object, indent string, lines bool) string {
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
func (s jsonStyle) quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// RenderJSON returns an object as JSON with two spaces of indentation.
func RenderJSON(value Object) string {
	return jsonStyle{newline: "\n", unit: "  ", colon: ": ", space: " "}.render(value, "", true)
}

// RenderJSONLine returns an object as JSON without white space.
func RenderJSONLine(value Object) string {
	return jsonStyle{colon: ":"}.render(value, "", false)
}
