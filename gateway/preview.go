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

// What a call removes does not show in its name: to replace the text of a note by
// nothing is to delete it. So before a change of notes is decided, the embedded
// program works it out. One that would remove much is judged, asked about, shown
// and logged as destructive. What changes between that and the run is caught by the
// embedded program itself, which is told to be sparing.

// assessLoss judges a plan by what it would do. err is what the plan came with.
func (g *vaultGateway) assessLoss(ctx context.Context, req Request, plan Plan, err error) (Plan, error) {
	if err != nil && !needsApproval(err) || plan.policy.Confirm == policy.ConfirmNever || !plan.mayLose() {
		return plan, err
	}
	own := g.embeddedProgram()
	if own == nil {
		return plan, err // the commands that could remove a text are those of the embedded program
	}
	ctx, cancel := context.WithTimeout(ctx, g.runner.Timeout())
	defer cancel()
	release, busy := g.admission.Acquire(ctx, req.Caller, plan.call.Name(), g.running)
	if busy != nil {
		return plan, busy
	}
	defer release()
	planned, failure, broken := g.planned(ctx, plan.routes[0], *own)
	if broken != nil || failure != nil {
		return plan, err // the call itself will say so, if it is so then
	}
	for _, f := range planned.files() {
		plan.changed = append(plan.changed, f.Path)
	}
	return plan.withLoss(planned.Loss, err)
}

// touches are the notes that a call changes, as far as they are known.
func (p Plan) touches() []string {
	if !p.call.Effect().Mutates() || p.changed != nil {
		return p.changed
	}
	if spelled := p.call.NamedPaths(); len(spelled) > 0 {
		return []string{spelled[0].Path}
	}
	return nil
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

// plannedChange is what a call would change, as the embedded program says it.
type plannedChange struct {
	Path  string // of the note that it is about
	Files []struct {
		consent.PlannedFile
		difference.Change
	}
	Loss   string `json:"loses"`  // why the change is destructive, "" if it is not
	Broken string `json:"broken"` // what it does to links of other notes, "" for nothing
	Digest string // for [exec.WriteOptions]
}

func (p plannedChange) files() (list []consent.PlannedFile) {
	for _, f := range p.Files {
		list = append(list, f.PlannedFile)
	}
	return list
}

// changes are those of the files, nil where there is none.
func (p plannedChange) changes() (list []difference.Change) {
	for _, f := range p.Files {
		list = append(list, f.Change)
	}
	return list
}

// diff shows the change in the form of diff -u.
func (p plannedChange) diff() string {
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
	own, err := g.embedded()
	if err != nil {
		return nil // the folder is gone, or was never there: the app says what that means
	}
	return &own
}
