package vault

import (
	"encoding/json"
	"fmt"
	"strings"
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
