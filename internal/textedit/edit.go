// Package textedit changes single entries of files in JSON, TOML or YAML.
//
// An editor changes one entry of a text and preserves every other byte: comments, order, indentation,
// line ends and a byte order mark. It parses the text before and after the change, and returns an
// error if anything but the entry has another value.
package textedit

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxText is the maximum size of a text in bytes. The largest known settings file of a client
// contains some megabytes of history.
const MaxText = 32 << 20

// Place is the place of an entry: the key Name in the mapping at the keys of Path. With List, the
// value at Path is a list, and the entry is the element whose field "name" is Name.
type Place struct {
	Path []string
	Name string
	List bool
}

// String returns the place in dotted form, such as mcpServers.vaultwicket.
func (p Place) String() string { return strings.Join(append(slices.Clone(p.Path), p.Name), ".") }

// Member is a key of an [Object] and its value: a string, bool, int, list of strings, or Object.
type Member struct {
	Key   string
	Value any
}

// Object is an ordered mapping.
type Object []Member

// Plain returns the object as a parser would return it: mappings as map[string]any, lists as []any, and numbers as
// float64.
func (o Object) Plain() map[string]any {
	plain := make(map[string]any, len(o))
	for _, m := range o {
		switch value := m.Value.(type) {
		case Object:
			plain[m.Key] = value.Plain()
		case []string:
			list := make([]any, len(value))
			for i, item := range value {
				list[i] = item
			}
			plain[m.Key] = list
		case int:
			plain[m.Key] = float64(value)
		default:
			plain[m.Key] = value
		}
	}
	return plain
}

// Malformed is the error for a text that does not have the expected format, or that has another value
// where a mapping or a list is needed. Line and Column count from 1, and columns are in characters.
type Malformed struct {
	Line, Column int
	Reason       string
}

func (m *Malformed) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", m.Line, m.Column, m.Reason)
}

// MalformedAt returns the error for the byte at an offset of text.
func MalformedAt(text []byte, offset int, reason string) *Malformed {
	before := text[:min(max(offset, 0), len(text))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return &Malformed{
		1 + bytes.Count(before, []byte("\n")),
		1 + utf8.RuneCount(bytes.TrimPrefix(line, []byte(BOM))),
		reason,
	}
}

// Unsupported is the error for a well-formed text that the editor cannot change
// without touching more than the entry.
type Unsupported struct{ Reason string }

func (u *Unsupported) Error() string { return u.Reason }

// BOM is the byte order mark of UTF-8.
const BOM = "\ufeff"

// utf16Marks are the byte order marks of UTF-16, which some editors on Windows write.
var utf16Marks = []string{"\xff\xfe", "\xfe\xff"}

// CheckText returns an error for a text that is not valid UTF-8, is larger than MaxText, or has NUL bytes or line ends
// other than \n and \r\n.
func CheckText(text []byte) error {
	if len(text) > MaxText {
		return &Unsupported{fmt.Sprintf("the file is larger than %d MiB", MaxText>>20)}
	}
	if slices.ContainsFunc(utf16Marks, func(mark string) bool { return bytes.HasPrefix(text, []byte(mark)) }) {
		return &Malformed{1, 1, "the file is in UTF-16; save it as UTF-8"}
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return MalformedAt(text, at, "NUL byte: the file is binary, or in UTF-16; save it as UTF-8")
	}
	for i, c := range text {
		if c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			return MalformedAt(text, i, "carriage return without a line feed")
		}
	}
	if utf8.Valid(text) {
		return nil
	}
	offset := 0
	for offset < len(text) {
		r, size := utf8.DecodeRune(text[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	return MalformedAt(text, offset, "not UTF-8")
}

// Newline returns the line end of the first line of text, "\n" if it has only one line.
func Newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineEnd returns the length of the line end at the end of text, 0 if there is none.
func lineEnd(text []byte) int {
	return len(text) - len(bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r")))
}

// Splice is one replacement in a text: the bytes from Start up to End become Text.
type Splice struct {
	Start, End int
	Text       string
}

// Apply returns the text with the splices applied. They may be in any order, but must not overlap.
func Apply(text []byte, splices ...Splice) []byte {
	slices.SortStableFunc(splices, func(a, b Splice) int { return a.Start - b.Start })
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, text[at:s.Start]...), s.Text...)
		at = s.End
	}
	return append(out, text[at:]...)
}

// Equal reports whether two parsed values are equal. Numbers are compared by value, whatever their types are.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, Equal)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, Equal)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	if a == b {
		return true
	}
	x, isNumber := number(a)
	y, alsoNumber := number(b)
	if !isNumber || !alsoNumber {
		return false
	}
	return x == y || math.IsNaN(x) && math.IsNaN(y)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64: // from go-toml
		return float64(n), true
	case interface{ Float64() (float64, error) }: // from encoding/json
		value, err := n.Float64()
		return value, err == nil
	}
	return 0, false
}

// Editor changes texts of one format, see [Set] and [Remove].
type Editor interface {
	// Decode returns the parsed text, nil for an empty one. The error is a [*Malformed] or an
	// [*Unsupported].
	Decode(text []byte) (any, error)
	// Render returns the text of a file that contains only the entry.
	Render(at Place, entry Object) string

	set(text []byte, at Place, entry Object) ([]byte, error)
	remove(text []byte, at Place) ([]byte, error)
	// cannot returns the error for a part of a file whose form cannot be edited.
	unsupported(at Place, part extent) error
}

// extent says which part of a file has a form that cannot be edited.
type extent uint8

const (
	theEntry     extent = iota
	theContainer        // the value that contains the entry
)

// Set returns the text with the entry added or replaced at a place. Missing mappings on the path are created.
// The error is a [*Malformed] or an [*Unsupported].
func Set(e Editor, text []byte, at Place, entry Object) ([]byte, error) {
	before, err := e.Decode(text)
	if err != nil {
		return nil, err
	}
	changed, err := e.set(text, at, entry)
	if err != nil {
		return nil, err
	}
	return changed, verify(e, before, changed, at, withNameField(at, entry))
}

// Remove returns the text without the entry at a place; the text itself if there is none. A mapping or list
// that becomes empty stays. The errors are those of [Set].
func Remove(e Editor, text []byte, at Place) ([]byte, error) {
	before, err := e.Decode(text)
	if err != nil {
		return nil, err
	}
	if _, found := Lookup(before, at); !found {
		return text, nil
	}
	changed, err := e.remove(text, at)
	if err != nil {
		return nil, err
	}
	return changed, verify(e, before, changed, at, nil)
}

var errElsewhere = &Unsupported{"the file cannot be edited without changing something else in it"}

// verify is [Verify] for a changed text. It also returns an error unless the entry at the place is equal to entry; nil
// means that there must be none.
func verify(e Editor, before any, changed []byte, at Place, entry Object) error {
	after, err := e.Decode(changed)
	if err != nil {
		return e.unsupported(at, theContainer)
	}
	found, ok := Lookup(after, at)
	if ok != (entry != nil) || ok && !Equal(found, entry.Plain()) {
		return e.unsupported(at, theEntry)
	}
	return Verify(before, after, at)
}

// Verify returns an error if two parsed texts differ in more than the entry at a place.
// Empty mappings and lists on the path count as missing.
func Verify(before, after any, at Place) error {
	if Equal(without(before, at.Path, at), without(after, at.Path, at)) {
		return nil
	}
	return errElsewhere
}

// without returns a parsed value without the entry at a place; path is the rest of the path. Empty mappings and lists on
// the path are left out.
func without(value any, path []string, at Place) any {
	if list, ok := value.([]any); ok && at.List && len(path) == 0 {
		var rest []any
		for _, item := range list {
			if entry, ok := item.(map[string]any); !ok || entry["name"] != at.Name {
				rest = append(rest, item)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	}
	mapping, ok := value.(map[string]any)
	if !ok {
		return value
	}
	rest := make(map[string]any, len(mapping))
	for key, item := range mapping {
		switch {
		case len(path) == 0 && key == at.Name && !at.List:
			continue
		case len(path) > 0 && key == path[0]:
			if item = without(item, path[1:], at); item == nil {
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

// Entries returns the entry at a place of a parsed value and its siblings, by name. Only mappings are included.
// If several elements of a list have the same name, the first one counts.
func Entries(value any, at Place) map[string]map[string]any {
	for _, key := range at.Path {
		mapping, _ := value.(map[string]any)
		value = mapping[key]
	}
	all := map[string]map[string]any{}
	add := func(name, item any) {
		entry, ok := item.(map[string]any)
		if key, named := name.(string); ok && named {
			all[key] = entry
		}
	}
	if at.List {
		list, _ := value.([]any)
		for _, item := range slices.Backward(list) {
			entry, _ := item.(map[string]any)
			add(entry["name"], item)
		}
		return all
	}
	mapping, _ := value.(map[string]any)
	for name, item := range mapping {
		add(name, item)
	}
	return all
}

// Lookup returns the entry at a place of a parsed value. ok is false if it is missing or not a mapping.
func Lookup(value any, at Place) (entry map[string]any, ok bool) {
	entry, ok = Entries(value, at)[at.Name]
	return entry, ok
}
