package object

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// HashLength is the length of a SHA-256 in hexadecimal digits.
	HashLength = 2 * sha256.Size
	// NoteLength is the length of a [NoteID].
	NoteLength = 16
)

// NoteID returns the digest under which versions of the note at path are found.
func NoteID(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:NoteLength/2])
}

// IsHex reports whether text has only hexadecimal digits, in lower case.
func IsHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// IsHash reports whether text is a SHA-256 as the journal writes it.
func IsHash(text string) bool { return len(text) == HashLength && IsHex(text) }
