package gateway

import (
	"context"
	"encoding/json"
	"vaultwicket/exec"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
)

// plannedChange is what a call would change, as the embedded program says it.
type plannedChange struct {
	Path   string // of the note that it is about
	Files  []consent.PlannedFile
	Diff   string
	Loses  string // why the change is destructive, "" if it is not
	Digest string // for [exec.WriteOptions]
}

func readPlanned(answer string) (p plannedChange) {
	if json.Unmarshal([]byte(answer), &p) != nil {
		return plannedChange{}
	}
	p.Diff = clean.String(p.Diff)
	return p
}

// planned has the embedded program work out what a call would change.
func (g *vaultGateway) planned(ctx context.Context, r route, own exec.Program) (plannedChange, *exec.Failure, error) {
	out, err := g.runner.Preview(ctx, r.decision.Preview(), own.WithOptions(exec.WriteOptions{Task: exec.Plan, Expect: r.expect, Caller: argument(r.caller)}))
	if err != nil || out.Failure != nil {
		return plannedChange{}, out.Failure, err
	}
	return readPlanned(out.Stdout), nil, nil
}

// embeddedProgram returns the program that keeps a change of the app, nil if there is
// none.
func (g *vaultGateway) embeddedProgram() *exec.Program {
	folder := g.target().folder
	if folder == "" {
		return nil
	}
	own, err := g.runner.Embedded(folder)
	if err != nil {
		return nil // the folder is gone, or was never there: the app says what that means
	}
	return &own
}
