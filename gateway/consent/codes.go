package consent

import "crypto/rand"

// NewCode makes a code by which the owner names something that waits, such as 7ZBC-2GX4. It cannot be guessed.
func NewCode() string { return displayCode(codeFrom(rand.Reader)) }

// SameCode reports whether a code that was typed, in lower case or without its dash too, is a code.
func SameCode(typed, code string) bool {
	bare, ok := parseCode(typed)
	return ok && displayCode(bare) == code
}
