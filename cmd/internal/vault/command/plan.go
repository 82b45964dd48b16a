package command

import (
	"encoding/json"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/difference"
)

// plannedFile is one file of a plan, as the gateway reads it.
type plannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"` // hashes, "" where there is no file
	After  string `json:"after,omitempty"`
	difference.Change
}

// showPlan prints what would be done, as JSON.
func showPlan(v *session.Vault, p Proposal) (answer.Reply, error) {
	plan := struct {
		Path   string        `json:"path"`
		Says   string        `json:"says"`
		Files  []plannedFile `json:"files"`
		Loses  string        `json:"loses,omitempty"`  // why the change is destructive
		Broken string        `json:"broken,omitempty"` // what it does to links
		Digest string        `json:"digest"`
	}{Path: p.Note.String(), Says: p.Message, Files: []plannedFile{}, Loses: p.loss(), Broken: p.Broken.String(), Digest: digestOf(v, p)}
	var changes []difference.Change
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
		// The first files may take all that is told; what is kept of many stays small.
		extent := difference.Extent{Rows: maxPlannedLines, Bytes: max(1<<10, 4*maxPlanned/len(plan.Files)), Line: maxPlannedLine}
		changes = append(changes, difference.Fit([]difference.Change{difference.Of(s.Before.Text, s.After.Text)}, extent)...)
	}
	changes = difference.Fit(changes, difference.Extent{Rows: maxPlannedLines, Bytes: maxPlanned, Line: maxPlannedLine})
	for i, c := range changes {
		plan.Files[i].Change = c
	}
	text, err := json.Marshal(plan)
	return answer.Text(string(text)), err
}
