package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// AddTo returns the text with one more object at the end of the list that is under a key of the
// root object. A missing list is made. The object is written as the other elements are; the
// errors are those of [JSON.Decode], and a [*Malformed] if there is something else than a list.
func (o JSON) AddTo(text []byte, list string, entry Object) ([]byte, error) {
	root, at, err := o.list(text, list)
	if err != nil {
		return nil, err
	}
	s := jsonStyleOf(text, root)
	if at == nil {
		s.colon, s.space = s.separators(root)
		return o.AddTo(s.insert(root, !s.inline && !s.oneLine(root), list, []string{}), list, entry)
	}
	lines, indent := false, s.lineIndent(at.start)+s.unit
	s.colon, s.space = ":", "" // as the app writes canvases
	for _, m := range slices.Backward(root.members) {
		if items := m.value.items; len(items) > 0 && len(items[0].members) > 0 && (m.value == at || len(at.items) == 0) {
			sample := items[len(items)-1]
			s.colon, s.space = s.separators(sample)
			lines = !s.oneLine(sample)
		}
	}
	var splice Splice
	switch n := len(at.items); n {
	case 0:
		before, after := "", ""
		if !s.inline && !s.oneLine(root) {
			before, after = s.newline+indent, s.newline+s.lineIndent(at.start)
		}
		splice = Splice{Start: at.start + 1, End: at.end - 1, Text: before + s.render(entry, indent, lines) + after}
	default:
		last := at.items[n-1]
		gap := "," + string(text[at.start+1:at.items[0].start])
		if n > 1 {
			gap = string(text[at.items[n-2].end:last.start])
		}
		if s.startsLine(last.start) {
			indent = s.lineIndent(last.start)
		}
		splice = Splice{Start: last.end, End: last.end, Text: gap + s.render(entry, indent, lines)}
	}
	return o.differs(text, Apply(text, splice), list, func(items []any) []any { return append(items, entry.Plain()) })
}

// SetIn returns the text with other members of the object at an index of a list: replaced,
// added at its end, or removed where the value is nil. The errors are those of [JSON.AddTo].
func (o JSON) SetIn(text []byte, list string, index int, members Object) ([]byte, error) {
	changed := text
	for _, m := range members {
		root, at, err := o.list(changed, list)
		if err != nil {
			return nil, err
		}
		if at == nil || index >= len(at.items) {
			return nil, &Unsupported{fmt.Sprintf("%q has no element %d", list, index)}
		}
		item := at.items[index]
		if item.kind != '{' {
			return nil, MalformedAt(changed, item.start, "an object is needed here")
		}
		s := jsonStyleOf(changed, root)
		s.colon, s.space = s.separators(item)
		switch i := item.find(m.Key); {
		case i < 0 && m.Value == nil:
		case i < 0:
			changed = s.insert(item, !s.oneLine(item), m.Key, m.Value)
		case m.Value == nil:
			changed = removeMember(changed, at, item, i)
		default:
			value := item.members[i].value
			changed = Apply(changed, Splice{Start: value.start, End: value.end, Text: s.render(m.Value, "", false)})
		}
	}
	return o.differs(text, changed, list, func(items []any) []any {
		item, _ := items[index].(map[string]any)
		for key, value := range members.Plain() {
			if item[key] = value; value == nil {
				delete(item, key)
			}
		}
		return items
	})
}

// RemoveFrom returns the text without the elements of a list for which gone is true. The errors
// are those of [JSON.AddTo].
func (o JSON) RemoveFrom(text []byte, list string, gone func(index int) bool) ([]byte, error) {
	_, at, err := o.list(text, list)
	if err != nil || at == nil {
		return text, err
	}
	var cuts []Splice
	n := len(at.items)
	for first := 0; first < n; first++ {
		if !gone(first) {
			continue
		}
		last := first
		for last+1 < n && gone(last+1) {
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
	return o.differs(text, Apply(text, cuts...), list, func(items []any) []any {
		i := -1
		return slices.DeleteFunc(items, func(any) bool { i++; return gone(i) })
	})
}

// list returns the root object of a text and the list under a key, nil if the key is missing.
func (o JSON) list(text []byte, key string) (root, list *jsonNode, err error) {
	if root, err = parseJSON(text, o); err != nil {
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

// differs returns the changed text if it differs from text in one list alone, as change has it.
func (o JSON) differs(text, changed []byte, list string, change func(items []any) []any) ([]byte, error) {
	before, err := o.Decode(text)
	if err != nil {
		return nil, err
	}
	after, err := o.Decode(changed)
	root, _ := before.(map[string]any)
	if items, _ := root[list].([]any); err == nil && root != nil {
		if root[list] = change(items); Equal(root, after) {
			return changed, nil
		}
	}
	return nil, &Unsupported{"the file cannot be edited without changing something else in it"}
}

// separators returns what an object has between a name and its value, and after a comma on a
// line, as far as its first members tell.
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
		if space = string(s.text[first.comma+1 : n.members[1].keyStart]); strings.Contains(space, "\n") {
			space = ""
		}
	}
	return colon, space
}
