package message

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Field is one field of a JSON object. Both are slices of the document, or of a copy where
// the name has escapes.
type Field struct {
	Name  []byte // decoded
	Value json.RawMessage
}

// Fields are the fields of a JSON object in their order. No two have one name. nil is no
// object; an empty one is not nil.
type Fields []Field

// Get returns the value of a field, nil if there is none.
func (f Fields) Get(name string) json.RawMessage {
	for i := range f {
		if string(f[i].Name) == name {
			return f[i].Value
		}
	}
	return nil
}

// Take returns the value of a field, and leaves nil in its place.
func (f Fields) Take(name string) json.RawMessage {
	for i := range f {
		if string(f[i].Name) == name {
			value := f[i].Value
			f[i].Value = nil
			return value
		}
	}
	return nil
}

// Sort brings the fields into the order of their names.
func (f Fields) Sort() {
	slices.SortFunc(f, func(a, b Field) int { return bytes.Compare(a.Name, b.Name) })
}

// has reports whether there is a field of that name.
func (f Fields) has(name string) bool { return f.Get(name) != nil }

// fewFields is up to how many fields of an object names are compared one by one.
const fewFields = 16

// names finds duplicates among the names of one object.
type names map[string]struct{}

// add reports whether a name is new. before are the fields in front of it.
func (n *names) add(name []byte, before Fields) bool {
	if len(before) < fewFields {
		return before.Get(string(name)) == nil
	}
	if *n == nil {
		*n = names{}
		for i := range before {
			(*n)[string(before[i].Name)] = struct{}{}
		}
	}
	_, twice := (*n)[string(name)]
	(*n)[string(name)] = struct{}{}
	return !twice
}
