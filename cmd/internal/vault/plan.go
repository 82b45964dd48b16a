package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// What of a plan is shown. A move may change the links of every note.
const (
	maxDiff  = 256 << 10 // bytes, of all differences together
	maxDiffs = 1 << 20   // bytes of a note whose difference is worked out
)

// plannedFile is one file of a plan, as the gateway reads it.
type plannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"` // hashes, "" where there is no file
	After  string `json:"after,omitempty"`
}

// showPlan prints what would be done, as JSON.
func (v *vault) showPlan(p proposal) (reply, error) {
	plan := struct {
		Path   string        `json:"path"`
		Says   string        `json:"says"`
		Files  []plannedFile `json:"files"`
		Diff   string        `json:"diff"`
		Loses  string        `json:"loses,omitempty"` // why the change is destructive
		Digest string        `json:"digest"`
	}{Path: p.note.String(), Says: p.said, Files: []plannedFile{}, Loses: p.loss(), Digest: v.digestOf(p)}
	var diff strings.Builder
	left := 0
	for _, s := range p.steps {
		if s.idle() {
			continue
		}
		file := plannedFile{Path: s.path.String(), From: s.from.String()}
		if s.before.there {
			file.Before = digest(s.before.text)
		}
		if s.after.there {
			file.After = digest(s.after.text)
		}
		plan.Files = append(plan.Files, file)
		text := s.diff()
		if diff.Len()+len(text) > maxDiff {
			left++
			continue
		}
		diff.WriteString(text)
	}
	if left > 0 {
		fmt.Fprintf(&diff, "# and %d more files\n", left)
	}
	plan.Diff = diff.String()
	text, err := json.Marshal(plan)
	return say(string(text)), err
}

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
