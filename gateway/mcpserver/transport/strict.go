package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

const (
	// MaxInteger is the largest integer that all JSON readers decode alike.
	MaxInteger = 1 << 53

	// Space is the white space that JSON allows around a document, and nothing else.
	Space = " \t\r\n"
)

// String decodes a valid JSON value without leading space that is a string, false for any
// other. As with encoding/json, half of a surrogate pair becomes U+FFFD.
func String(raw json.RawMessage) (string, bool) {
	switch {
	case !IsString(raw):
		return "", false
	case bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw):
		return string(raw[1 : len(raw)-1]), true
	}
	return unescaped(raw)
}

// unescaped is apart, because what encoding/json writes to is on the heap.
func unescaped(raw json.RawMessage) (text string, ok bool) {
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// IsString reports whether a valid JSON value without leading space is a string.
func IsString(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte(`"`)) }

// IsObject reports whether a valid JSON value without leading space is an object.
func IsObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }

// IsNull reports whether a JSON value is missing or null.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// Clip returns [excerpt.Short] of a text with control characters replaced.
func Clip(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, excerpt.Short(text))
}

// Encode returns v as JSON. It panics on a value that cannot be encoded; callers pass
// only maps, strings and numbers.
func Encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return line
}

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

// Sorted brings the fields into the order of their names, and returns them: the same error is found first.
func (f Fields) Sorted() Fields {
	slices.SortFunc(f, func(a, b Field) int { return bytes.Compare(a.Name, b.Name) })
	return f
}

// fewFields is up to how many fields of an object names are compared one by one.
const fewFields = 16

// Lint checks a document that [json.Valid] accepts for a duplicate key in an object, which
// encoding/json ignores. It also limits depth and the number of values. It returns the fields of the
// document, nil if it is not an object.
func Lint(document []byte) (Fields, error) {
	l := lint(document, nil)
	if l.err != nil {
		return nil, l.err
	}
	return l.fields, nil
}

// lint checks a document, also for a key that differs only in spelling from one in exact, which lists
// names by depth.
func lint(document []byte, exact map[int][]string) *linter {
	l := &linter{rest: document, exact: exact, open: make(Fields, 0, fewFields)}
	l.err = l.value(1)
	return l
}

// linter scans a valid document. It only finds where values begin and end.
type linter struct {
	rest  []byte
	exact map[int][]string
	count int
	err   error
	// open are the fields of the objects that are being read, those of inner ones last.
	open   Fields
	fields Fields // of the outermost object
	params Fields // of the object in its field params
	// huge says that a number may be too large for a float64.
	huge bool
}

// value checks one value; an object or a list found here has the given depth.
func (l *linter) value(depth int) error {
	if l.count++; l.count > maxValues {
		return fmt.Errorf("has more than %d values", maxValues)
	}
	switch l.peek() {
	case '{', '[':
		if depth > maxDepth {
			return fmt.Errorf("is nested deeper than %d", maxDepth)
		}
	case '"':
		l.takeString()
		return nil
	default:
		// Consume a number, true, false or null.
		end := bytes.IndexAny(l.rest, ",]}"+Space)
		if end < 0 {
			end = len(l.rest)
		}
		// encoding/json refuses a number that is too large for a float64 where it decodes any value.
		literal := l.rest[:end]
		isNumber := literal[0] == '-' || '0' <= literal[0] && literal[0] <= '9'
		hasExponent := isNumber && bytes.ContainsAny(literal, "eE")
		l.huge = l.huge || hasExponent || len(literal) > maxDigits
		l.rest = l.rest[end:]
		return nil
	}
	if l.peek() == '{' {
		return l.object(depth)
	}
	for l.skip(); l.peek() != ']'; {
		if err := l.value(depth + 1); err != nil {
			return err
		}
		if l.peek() == ',' {
			l.skip()
		}
	}
	l.skip()
	return nil
}

func (l *linter) object(depth int) error {
	begin := len(l.open)
	var seen map[string]struct{} // the names, where there are many
	for l.skip(); l.peek() != '}'; {
		raw := l.takeString()
		l.peek()
		l.skip() // the colon
		key := raw[1 : len(raw)-1]
		if bytes.IndexByte(raw, '\\') >= 0 {
			text, _ := unescaped(raw) // the document is valid
			key = []byte(text)
		}
		before := l.open[begin:]
		twice := false
		if len(before) < fewFields {
			twice = before.Get(string(key)) != nil
		} else {
			if seen == nil {
				seen = map[string]struct{}{}
				for i := range before {
					seen[string(before[i].Name)] = struct{}{}
				}
			}
			_, twice = seen[string(key)]
			seen[string(key)] = struct{}{}
		}
		if twice {
			return fmt.Errorf("duplicate key %q", Clip(string(key)))
		}
		if right := resembles(string(key), l.exact[depth]); right != "" {
			return fmt.Errorf("key %q must be spelled %q", Clip(string(key)), right)
		}
		l.peek()
		l.open = append(l.open, Field{Name: key, Value: l.rest})
		if err := l.value(depth + 1); err != nil {
			return err
		}
		field := &l.open[len(l.open)-1]
		field.Value = field.Value[:len(field.Value)-len(l.rest)]
		if l.peek() == ',' {
			l.skip()
		}
	}
	l.skip()
	if depth == 1 { // it is the last
		if l.fields = l.open[begin:]; l.fields == nil {
			l.fields = Fields{}
		}
		return nil
	}
	if depth == 2 && begin > 0 && string(l.open[begin-1].Name) == "params" {
		l.params = slices.Clone(l.open[begin:])
	}
	l.open = l.open[:begin]
	return nil
}

// peek skips white space and returns the next byte without consuming it.
func (l *linter) peek() byte {
	for strings.IndexByte(Space, l.rest[0]) >= 0 {
		l.skip()
	}
	return l.rest[0]
}

func (l *linter) skip() { l.rest = l.rest[1:] }

func (l *linter) takeString() []byte {
	end := 1
	quote := 0
	for {
		if quote < end { // it was escaped, or is the first one
			quote = end + bytes.IndexByte(l.rest[end:], '"')
		}
		escape := bytes.IndexByte(l.rest[end:quote], '\\')
		if escape < 0 {
			break
		}
		end += escape + len(`\n`)
	}
	end = quote
	text := l.rest[:end+1]
	l.rest = l.rest[end+1:]
	return text
}

// maxDigits is a length up to which a float64 has room for a number without an exponent.
const maxDigits = 300

// resembles returns the name of which key is another spelling: in case, or with a letter that
// folds to or looks like an ASCII one. It returns "" if key is one of names or resembles none.
func resembles(key string, names []string) string {
	if slices.Contains(names, key) {
		return ""
	}
	// Unicode does not fold the two letters i of Turkish to an ASCII letter although they look like one.
	dotted := func(r rune) rune {
		if r == 'ı' || r == 'İ' {
			return 'i'
		}
		return r
	}
	for _, name := range names {
		if strings.EqualFold(strings.Map(dotted, key), name) {
			return name
		}
	}
	return ""
}
