package command

import (
	"encoding/json"
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/session"
)

// plannedFile is one file of a plan, as the gateway reads it.
type plannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"` // hashes, "" where there is no file
	After  string `json:"after,omitempty"`
}

// showPlan prints what would be done, as JSON.
func showPlan(v *session.Vault, p Proposal) (answer.Reply, error) {
	plan := struct {
		Path   string        `json:"path"`
		Says   string        `json:"says"`
		Files  []plannedFile `json:"files"`
		Diff   string        `json:"diff"`
		Loses  string        `json:"loses,omitempty"` // why the change is destructive
		Digest string        `json:"digest"`
	}{Path: p.Note.String(), Says: p.Message, Files: []plannedFile{}, Loses: p.loss(), Digest: digestOf(v, p)}
	var diff strings.Builder
	var left []Step
	for _, s := range p.Steps {
		if s.IsNoop() {
			continue
		}
		file := plannedFile{Path: s.Path.String(), From: s.From.String()}
		if s.Before.Exists {
			file.Before = answer.Digest(s.Before.Text)
		}
		if s.After.Exists {
			file.After = answer.Digest(s.After.Text)
		}
		plan.Files = append(plan.Files, file)
		text := s.Diff()
		if diff.Len()+len(text) > maxDiff {
			left = append(left, s)
			continue
		}
		diff.WriteString(text)
	}
	for _, s := range left {
		n := Proposal{Steps: []Step{s}}.counts()
		fmt.Fprintf(&diff, "# %s: %d lines added, %d removed; too long to be shown\n", s.Path, n.Added, n.Removed)
	}
	plan.Diff = diff.String()
	text, err := json.Marshal(plan)
	return answer.Text(string(text)), err
}
