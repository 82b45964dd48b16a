package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/exec"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/difference"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// The name of a call does not say what it removes: to replace the text of a note by nothing
// is to delete it. So before a change of notes is decided, the embedded program works it out,
// once. The plan carries it to the question, the preview and the run. A change that removes
// much is judged, asked about, shown and logged as destructive. Notes can change before the
// run: then the embedded program refuses a change that is not the approved one, or, where the
// user was not asked, one that removes much.

// assessLoss judges a plan by what it would do. err is the error that came with the plan.
func (g *vaultGateway) assessLoss(ctx context.Context, req Request, plan Plan, err error) (Plan, error) {
	if err != nil && !needsApproval(err) || plan.policy.Confirm == policy.ConfirmNever || !plan.mayLose() {
		return plan, err
	}
	if plan.change == nil && g.embeddedProgram() != nil { // the commands that could remove a text are those of the embedded program
		ctx, cancel := context.WithTimeout(ctx, g.runner.Timeout())
		defer cancel()
		release, busy := g.admission.Acquire(ctx, req.Caller, plan.call.Name(), g.running)
		if busy != nil {
			return plan, busy
		}
		defer release()
		_ = g.workOut(ctx, &plan) // if it fails, the call itself says why
	}
	if plan.change == nil {
		return plan, err
	}
	return plan.withLoss(plan.change.Loss, err)
}

// workOut has the embedded program work out what a plan would do to notes, unless the plan
// has it already. The change stays nil where there is none: for a call that changes no notes,
// and in a vault whose folder is not known.
func (g *vaultGateway) workOut(ctx context.Context, plan *Plan) error {
	if plan.change != nil || len(plan.routes) == 0 || !plan.routes[0].changesNotes() || !plan.routes[0].decision.Preview().Valid() {
		return nil
	}
	own := g.embeddedProgram()
	if own == nil {
		return nil
	}
	var err error
	plan.change, err = g.planned(ctx, plan.routes[0], *own)
	return err
}

// planned has the embedded program work out the change of a route.
func (g *vaultGateway) planned(ctx context.Context, r route, own exec.Program) (*plannedChange, error) {
	out, err := g.runner.Preview(ctx, r.decision.Preview(), own.WithOptions(exec.WriteOptions{Task: exec.Plan, Expect: r.expect, Caller: argument(r.caller)}))
	if err != nil {
		return nil, err
	}
	change := &plannedChange{failure: out.Failure}
	if out.Failure == nil {
		*change = readPlanned(out.Stdout)
	}
	return change, nil
}

// touches are the notes that a call changes, as far as they are known.
func (p Plan) touches() (paths []string) {
	if p.change != nil {
		for _, f := range p.change.Files {
			paths = append(paths, f.Path)
		}
	}
	if paths == nil && p.call.Effect().Mutates() {
		for _, spelled := range p.call.NamedPaths()[:min(1, len(p.call.NamedPaths()))] {
			paths = append(paths, spelled.Path)
		}
	}
	return paths
}

// mayLose reports whether the plan changes notes, and is not destructive anyway.
func (p Plan) mayLose() bool {
	return len(p.routes) > 0 && p.routes[0].decision.Preview().Valid() && p.call.Effect() == tiers.Writes
}

// withLoss returns the plan as one of which it is known what it would remove, judged
// again. err is what it came with.
func (p Plan) withLoss(why string, err error) (Plan, error) {
	if why == "" {
		return p, err
	}
	p.call = p.call.WithLoss(clean.Line(why))
	p.decision = p.policy.Decide(p.call)
	p.routes = slices.Clone(p.routes)
	for i, r := range p.routes {
		decision, err := inVault(p.decision, r.call.Vault())
		if err != nil {
			return p, err
		}
		r.decision = decision
		r.call = r.decision.Call()
		p.routes[i], _ = r.permitted() // without a permit it is only shown
	}
	if p.refusal = p.decision.Err(); p.refusal != nil {
		err = p.refusal
	}
	return p, err
}

// plannedChange is what a call would change, as the embedded program reports it.
type plannedChange struct {
	failure *exec.Failure // why there is no change
	Path    string        // of the note that it is about
	Files   []struct {
		consent.PlannedFile
		difference.Change
	}
	Loss   string `json:"loses"`  // why the change is destructive, "" if it is not
	Broken string `json:"broken"` // what it does to links of other notes, "" for nothing
	Digest string // that the run has to have, see [exec.WriteOptions]
}

func (p *plannedChange) files() (list []consent.PlannedFile) {
	if p == nil {
		return nil
	}
	for _, f := range p.Files {
		list = append(list, f.PlannedFile)
	}
	return list
}

// changes are those of the files, nil where there is none.
func (p *plannedChange) changes() (list []difference.Change) {
	if p == nil {
		return nil
	}
	for _, f := range p.Files {
		list = append(list, f.Change)
	}
	return list
}

// diff shows the change in the form of diff -u.
func (p *plannedChange) diff() string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	for _, f := range p.Files {
		from, to := "a/"+cmp.Or(f.From, f.Path), "b/"+f.Path
		switch {
		case f.PlannedFile.From != "":
			fmt.Fprintf(&b, "rename from %s\nrename to %s\n", f.From, f.Path)
		case f.Before == "":
			from = "/dev/null"
		case f.After == "":
			to = "/dev/null"
		}
		if f.From == "" || len(f.Lines) > 0 || f.Binary {
			b.WriteString(f.Unified(from, to))
		}
	}
	return clean.String(b.String())
}

func readPlanned(answer string) (p plannedChange) {
	if json.Unmarshal([]byte(answer), &p) != nil {
		return plannedChange{}
	}
	for _, f := range p.Files {
		for i, l := range f.Lines {
			if text := clean.String(l.Text); text != l.Text {
				f.Lines[i].Text, f.Lines[i].From, f.Lines[i].To, f.Lines[i].Cuts = text, 0, len(text), nil
			}
		}
	}
	return p
}

// embeddedProgram returns the program that keeps a change of the app, nil if there is
// none.
func (g *vaultGateway) embeddedProgram() *exec.Program {
	own, err := g.embedded()
	if err != nil {
		return nil // the folder is gone, or was never there: the app says what that means
	}
	return &own
}
