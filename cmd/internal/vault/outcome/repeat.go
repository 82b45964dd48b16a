package outcome

import "bytes"

// maxRepeated is how many bytes of text are searched for a repetition.
const maxRepeated = 1 << 20

// AddsOnce reports whether text contains what exactly once more than before
// does. It is false for a text of more than a megabyte.
func AddsOnce(text, before []byte, what string) bool {
	return len(text) <= maxRepeated && (what == "" || bytes.Count(text, []byte(what)) == bytes.Count(before, []byte(what))+1)
}
