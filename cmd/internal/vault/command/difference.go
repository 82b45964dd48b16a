package command

import (
	"bytes"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
)

// Diff shows one step in the form of diff -u.
func (s Step) Diff() string {
	from, to := "a/"+s.Path.String(), "b/"+s.Path.String()
	if s.IsMove() {
		from = "a/" + s.From.String()
	}
	if !s.Before.Exists {
		from = "/dev/null"
	}
	if !s.After.Exists {
		to = "/dev/null"
	}
	var head string
	if s.IsMove() {
		head = fmt.Sprintf("rename from %s\nrename to %s\n", s.From, s.Path)
	}
	if bytes.Equal(s.Before.Text, s.After.Text) && head == "" {
		return fmt.Sprintf("--- %s\n+++ %s\n", from, to) // an empty file is made or removed
	}
	return head + UnifiedDiff(from, to, s.Before.Text, s.After.Text)
}

// UnifiedDiff shows the difference of two texts, nothing if there is none.
func UnifiedDiff(from, to string, a, b []byte) string {
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
