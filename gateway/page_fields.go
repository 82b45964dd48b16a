package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

const (
	maxFields = 100 // fields in a request; rows are not that wide
	// maxPresent is how many names an error lists: enough for the columns of a table, but not so many that the advice
	// is longer than the answer.
	maxPresent = 40
	// maxNames is how many names are compared to find the nearest one.
	maxNames = 1000
)

// kindsOfValues maps the first byte of a JSON value to its kind. Any other byte starts a number.
var kindsOfValues = map[byte]string{'[': "an array", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null"}

// selectFields chooses fields of each row of an array of objects, or of a single object. The result has them in the
// requested order, with one row per line; keys and values keep their bytes. A field that a row lacks is left out
// there. If a row has a key twice, the last one counts, as in encoding/json. An array without rows is returned
// unchanged.
//
// The errors are [*failure.RequestError]: for a list that is empty, too long or names a field twice, for a text that
// is not JSON or does not consist of objects, and for a field that no row has.
func selectFields(text string, fields []string) (string, error) {
	switch {
	case len(fields) == 0:
		return "", failure.New(failure.CodeBadValue, "name a field, or leave fields out", "fields is an empty list")
	case len(fields) > maxFields:
		return "", failure.New(
			failure.CodeBadValue,
			"name fewer, or leave fields out",
			"fields has more than %d names",
			maxFields,
		)
	}
	places := make(map[string]int, len(fields)) // index of each field in the requested order
	for i, name := range fields {
		if _, isTwice := places[name]; isTwice {
			return "", failure.New(failure.CodeBadValue, "name each field once", "fields has %s twice", quoted(name))
		}
		places[name] = i
	}
	noRows := func(reason string, args ...any) error {
		return failure.New(
			failure.CodeBadRequest,
			"leave fields out; they are for rows that are objects of JSON",
			"fields cannot be chosen: the answer "+reason,
			args...)
	}
	rows := surveyJSON(text)
	if !rows.isJSON {
		return "", noRows("is not JSON")
	}
	objects := rowsOfJSON(text, rows)
	number := 0
	for object := range objects {
		number++
		if object[0] == '{' {
			continue
		}
		kind := cmp.Or(kindsOfValues[object[0]], "a number")
		if rows.isArray {
			return "", noRows("has %s as row %d, not an object", kind, number)
		}
		return "", noRows("is %s, not an object", kind)
	}
	if number == 0 {
		return text, nil
	}
	var out strings.Builder
	before := ""
	end := ""
	if rows.isArray {
		before = "["
		end = "]"
	}
	isPresent := make([]bool, len(fields))
	chosen := make([]string, len(fields)) // the members of one row, "" for a missing field
	for object := range objects {
		clear(chosen)
		members(object, func(key, member string) {
			if i, isChosen := places[key]; isChosen {
				isPresent[i] = true
				chosen[i] = member
			}
		})
		out.WriteString(before + "{")
		separator := ""
		for _, member := range chosen {
			if member != "" {
				out.WriteString(separator)
				out.WriteString(member)
				separator = ","
			}
		}
		out.WriteByte('}')
		before = ",\n"
	}
	out.WriteString(end)
	if i := slices.Index(isPresent, false); i >= 0 {
		return "", missingField(fields[i], objects)
	}
	return out.String(), nil
}

// rowsOfJSON yields the elements of an array. For other JSON it yields the text as a single value.
func rowsOfJSON(text string, rows compactedRows) iter.Seq[string] {
	return func(yield func(string) bool) {
		at := skipSpace(text, 0)
		count := 1
		if rows.isArray {
			at, _ = firstRow(text)
			count = rows.count
		}
		for range count {
			end, next, _ := element(text, at)
			if !yield(text[at:end]) {
				return
			}
			at = next
		}
	}
}

// members calls visit with the key and the text of each member of a valid object. It is not an iterator, because
// that would cost an allocation per object.
func members(object string, visit func(key, member string)) {
	at := skipSpace(object, 1)
	for object[at] != '}' {
		keyEnd := valueEnd(object, at)
		start := skipSpace(object, skipSpace(object, keyEnd)+1) // after the colon
		end := valueEnd(object, start)
		key := object[at+1 : keyEnd-1]
		if strings.IndexByte(key, '\\') >= 0 {
			literal := object[at:keyEnd]
			var text string
			_ = json.Unmarshal([]byte(literal), &text)
			key = text
		}
		visit(key, object[at:end])
		if at = skipSpace(object, end); object[at] == ',' {
			at = skipSpace(object, at+1)
		}
	}
}

// maxQuoted is how many bytes of a name an error repeats. It may list forty names.
const maxQuoted = 60

func quoted(s string) string { return fmt.Sprintf("%q", excerpt.Clip(s, maxQuoted)) }

// missingField returns the error that no object has a field. Its hint lists the fields that the objects have.
func missingField(field string, objects iter.Seq[string]) error {
	seen := map[string]bool{}
	for object := range objects {
		members(object, func(key, _ string) {
			if len(seen) < maxNames {
				seen[key] = true
			}
		})
	}
	names := slices.Sorted(maps.Keys(seen))
	var present []string
	for _, name := range names[:min(len(names), maxPresent)] {
		present = append(present, quoted(name))
	}
	hint := "there are " + strings.Join(present, ", ")
	if len(names) > maxPresent {
		hint += " and others"
	}
	if nearest := excerpt.Nearest(field, names); nearest != "" {
		hint = "did you mean " + quoted(nearest) + "? " + hint
	}
	if len(names) == 0 {
		hint = "the rows have no fields at all; leave fields out"
	}
	return failure.New(failure.CodeBadValue, hint, "fields: no row has a field %s", quoted(field))
}
