// Package edit holds what the editors of configuration files have in common: the
// place of an entry, its value, and the errors.
//
// An editor changes one entry of a text and returns every other byte as it was:
// comments, order, indentation, line ends and a byte order mark. It parses the text
// before and after, and returns an error instead of a text in which anything else
// than the entry has another value.
package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxText is the size in bytes up to which a text is edited. The largest settings
// file of a client that is known holds some megabytes of history.
const MaxText = 32 << 20

// Place says where an entry is: below the keys of Path, under the key Name. With
// List the value at Path is a list, and the entry is the element whose field "name"
// is Name.
type Place struct {
	Path []string
	Name string
	List bool
}

// String returns the place as people write it, such as mcpServers.vaultwicket.
func (p Place) String() string { return strings.Join(append(slices.Clone(p.Path), p.Name), ".") }

// Member is a key of an [Object] and its value: a string, a bool, an int, a list of
// strings, or an Object.
type Member struct {
	Key   string
	Value any
}

// Object is an ordered mapping.
type Object []Member

// Plain returns the object as a parser would: mappings as map[string]any, lists as
// []any, numbers as float64.
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

// Malformed is the error for a text that is not in its format, or that has another
// value where a mapping is needed. Line and Column count from 1, columns in
// characters.
type Malformed struct {
	Line, Column int
	Reason       string
}

func (m *Malformed) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", m.Line, m.Column, m.Reason)
}

// MalformedAt returns the error for the byte at offset of a text.
func MalformedAt(text []byte, offset int, reason string) *Malformed {
	before := text[:min(max(offset, 0), len(text))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return &Malformed{1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(bytes.TrimPrefix(line, []byte(BOM))), reason}
}

// Unsupported is the error for a well-formed text that the editor cannot change
// without touching more than the entry.
type Unsupported struct{ Reason string }

func (u *Unsupported) Error() string { return u.Reason }

// BOM is the byte order mark of UTF-8.
const BOM = "\ufeff"

// CheckText returns an error for a text that is not UTF-8, is too large, or has line ends
// other than \n and \r\n.
func CheckText(text []byte) error {
	if len(text) > MaxText {
		return &Unsupported{fmt.Sprintf("the file is larger than %d MiB", MaxText>>20)}
	}
	for i := bytes.IndexByte(text, '\r'); i >= 0; {
		if i+1 == len(text) || text[i+1] != '\n' {
			return MalformedAt(text, i, "carriage return without a line feed")
		}
		next := bytes.IndexByte(text[i+1:], '\r')
		if next < 0 {
			break
		}
		i += 1 + next
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

// Newline returns the line end of a text: that of its first line, "\n" if it has one
// line.
func Newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Splice is one replacement in a text: the bytes from Start up to End become Text.
type Splice struct {
	Start, End int
	Text       string
}

// Apply returns the text with the splices done. They must not overlap.
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
