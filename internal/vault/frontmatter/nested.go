package frontmatter

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// SetIn returns a YAML file with another value of a key in the mapping at path. The elements of path
// are keys, and indexes from 0 in lists; an empty path is the root. A nil value removes the key. Only
// the lines of that key change; a mapping that is missing at the end of path is added.
//
// As with [Set], the result is checked: nothing but this value may change. The error is a
// *[Malformed], or a *[Refusal] without a line.
func SetIn(text []byte, path []string, key string, value *Value) ([]byte, error) {
	return changed(
		text,
		func(block []byte) ([]byte, error) { return setIn(block, path, key, value) },
		func(root Value) Value { return root.with(path, key, value) },
	)
}

// AddTo returns a YAML file with item added to the end of a list; list is its key in the root. A
// missing list is added. The errors are those of [SetIn].
func AddTo(text []byte, list string, item Value) ([]byte, error) {
	want := func(root Value) Value {
		old, _ := root.Fields().Lookup(list)
		all := Value{kind: List, more: append(slices.Clone(old.Value.List()), item)}
		return root.with(nil, list, &all)
	}
	return changed(text, func(block []byte) ([]byte, error) {
		items, column, at, err := elements(block, list)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			created := Value{kind: List, more: []Value{item}}
			return setIn(block, nil, list, &created)
		}
		var w yamlWriter
		w.out.WriteString(strings.Repeat(" ", column))
		w.block(Value{kind: List, more: []Value{item}}, strings.Repeat(" ", column))
		end := bareEnd(block, markdown.Span{Start: items[len(items)-1].Start, End: at.End})
		return splice(
			block,
			markdown.Span{Start: end, End: end},
			withBreaks(w.out.String(), breakBefore(block, end)),
		), nil
	}, want)
}

// RemoveFrom returns a YAML file without the element at index, counted from 0, of a list; list is its
// key in the root. Comments and blank lines after the element stay. The errors are those of [SetIn].
func RemoveFrom(text []byte, list string, index int) ([]byte, error) {
	want := func(root Value) Value {
		old, _ := root.Fields().Lookup(list)
		left := Value{kind: List, more: slices.Delete(slices.Clone(old.Value.List()), index, index+1)}
		return root.with(nil, list, &left)
	}
	return changed(text, func(block []byte) ([]byte, error) {
		items, _, _, err := elements(block, list)
		switch {
		case err != nil:
			return nil, err
		case index >= len(items):
			return nil, &Refusal{Reason: "the list " + strconv.Quote(list) + " has no element " + strconv.Itoa(index)}
		case len(items) == 1:
			return setIn(block, nil, list, &Value{kind: List, more: []Value{}})
		}
		return splice(block, markdown.Span{Start: items[index].Start, End: bareEnd(block, items[index])}, ""), nil
	}, want)
}

// changed returns the edited file if its value is the result of want. change is called with the file
// without a byte order mark, and with a line break at its end; both are restored afterwards.
func changed(text []byte, change func(block []byte) ([]byte, error), want func(root Value) Value) ([]byte, error) {
	const mark = "\ufeff"
	block, hasMark := bytes.CutPrefix(text, []byte(mark))
	end := ""
	if len(block) > 0 && !bytes.HasSuffix(block, []byte("\n")) {
		end = breakBefore(block, 1+bytes.IndexByte(block, '\n'))
		block = append(bytes.Clone(block), end...)
	}
	before, err := ParseDocument(block)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(block) {
		if bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("...")) {
			return nil, &Refusal{Reason: "the file has marks of YAML documents"}
		}
	}
	edited, err := change(block)
	if err != nil {
		return nil, err
	}
	after, err := ParseDocument(edited)
	if err != nil || !sameFields(after, want(before)) {
		return nil, &Refusal{Reason: "this change cannot be made without changing something else in the file"}
	}
	edited = bytes.TrimSuffix(edited, []byte(end))
	if hasMark {
		edited = append([]byte(mark), edited...)
	}
	return edited, nil
}

// with returns the value that a document v should have after [SetIn].
func (v Value) with(path []string, key string, value *Value) Value {
	if v.kind == List {
		list := slices.Clone(v.List())
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(list) {
			list[i] = list[i].with(path[1:], key, value)
		}
		return Value{kind: List, more: list}
	}
	fields := slices.Clone(v.Fields())
	name := key
	if len(path) > 0 {
		name = path[0]
	}
	place := slices.IndexFunc(fields, func(p Property) bool { return p.Key == name })
	if place < 0 && value != nil {
		place = len(fields)
		fields = append(fields, Property{Key: name})
	}
	switch {
	case place < 0:
	case len(path) > 0:
		inner := fields[place].Value.with(path[1:], key, value)
		if len(inner.Fields()) == 0 && inner.kind == Map {
			inner = Value{} // the key stays without a value
		}
		fields[place].Value = inner
	case value == nil:
		fields = slices.Delete(fields, place, place+1)
	default:
		fields[place].Value = *value
	}
	return Value{kind: Map, more: fields}
}

func setIn(block []byte, path []string, key string, value *Value) ([]byte, error) {
	if len(path) == 0 {
		note := slices.Concat([]byte(fence+"\n"), block, []byte(fence+"\n"))
		var edited []byte
		var err error
		if value == nil {
			edited, err = Remove(note, key)
		} else {
			edited, err = Set(note, key, *value)
		}
		if r, ok := err.(*Refusal); ok {
			err = &Refusal{Reason: r.Reason}
		}
		if err != nil || !bytes.HasPrefix(edited, []byte(fence)) {
			return nil, err // the block was removed with its last key if err is nil
		}
		return edited[len(fence)+1 : bytes.LastIndex(edited, []byte(fence))], nil
	}
	node, at, err := under(block, path[0])
	switch {
	case err != nil:
		return nil, err
	case isEmptyMapping(node):
		if value == nil || len(path) > 1 {
			return block, nil
		}
		return setIn(block, nil, path[0], &Value{kind: Map, more: Properties{{Key: key, Value: *value}}})
	case node.Kind == yaml.SequenceNode && len(path) > 1:
		items, column, _, err := elements(block, path[0])
		if err != nil {
			return nil, err
		}
		i, err := strconv.Atoi(path[1])
		if err != nil || i >= len(items) {
			return nil, &Refusal{Reason: "the list " + strconv.Quote(path[0]) + " has no element " + path[1]}
		}
		inner := bytes.Clone(block[items[i].Start:items[i].End])
		inner[column] = ' ' // without its dash the element is a mapping
		if inner, err = setIn(inner, path[2:], key, value); err != nil {
			return nil, err
		}
		if len(inner) <= column || inner[column] != ' ' {
			return nil, &Refusal{Reason: "this change cannot be made without changing other lines"}
		}
		inner[column] = '-'
		return splice(block, items[i], string(inner)), nil
	case node.Kind != yaml.MappingNode || node.Style&yaml.FlowStyle != 0 || len(node.Content) == 0:
		return nil, &Refusal{Reason: strconv.Quote(path[0]) + " is not written on lines of its own"}
	}
	at.Start = lineStarts(block)[node.Content[0].Line-1]
	inner, err := setIn(block[at.Start:at.End], path[1:], key, value)
	if err != nil {
		return nil, err
	}
	return splice(block, at, string(inner)), nil
}

// under returns the value of a key of the root, nil if it is missing, and the lines of the key.
func under(block []byte, key string) (*yaml.Node, markdown.Span, error) {
	properties, err := Parse(block)
	if err != nil || len(properties) == 0 {
		return nil, markdown.Span{}, err
	}
	all, err := entries(block, properties)
	i := slices.IndexFunc(properties, func(p Property) bool { return p.Key == key })
	switch {
	case err != nil || i < 0:
		return nil, markdown.Span{}, err
	case slices.ContainsFunc(all, func(e entry) bool { return e.isDuplicate }):
		return nil, markdown.Span{}, &Refusal{Reason: "a key appears twice"}
	}
	return all[i].value, all[i].Span, nil
}

// sameFields reports whether two documents are equal; documents without fields are.
func sameFields(a, b Value) bool {
	areEmpty := len(a.Fields()) == 0 && len(b.Fields()) == 0
	return areEmpty || a.Equal(b)
}

// isEmptyMapping reports whether keys can be added to node as to an empty mapping: it is nil, null or an empty mapping.
func isEmptyMapping(node *yaml.Node) bool {
	switch {
	case node == nil:
		return true
	case node.Kind == yaml.ScalarNode:
		return node.Tag == "!!null"
	}
	return node.Kind == yaml.MappingNode && len(node.Content) == 0
}

// elements returns the lines of each mapping in a list, the column of their dashes counted from 0,
// and the lines of the list; key is the key of the list in the root. There are no items if the list
// is missing or empty. The error is a *[Refusal] if an element is not a mapping on lines of its own.
func elements(block []byte, key string) (items []markdown.Span, column int, at markdown.Span, err error) {
	node, at, err := under(block, key)
	if err != nil || node == nil {
		return nil, 0, at, err
	}
	if node.Tag == "!!null" || len(node.Content) == 0 {
		return nil, 0, at, nil
	}
	refusal := &Refusal{Reason: "the elements of " + strconv.Quote(key) + " are not mappings on lines of their own"}
	if node.Kind != yaml.SequenceNode || node.Style&yaml.FlowStyle != 0 {
		return nil, 0, at, refusal
	}
	lines := lineStarts(block)
	column = node.Column - 1
	for i, item := range node.Content {
		start := lines[item.Line-1]
		first := block[start:min(len(block), start+item.Column-1)]
		isBlock := item.Kind == yaml.MappingNode && item.Style&yaml.FlowStyle == 0
		isAfterDash := strings.Trim(string(first), " ") == "-" && bytes.IndexByte(first, '-') == column
		if !isBlock || !isAfterDash {
			return nil, 0, at, refusal
		}
		if i > 0 {
			items[i-1].End = start
		}
		items = append(items, markdown.Span{Start: start, End: at.End})
	}
	return items, column, at, nil
}

// bareEnd returns the end of the lines in at without the comments and blank lines at their end.
func bareEnd(block []byte, at markdown.Span) int {
	end := at.End
	starts := lineStarts(block[at.Start:at.End])
	for _, start := range slices.Backward(starts) {
		if line := bytes.TrimSpace(block[at.Start+start : end]); len(line) > 0 && line[0] != '#' {
			break
		}
		end = at.Start + start
	}
	return end
}
