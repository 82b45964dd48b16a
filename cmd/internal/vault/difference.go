package vault

import (
	"bytes"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
)

// diff shows one step in the form of diff -u.
func (s step) diff() string {
	from, to := "a/"+s.path.String(), "b/"+s.path.String()
	if s.isMove() {
		from = "a/" + s.from.String()
	}
	if !s.before.there {
		from = "/dev/null"
	}
	if !s.after.there {
		to = "/dev/null"
	}
	var head string
	if s.isMove() {
		head = fmt.Sprintf("rename from %s\nrename to %s\n", s.from, s.path)
	}
	if bytes.Equal(s.before.text, s.after.text) && head == "" {
		return fmt.Sprintf("--- %s\n+++ %s\n", from, to) // an empty file is made or removed
	}
	return head + unified(from, to, s.before.text, s.after.text)
}

// unified shows the difference of two texts, nothing if there is none.
func unified(from, to string, a, b []byte) string {
	switch {
	case bytes.Equal(a, b):
		return ""
	case len(a)+len(b) > maxDiffs, isBinary(a), isBinary(b):
		return fmt.Sprintf("Files %s and %s differ\n", from, to)
	}
	return udiff.Unified(from, to, string(a), string(b))
}

func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 }

// What of a plan is shown. A move may change the links of every note.
const (
	maxDiff  = 256 << 10 // bytes, of all differences together
	maxDiffs = 1 << 20   // bytes of a note whose difference is worked out
)
