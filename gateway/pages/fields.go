package pages

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
)

// maxFields is how many fields can be asked for; rows are not that wide.
const maxFields = 100

// Fields chooses fields of each row of an array of objects, or of one object. In
// the result they stand in the order in which they are asked for, rows one a
// line; keys and values have the bytes that they had. A row that lacks a field is
// shown without it. Of a key that a row has twice the last one counts, as in
// encoding/json. An array without rows is returned as it is.
//
// near picks the name that a wrong one may be meant to be, "" if none is near;
// it may be nil.
//
// The errors are *[Invalid] for a list that is empty, too long or names a field
// twice, *[NoRows] for what is no JSON or not made of objects, and *[FieldError]
// for a field that no row has.
func Fields(text string, fields []string, near func(word string, names []string) string) (string, error) {
	c, err := newChoice(fields)
	if err != nil {
		return "", err
	}
	rows, err := objectsOf(text)
	if err != nil {
		return "", err
	}
	if rows.count == 0 {
		return text, nil
	}
	before, end := "", ""
	if rows.isArray {
		before, end = "[", "]"
	}
	rows.each(func(object string) {
		c.out.WriteString(before)
		c.add(object)
		before = ",\n"
	})
	c.out.WriteString(end)
	if i := slices.Index(c.found, false); i >= 0 {
		return "", fieldError(fields[i], rows, near)
	}
	return c.out.String(), nil
}

// objects are the rows of an array of objects, or one object.
type objects struct {
	text    string
	first   int // where the first one begins
	count   int
	isArray bool
}

func objectsOf(text string) (objects, error) {
	rows := surveyed(text)
	if !rows.isJSON {
		return objects{}, &NoRows{"is not JSON"}
	}
	o := objects{text: text, first: skipSpace(text, 0), count: 1}
	if rows.isArray {
		o.first, _ = firstRow(text)
		o.count, o.isArray = rows.count, true
	}
	return o, o.check()
}

// each calls visit with each object in turn.
func (o objects) each(visit func(object string)) {
	at := o.first
	for range o.count {
		end, next, _ := row(o.text, at)
		visit(o.text[at:end])
		at = next
	}
}

// check refuses a row that is no object.
func (o objects) check() (err error) {
	number := 0
	o.each(func(object string) {
		number++
		switch {
		case object[0] == '{' || err != nil:
		case o.isArray:
			err = &NoRows{fmt.Sprintf("has %s as row %d, not an object", kindOf(object), number)}
		default:
			err = &NoRows{"is " + kindOf(object) + ", not an object"}
		}
	})
	return err
}

// kindOf names the kind of a value by its first character.
func kindOf(value string) string {
	switch value[0] {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// choice is the fields that are asked for, and what was found of them.
type choice struct {
	index  map[string]int // the place of a field in the order asked for
	found  []bool         // in any row
	member []string       // of one row: the key and the value, "" where there is none
	out    strings.Builder
}

func newChoice(fields []string) (*choice, error) {
	switch {
	case len(fields) == 0:
		return nil, &Invalid{"fields", "is an empty list", "name a field, or leave fields out"}
	case len(fields) > maxFields:
		return nil, &Invalid{"fields", fmt.Sprintf("has more than %d names", maxFields), "name fewer, or leave fields out"}
	}
	c := &choice{make(map[string]int, len(fields)), make([]bool, len(fields)), make([]string, len(fields)), strings.Builder{}}
	for i, name := range fields {
		if _, twice := c.index[name]; twice {
			return nil, &Invalid{"fields", "has " + quoted(name) + " twice", "name each field once"}
		}
		c.index[name] = i
	}
	return c, nil
}

// add writes what is chosen of an object.
func (c *choice) add(object string) {
	clear(c.member)
	members(object, func(key, member string) {
		if i, asked := c.index[key]; asked {
			c.found[i] = true
			c.member[i] = member
		}
	})
	separator := "{"
	for _, member := range c.member {
		if member != "" {
			c.out.WriteString(separator)
			c.out.WriteString(member)
			separator = ","
		}
	}
	if separator == "{" {
		c.out.WriteByte('{')
	}
	c.out.WriteByte('}')
}

// members calls visit with the key of each member of a valid object, and with
// the member itself as it is written.
func members(object string, visit func(key, member string)) {
	at := skipSpace(object, 1)
	for object[at] != '}' {
		keyEnd := stringEnd(object, at)
		start := skipSpace(object, skipSpace(object, keyEnd)+1) // behind the colon
		end := value(object, start)
		visit(unquoted(object[at:keyEnd]), object[at:end])
		at = skipSpace(object, end)
		if object[at] == ',' {
			at = skipSpace(object, at+1)
		}
	}
}

// unquoted returns what a valid string of JSON stands for.
func unquoted(literal string) string {
	plain := literal[1 : len(literal)-1]
	if strings.IndexByte(plain, '\\') < 0 {
		return plain
	}
	var text string
	_ = json.Unmarshal([]byte(literal), &text) // what is valid can be read
	return text
}

const (
	// maxPresent is how many names an error lists: enough for the columns of a
	// table, and not so much that the advice is longer than the answer.
	maxPresent = 40
	// maxNames is how many are looked at to find the nearest one.
	maxNames = 1000
)

// fieldError says which fields the objects have in place of one.
func fieldError(field string, rows objects, near func(string, []string) string) error {
	seen := map[string]bool{}
	rows.each(func(object string) {
		members(object, func(key, _ string) {
			if len(seen) < maxNames {
				seen[key] = true
			}
		})
	})
	names := slices.Sorted(maps.Keys(seen))
	e := &FieldError{Field: field, More: len(names) > maxPresent}
	if near != nil {
		e.Nearest = near(field, names)
	}
	for _, name := range names[:min(len(names), maxPresent)] {
		e.Present = append(e.Present, quote.Clip(name, maxQuoted))
	}
	return e
}
