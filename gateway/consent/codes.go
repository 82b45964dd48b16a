package consent

import "crypto/rand"

// NewCode returns a new unguessable code, such as 7ZBC-2GX4, by which the owner refers to something that waits for
// them.
func NewCode() string { return displayCode(codeFrom(rand.Reader)) }

// SameCode reports whether typed is code, ignoring case and dashes.
func SameCode(typed, code string) bool {
	bare, ok := parseCode(typed)
	return ok && displayCode(bare) == code
}
