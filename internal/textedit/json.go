package textedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// JSON edits JSON files. Comments and TrailingCommas say whether the client accepts these; if it does
// not, a file that has some is malformed, because the client could not read it, either. The parser is
// not tailscale/hujson, which accepts duplicate names and text that is not UTF-8, rejects a byte order
// mark, has no depth limit and does not report where commas are.
//
// With Lines, an element that is added to a list of several lines has each member on its own line;
// otherwise it is formatted like the last element.
//
// A text with more than MaxValues values is refused; 0 is no limit.
type JSON struct {
	Comments, TrailingCommas, Lines bool
	MaxValues                       int
}

// Decode returns the parsed text, nil for an empty one. Numbers are json.Number. The error is a
// [*Malformed] or an [*Unsupported].
func (o JSON) Decode(text []byte) (any, error) {
	root, err := parseJSON(text, o, everything)
	if err != nil {
		return nil, err
	}
	return root.plain(text), nil
}

func (o JSON) set(text []byte, at Place, entry Object) ([]byte, error) { return o.put(text, at, entry) }

// put returns the text with value, an Object or a list of strings, at a place.
func (o JSON) put(text []byte, at Place, value any) ([]byte, error) {
	root, err := parseJSON(text, o, everything)
	if err != nil {
		return nil, err
	}
	s := jsonStyleOf(text, root)
	keys := append(slices.Clone(at.Path), at.Name)
	if root == nil {
		return s.appendRoot(nested(keys, value)), nil
	}
	holder := root
	inline := s.inline
	for len(keys) > 1 {
		if err := holder.mustBeObject(text, at); err != nil {
			return nil, err
		}
		i := holder.find(keys[0])
		if i < 0 {
			break
		}
		inline = s.inline || len(holder.members) > 1 && s.isOneLine(holder)
		holder = holder.members[i].value
		keys = keys[1:]
	}
	if len(holder.members) > 0 {
		inline = s.inline || s.isOneLine(holder)
	}
	if err := holder.mustBeObject(text, at); err != nil {
		return nil, err
	}
	i := holder.find(keys[0])
	if i < 0 {
		return s.insert(holder, !inline, keys[0], nested(keys[1:], value)), nil
	}
	old := holder.members[i]
	rendered := s.render(value, s.lineIndent(old.keyStart), !inline)
	return Apply(s.text, Splice{Start: old.value.start, End: old.value.end, Text: rendered}), nil
}

// appendRoot returns a text that has only white space and comments with a root value at its end.
func (s jsonStyle) appendRoot(root any) []byte {
	out := bytes.Clone(s.text)
	comments := bytes.TrimSpace(bytes.TrimPrefix(s.text, []byte(BOM)))
	if len(comments) > 0 && !bytes.HasSuffix(s.text, []byte("\n")) {
		out = append(out, s.newline...)
	}
	s.text = out
	rendered := s.render(root, s.lineIndent(len(out)), true)
	return append(out, rendered+s.newline...)
}

func (o JSON) remove(text []byte, at Place) ([]byte, error) {
	holder, err := parseJSON(text, o, everything)
	if err != nil {
		return nil, err
	}
	var parent *jsonNode
	for _, key := range at.Path {
		holder, parent = holder.members[holder.find(key)].value, holder
	}
	return removeMember(text, parent, holder, holder.find(at.Name)), nil
}

func (JSON) unsupported(Place, extent) error { return errElsewhere }

func (n *jsonNode) mustBeObject(text []byte, at Place) error {
	if n.kind == '{' {
		return nil
	}
	return MalformedAt(text, n.start, fmt.Sprintf("an object is needed here, for %s", at))
}

// nested wraps value in one object per key; the object of the first key is the outermost.
func nested(keys []string, value any) any {
	for _, key := range slices.Backward(keys) {
		value = Object{{Key: key, Value: value}}
	}
	return value
}

// insert adds a member at the end of an object, after a comment on the line of the last member.
// If lines is true, the member gets a line of its own.
func (s jsonStyle) insert(holder *jsonNode, lines bool, key string, value any) []byte {
	closing := s.lineIndent(holder.start)
	indent := closing + s.unit
	for _, m := range slices.Backward(holder.members) {
		if s.startsLine(m.keyStart) {
			indent = s.lineIndent(m.keyStart)
			break
		}
	}
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

// removeMember removes member i of holder with the white space before it and one comma. An
// object that becomes empty is written as {}, unless its whole parent would then be on one
// line: a later entry would be formatted differently.
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
		before := text[holder.start+1 : m.gap]
		after := text[m.value.end : holder.end-1]
		rest := bytes.TrimSpace(append(bytes.Clone(before), after...))
		isEmpty := len(rest) == 0 || string(rest) == ","
		if isEmpty && (parent == nil || hasOtherLines(text, parent, holder)) {
			return Apply(text, Splice{Start: holder.start + 1, End: holder.end - 1})
		}
	}
	return Apply(text, cut...)
}

// hasOtherLines reports whether a value has a line break before or after a value that it contains.
func hasOtherLines(text []byte, outer, inner *jsonNode) bool {
	before := text[outer.start:inner.start]
	after := text[inner.end:outer.end]
	return bytes.IndexByte(before, '\n') >= 0 || bytes.IndexByte(after, '\n') >= 0
}

// sameLineComments returns the end of the comments that follow the offset at on its line; at if there are none.
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
		at = end
		next = end
	}
	return at
}

// lineIndent returns the white space at the beginning of the line that contains offset.
func (s jsonStyle) lineIndent(offset int) string {
	start := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	line := strings.TrimPrefix(string(s.text[start:offset]), BOM)
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// jsonStyle is the formatting of a text, which new entries follow.
type jsonStyle struct {
	text    []byte
	newline string
	unit    string // one level of indentation
	inline  bool   // whether the whole text is on one line
	colon   string // the text between a name and its value
	space   string // the text after a comma on the same line
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
			s.colon = ":"
			s.space = ""
		}
		return s
	}
	if s.startsLine(first.keyStart) {
		outer := s.lineIndent(root.start)
		inner := s.lineIndent(first.keyStart)
		if unit, ok := strings.CutPrefix(inner, outer); ok && unit != "" {
			s.unit = unit
		}
	}
	return s
}

// startsLine reports whether only white space precedes offset on its line, which is not the first one.
func (s jsonStyle) startsLine(offset int) bool {
	start := bytes.LastIndexByte(s.text[:offset], '\n') + 1
	return start > 0 && len(bytes.TrimLeft(s.text[start:offset], " \t")) == 0
}

// isOneLine reports whether an object is on one line, so that a new member is added on that line.
func (s jsonStyle) isOneLine(n *jsonNode) bool {
	return bytes.IndexByte(s.text[n.start:n.end], '\n') < 0
}

// render returns a value as JSON. If lines is true, each member of an object is on its own line,
// indented by one unit more than indent.
func (s jsonStyle) render(value any, indent string, lines bool) string {
	switch v := value.(type) {
	case string:
		return s.quote(v)
	case bool, int:
		return fmt.Sprint(v)
	case []string:
		quoted := make([]string, len(v))
		for i, item := range v {
			quoted[i] = s.quote(item)
		}
		return "[" + strings.Join(quoted, ","+s.space) + "]"
	case Object:
		if len(v) == 0 {
			return "{}"
		}
		before := ""
		after := ""
		separator := "," + s.space
		if lines {
			before = s.newline + indent + s.unit
			after = s.newline + indent
			separator = "," + before
		}
		var members []string
		for _, m := range v {
			members = append(members, s.quote(m.Key)+s.colon+s.render(m.Value, indent+s.unit, lines))
		}
		return "{" + before + strings.Join(members, separator) + after + "}"
	}
	return "null"
}

// quote returns a string as JSON, without escapes for <, > and &.
func (jsonStyle) quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Render returns an entry within the objects of its path, indented by two blanks.
func (JSON) Render(at Place, entry Object) string {
	whole := nested(append(slices.Clone(at.Path), at.Name), entry)
	return jsonStyle{newline: "\n", unit: "  ", colon: ": ", space: " "}.render(whole, "", true) + "\n"
}

// RenderJSONLine returns an object as JSON without white space.
func RenderJSONLine(value Object) string { return jsonStyle{colon: ":"}.render(value, "", false) }

// AddTo returns the text with entry added to the end of a list; list is its key in the root object. A
// missing list is created. The entry is formatted like the other elements. The errors are those of
// [JSON.Decode], and a [*Malformed] if the value at the key is not a list.
func (o JSON) AddTo(text []byte, list string, entry Object) ([]byte, error) {
	root, at, err := o.list(text, list)
	if err != nil {
		return nil, err
	}
	s := jsonStyleOf(text, root)
	if at == nil {
		if s.colon, s.space = s.separators(root); len(root.members) == 0 && s.isOneLine(root) {
			s.colon = ":"
		}
		return o.AddTo(s.insert(root, !s.inline && !s.isOneLine(root), list, []string{}), list, entry)
	}
	lines := false
	indent := s.lineIndent(at.start) + s.unit
	s.colon = ":"
	s.space = "" // the format in which the app writes canvases
	for _, m := range slices.Backward(root.members) {
		items := m.value.items
		isModel := m.value == at || len(at.items) == 0
		if isModel && len(items) > 0 && len(items[0].whole(text, o).members) > 0 {
			sample := items[len(items)-1].whole(text, o)
			s.colon, s.space = s.separators(sample)
			lines = !s.isOneLine(sample)
		}
	}
	spread := !s.inline && !s.isOneLine(root)
	if len(at.items) > 0 {
		spread = s.startsLine(at.items[len(at.items)-1].start)
	}
	if o.Lines && spread {
		s.colon = ": "
		lines = true
	}
	var splice Splice
	switch n := len(at.items); n {
	case 0:
		before := ""
		after := ""
		if spread {
			before = s.newline + indent
			after = s.newline + s.lineIndent(at.start)
		}
		splice = Splice{Start: at.start + 1, End: at.end - 1, Text: before + s.render(entry, indent, lines) + after}
	default:
		last := at.items[n-1]
		gap := "," + string(text[at.start+1:at.items[0].start])
		if n > 1 {
			gap = string(text[at.items[n-2].end:last.start])
		}
		if spread {
			indent = s.lineIndent(last.start)
		}
		splice = Splice{Start: last.end, End: last.end, Text: gap + s.render(entry, indent, lines)}
	}
	return o.differs(text, Apply(text, splice), list, listChange{added: entry.Plain()})
}

// SetIn returns the text with changed members of the object at index, counted from 0, of a list. Members
// are replaced, added at the end of the object, or removed if their value is nil. The errors are those
// of [JSON.AddTo].
func (o JSON) SetIn(text []byte, list string, index int, members Object) ([]byte, error) {
	root, at, err := o.list(text, list)
	if err != nil {
		return nil, err
	}
	if at == nil || index >= len(at.items) {
		return nil, &Unsupported{fmt.Sprintf("%q has no element %d", list, index)}
	}
	item := at.items[index]
	if item.kind != '{' {
		return nil, MalformedAt(text, item.start, "an object is needed here")
	}
	changed := text
	for _, m := range members {
		item = item.whole(changed, o)
		s := jsonStyleOf(changed, root)
		s.colon, s.space = s.separators(item)
		before := len(changed)
		switch i := item.find(m.Key); {
		case i < 0 && m.Value == nil:
		case i < 0:
			changed = s.insert(item, !s.isOneLine(item), m.Key, m.Value)
		case m.Value == nil:
			changed = removeMember(changed, at, item, i)
		default:
			value := item.members[i].value
			changed = Apply(changed, Splice{Start: value.start, End: value.end, Text: s.render(m.Value, "", false)})
		}
		root.end += len(changed) - before // adjust the ends of the values that contain the element
		at.end += len(changed) - before
	}
	return o.differs(text, changed, list, listChange{at: index, change: func(item map[string]any) {
		for key, value := range members.Plain() {
			item[key] = value
			if value == nil {
				delete(item, key)
			}
		}
	}})
}

// RemoveFrom returns the text without the elements of a list for which gone returns true. The errors
// are those of [JSON.AddTo].
func (o JSON) RemoveFrom(text []byte, list string, isRemoved func(index int) bool) ([]byte, error) {
	_, at, err := o.list(text, list)
	if err != nil || at == nil {
		return text, err
	}
	var cuts []Splice
	n := len(at.items)
	for first := 0; first < n; first++ {
		if !isRemoved(first) {
			continue
		}
		last := first
		for last+1 < n && isRemoved(last+1) {
			last++
		}
		switch {
		case last+1 < n:
			cuts = append(cuts, Splice{Start: at.items[first].start, End: at.items[last+1].start})
		case first > 0:
			cuts = append(cuts, Splice{Start: at.items[first-1].end, End: at.items[last].end})
		default:
			cuts = append(cuts, Splice{Start: at.start + 1, End: at.end - 1})
		}
		first = last
	}
	return o.differs(text, Apply(text, cuts...), list, listChange{isRemoved: isRemoved})
}

// list returns the root object of a text and the list at a key of it, nil if the key is missing.
func (o JSON) list(text []byte, key string) (root, list *jsonNode, err error) {
	if root, err = parseJSON(text, o, listsOnly); err != nil {
		return nil, nil, err
	}
	if root == nil || root.kind != '{' {
		return nil, nil, MalformedAt(text, 0, "an object is needed here")
	}
	i := root.find(key)
	if i < 0 {
		return root, nil, nil
	}
	if list = root.members[i].value; list.kind != '[' {
		return nil, nil, MalformedAt(text, list.start, fmt.Sprintf("a list is needed here, for %q", key))
	}
	return root, list, nil
}

// listChange describes the intended change of a list. All other elements must keep every byte.
type listChange struct {
	isRemoved func(index int) bool      // reports which elements are removed; nil for none
	at        int                       // index of the element that changes
	change    func(item map[string]any) // makes the change of that element; nil for none
	added     map[string]any            // the element that is added at the end; nil for none
}

// differs returns the changed text. The error is not nil if it differs from text in more than the list, or if the list
// has other changes than change.
func (o JSON) differs(text, changed []byte, list string, change listChange) ([]byte, error) {
	before, old, err := o.list(text, list)
	if err != nil {
		return nil, err
	}
	after, now, err := o.list(changed, list)
	if err != nil || old == nil || now == nil {
		return nil, errElsewhere
	}
	if len(before.members) != len(after.members) {
		return nil, errElsewhere
	}
	for i, m := range before.members {
		other := after.members[i]
		isUnchanged := bytes.Equal(text[m.value.start:m.value.end], changed[other.value.start:other.value.end])
		if m.key != other.key || m.value != old && !isUnchanged {
			return nil, errElsewhere
		}
	}
	left := now.items
	for i, item := range old.items {
		if change.isRemoved != nil && change.isRemoved(i) {
			continue
		}
		if len(left) == 0 {
			return nil, errElsewhere
		}
		next := left[0]
		left = left[1:]
		if change.change == nil || change.at != i {
			if !bytes.Equal(text[item.start:item.end], changed[next.start:next.end]) {
				return nil, errElsewhere
			}
			continue
		}
		want, _ := item.whole(text, o).plain(text).(map[string]any)
		if want == nil {
			return nil, errElsewhere
		}
		change.change(want)
		if !Equal(want, next.whole(changed, o).plain(changed)) {
			return nil, errElsewhere
		}
	}
	isNew := len(left) == 0
	if change.added != nil {
		isNew = len(left) == 1 && Equal(change.added, left[0].whole(changed, o).plain(changed))
	}
	if !isNew {
		return nil, errElsewhere
	}
	return changed, nil
}

// separators returns the text between a name and its value, and the text after a comma on a line, as
// in the first members of an object. If it has none, they are those of s.
func (s jsonStyle) separators(n *jsonNode) (colon, space string) {
	if len(n.members) == 0 {
		return s.colon, s.space
	}
	first := n.members[0]
	colon = string(s.text[first.keyStart:first.value.start])
	colon = colon[strings.LastIndexByte(colon, '"')+1:]
	if bytes.IndexByte([]byte(colon), '\n') >= 0 {
		colon = ": "
	}
	space = strings.TrimPrefix(colon, ":")
	if first.comma >= 0 && len(n.members) > 1 {
		space = string(s.text[first.comma+1 : n.members[1].keyStart])
		if strings.Contains(space, "\n") {
			space = ""
		}
	}
	return colon, space
}
