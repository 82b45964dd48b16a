package gateway

import (
	"context"
	"fmt"
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/state/approvals"
)

// besides tells of the operations of a batch that nobody is asked about: what those that
// change something would change on the notes as they are, or what they name where that
// cannot be told before the batch runs.
func (g *vaultGateway) besides(ctx context.Context, plan *batchPlan) (lines []approvals.Line) {
	say := func(format string, args ...any) {
		lines = append(lines, approvals.Line{Text: fmt.Sprintf(format, args...)})
	}
	reads := 0
	for i, step := range plan.steps {
		switch {
		case step.isAsked(plan, i):
			continue
		case !step.call.Effect().Mutates():
			reads++
			continue
		case len(lines) == 0:
			say("The batch also does this:")
		}
		say("operation %d: %s", i+1, step.call.Name())
		files, known := g.filesOf(ctx, plan.batch, step)
		for _, f := range files[:min(len(files), consent.MaxShownFiles)] {
			lines = append(lines, f.Named())
		}
		if n := len(files) - consent.MaxShownFiles; n > 0 {
			say("and %d more files", n)
		}
		if !known {
			lines = append(lines, step.spelled()...)
		}
	}
	switch {
	case reads == 1:
		say("One more operation only reads.")
	case reads > 1:
		say("%d more operations only read.", reads)
	}
	return lines
}

func (s batchStep) isAsked(plan *batchPlan, i int) bool {
	return slices.ContainsFunc(plan.needApproval, func(a needsApprovalStep) bool { return a.step == i })
}

// filesOf works out what an operation would change on the notes as they are. It
// reports false where that is not what it will change.
func (g *vaultGateway) filesOf(ctx context.Context, b Batch, step batchStep) ([]consent.PlannedFile, bool) {
	own := g.embeddedProgram()
	if own == nil || len(step.references()) > 0 {
		return nil, false
	}
	plan, err := g.Plan(b.from(step.Request))
	if err != nil || len(plan.routes) == 0 || !plan.routes[0].changesNotes() {
		return nil, false
	}
	planned, failure, err := g.planned(ctx, plan.routes[0], *own)
	return planned.files(), err == nil && failure == nil
}

// spelled shows the names and paths that an operation has.
func (s batchStep) spelled() (lines []approvals.Line) {
	command, _ := allowlist.Describe(s.call.Name())
	for _, p := range command.Params {
		if from, ok := s.From[p.Name]; ok {
			lines = append(lines, consent.Named(p.Name+", from the result of", from.ClientID))
			continue
		}
		value, ok := s.call.Param(p.Name)
		if ok && p.Kind != "content" && p.Kind != "text" && p.Kind != "flag" {
			lines = append(lines, consent.Named(p.Name, value))
		}
	}
	return lines
}
