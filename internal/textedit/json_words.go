package textedit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// AddWord returns the text with word added at the end of the list of strings at a place; the text itself if the list
// contains it. Missing objects and a missing list are created. The error is a [*Malformed] or an [*Unsupported].
func (o JSON) AddWord(text []byte, at Place, word string) ([]byte, error) {
	if o.HasWord(text, at, word) {
		return text, nil
	}
	root, list, err := o.wordsAt(text, at)
	if err != nil {
		return nil, err
	}
	s := jsonStyleOf(text, root)
	var changed []byte
	switch {
	case list == nil:
		if changed, err = o.put(text, at, []string{word}); err != nil {
			return nil, err
		}
	case len(list.items) == 0:
		changed = Apply(text, Splice{Start: list.start + 1, End: list.start + 1, Text: s.quote(word)})
	default:
		last := list.items[len(list.items)-1]
		gap := "," + s.space
		if s.startsLine(last.start) {
			gap = "," + s.newline + s.lineIndent(last.start)
		}
		changed = Apply(text, Splice{Start: last.end, End: last.end, Text: gap + s.quote(word)})
	}
	return o.onlyWord(text, changed, at, word)
}

// RemoveWord returns the text without word in the list of strings at a place; the text itself if the list does not contain
// it. A list that becomes empty stays. The errors are those of [JSON.AddWord].
func (o JSON) RemoveWord(text []byte, at Place, word string) ([]byte, error) {
	changed := text
	for o.HasWord(changed, at, word) {
		_, list, err := o.wordsAt(changed, at)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list.items, func(item *jsonNode) bool { return item.plain(changed) == word })
		changed = Apply(changed, o.cutsOf(changed, list, i)...)
	}
	return o.onlyWord(text, changed, at, word)
}

// HasWord reports whether the list at a place contains the string word.
func (o JSON) HasWord(text []byte, at Place, word string) bool {
	value, err := o.Decode(text)
	if err != nil {
		return false
	}
	for _, key := range append(slices.Clone(at.Path), at.Name) {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	list, _ := value.([]any)
	return slices.Contains(list, any(word))
}

// wordsAt returns the root of a text, nil if the text is empty, and the list at a place, nil if it is missing.
func (o JSON) wordsAt(text []byte, at Place) (root, list *jsonNode, err error) {
	if root, err = parseJSON(text, o, everything); err != nil || root == nil {
		return nil, nil, err
	}
	node := root
	for _, key := range append(slices.Clone(at.Path), at.Name) {
		if err := node.mustBeObject(text, at); err != nil {
			return nil, nil, err
		}
		i := node.find(key)
		if i < 0 {
			return root, nil, nil
		}
		node = node.members[i].value
	}
	if node.kind != '[' {
		return nil, nil, MalformedAt(text, node.start, fmt.Sprintf("a list is needed here, for %s", at))
	}
	return root, node, nil
}

// cutsOf returns the splices that remove element i of a list with one comma and the white space between it and its
// neighbour. Comments stay.
func (o JSON) cutsOf(text []byte, list *jsonNode, i int) []Splice {
	item := list.items[i]
	if i > 0 {
		from := list.items[i-1].end
		comma := commaAt(text, from)
		between := string(text[from:item.start])
		if strings.TrimSpace(between) == "," {
			return []Splice{{Start: from, End: item.end}}
		}
		return []Splice{{Start: comma, End: comma + 1}, {Start: item.start, End: item.end}}
	}
	comma := commaAt(text, item.end)
	if comma < 0 {
		return []Splice{{Start: item.start, End: item.end}}
	}
	end := comma + 1
	if len(list.items) > 1 && len(bytes.TrimSpace(text[end:list.items[1].start])) == 0 {
		end = list.items[1].start
	}
	return []Splice{{Start: item.start, End: item.end}, {Start: comma, End: end}}
}

// commaAt skips white space and comments from the offset at, and returns the offset of the comma that follows, -1 if there
// is none.
func commaAt(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case ',':
			return at
		case '/':
			end := commentEnd(text, at)
			if end <= 0 {
				return -1
			}
			at = end
		default:
			return -1
		}
	}
	return -1
}

// onlyWord returns the changed text. The error is not nil if it differs from text in more than word in the list at a place.
func (o JSON) onlyWord(text, changed []byte, at Place, word string) ([]byte, error) {
	before, err := o.Decode(text)
	if err != nil {
		return nil, err
	}
	after, err := o.Decode(changed)
	if err != nil {
		return nil, errElsewhere
	}
	path := append(slices.Clone(at.Path), at.Name)
	if !Equal(withoutWord(before, path, word), withoutWord(after, path, word)) {
		return nil, errElsewhere
	}
	return changed, nil
}

// withoutWord returns a parsed value without word in the list at path. Empty lists and objects on the path are left out.
func withoutWord(value any, path []string, word string) any {
	if list, ok := value.([]any); ok && len(path) == 0 {
		var rest []any
		for _, item := range list {
			if item != word {
				rest = append(rest, item)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	}
	mapping, ok := value.(map[string]any)
	if !ok || len(path) == 0 {
		return value
	}
	rest := make(map[string]any, len(mapping))
	for key, item := range mapping {
		if key == path[0] {
			if item = withoutWord(item, path[1:], word); item == nil {
				continue
			}
		}
		rest[key] = item
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}
