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
	// MaxInteger is the largest integer that all JSON parsers decode alike.
	MaxInteger = 1 << 53

	// Space contains exactly the characters that are white space in JSON.
	Space = " \t\r\n"
)

// String decodes a JSON string. ok is false for any other value. raw must be valid JSON without leading
// space. As in encoding/json, an unpaired surrogate becomes U+FFFD.
func String(raw json.RawMessage) (string, bool) {
	switch {
	case !IsString(raw):
		return "", false
	case bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw):
		return string(raw[1 : len(raw)-1]), true
	}
	return unescaped(raw)
}

// unescaped is a separate function because it makes its result escape to the heap.
func unescaped(raw json.RawMessage) (text string, ok bool) {
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// IsString reports whether raw, valid JSON without leading space, is a string.
func IsString(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte(`"`)) }

// IsObject reports whether raw, valid JSON without leading space, is an object.
func IsObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }

// IsNull reports whether raw is empty or null.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// Clip shortens a text with [excerpt.Short] and replaces control characters.
func Clip(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, excerpt.Short(text))
}

// Encode returns v as JSON. It panics if v cannot be encoded; callers pass only maps, strings and numbers.
func Encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return line
}

// Field is a field of a JSON object. Name and Value are slices of the document, except that a name with
// escapes is copied.
type Field struct {
	Name  []byte // decoded
	Value json.RawMessage
}

// Fields has the fields of a JSON object in the order of the document. Names are unique. nil means that
// the value is not an object; for an empty object it is not nil.
type Fields []Field

// Get returns the value of the field with the given name, nil if there is none.
func (f Fields) Get(name string) json.RawMessage {
	for i := range f {
		if string(f[i].Name) == name {
			return f[i].Value
		}
	}
	return nil
}

// Take returns the value of the field with the given name and sets it to nil.
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

// Sorted sorts the fields by name, in place, and returns them. It makes the order of errors deterministic.
func (f Fields) Sorted() Fields {
	slices.SortFunc(f, func(a, b Field) int { return bytes.Compare(a.Name, b.Name) })
	return f
}

// fewFields is the number of fields up to which names are compared one by one instead of in a map.
const fewFields = 16

// Lint returns the fields of a JSON document, nil if it is not an object. document must be valid
// according to [json.Valid]. It returns an error for duplicate keys, which encoding/json accepts, and if
// the document is nested too deeply or has too many values.
func Lint(document []byte) (Fields, error) {
	l := lint(document, nil)
	if l.err != nil {
		return nil, l.err
	}
	return l.fields, nil
}

// lint is like Lint, but also rejects keys that differ only in spelling from one in exact, which lists
// keys by depth.
func lint(document []byte, exact map[int][]string) *linter {
	l := &linter{rest: document, exact: exact, open: make(Fields, 0, fewFields)}
	l.err = l.value(1)
	return l
}

// linter scans a valid document. It only determines where values begin and end.
type linter struct {
	rest  []byte
	exact map[int][]string
	count int
	err   error
	// open is a stack of the fields of the objects that are being scanned, with those of the innermost
	// object last.
	open   Fields
	fields Fields // fields of the outermost object
	params Fields // fields of the object in its field params
	// hasHuge reports whether a number may be too large for a float64.
	hasHuge bool
}

// value scans one value. depth is the depth of the value if it is an object or a list.
func (l *linter) value(depth int) error {
	l.count++
	if l.count > maxValues {
		return fmt.Errorf("has more than %d values", maxValues)
	}
	switch first := l.peek(); {
	case first == '"':
		l.takeString()
		return nil
	case first != '{' && first != '[':
		l.takeLiteral()
		return nil
	case depth > maxDepth:
		return fmt.Errorf("is nested deeper than %d", maxDepth)
	case first == '{':
		return l.object(depth)
	}
	return l.list(depth)
}

// takeLiteral consumes a number, true, false or null.
func (l *linter) takeLiteral() {
	end := bytes.IndexAny(l.rest, ",]}"+Space)
	if end < 0 {
		end = len(l.rest)
	}
	// When it decodes into an interface, encoding/json rejects numbers that are too large for a float64.
	literal := l.rest[:end]
	isNumber := literal[0] == '-' || '0' <= literal[0] && literal[0] <= '9'
	hasExponent := isNumber && bytes.ContainsAny(literal, "eE")
	l.hasHuge = l.hasHuge || hasExponent || len(literal) > maxDigits
	l.rest = l.rest[end:]
}

// list scans a list.
func (l *linter) list(depth int) error {
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

// object scans an object.
func (l *linter) object(depth int) error {
	begin := len(l.open)
	var seen map[string]struct{} // the names, if there are many
	for l.skip(); l.peek() != '}'; {
		raw := l.takeString()
		l.peek()
		l.skip() // the colon
		key := raw[1 : len(raw)-1]
		if bytes.IndexByte(raw, '\\') >= 0 {
			text, _ := unescaped(raw) // the document is valid
			key = []byte(text)
		}
		siblings := l.open[begin:]
		isDuplicate := false
		if len(siblings) < fewFields {
			isDuplicate = siblings.Get(string(key)) != nil
		} else {
			if seen == nil {
				seen = map[string]struct{}{}
				for i := range siblings {
					seen[string(siblings[i].Name)] = struct{}{}
				}
			}
			_, isDuplicate = seen[string(key)]
			seen[string(key)] = struct{}{}
		}
		if isDuplicate {
			return fmt.Errorf("duplicate key %q", Clip(string(key)))
		}
		if spelling := resembledName(string(key), l.exact[depth]); spelling != "" {
			return fmt.Errorf("key %q must be spelled %q", Clip(string(key)), spelling)
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
	if depth == 1 { // the outermost object is complete
		l.fields = l.open[begin:]
		if l.fields == nil {
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
		if quote < end { // the last quote was escaped, or this is the first iteration
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

// maxDigits is a length up to which every number without an exponent fits into a float64.
const maxDigits = 300

// resembledName returns the name from which key differs only in case, or in letters that fold to or look
// like ASCII letters. It returns "" if key is among names or resembles none of them.
func resembledName(key string, names []string) string {
	if slices.Contains(names, key) {
		return ""
	}
	// Unicode does not fold the Turkish letters ı and İ to i, although they look like it.
	foldTurkish := func(r rune) rune {
		if r == 'ı' || r == 'İ' {
			return 'i'
		}
		return r
	}
	for _, name := range names {
		if strings.EqualFold(strings.Map(foldTurkish, key), name) {
			return name
		}
	}
	return ""
}
