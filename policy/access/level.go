// Package access says what may be done with which note of a vault: a level for
// each folder or note that a person has named, held by whole segments of the
// path, never by the beginning of a name.
//
// Two programs hold the same rules. The gateway judges the paths that a call
// spells out, and the embedded vault CLI everything that it meets: for it a note
// of level [None] is not there at all. The text that [Rules.String] returns is how
// the one tells the other.
package access

import "fmt"

// Level is what may be done with a note. Each includes those before it.
type Level uint8

const (
	// None is the zero value: the note is as if it were not there.
	None Level = iota
	// Read lets the note be read, listed and found.
	Read
	// Write lets it be made and changed.
	Write
	// Delete lets it be removed, replaced and moved away.
	Delete
)

var levelNames = [...]string{None: "none", Read: "r", Write: "rw", Delete: "rwd"}

// String returns the name used in settings: none, r, rw or rwd.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// ParseLevel reads none, r, rw or rwd. The error names what would be right.
func ParseLevel(text string) (Level, error) {
	for i, name := range levelNames {
		if name == text {
			return Level(i), nil
		}
	}
	return None, fmt.Errorf("invalid access %q: want none, r, rw or rwd", text)
}
