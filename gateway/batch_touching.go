package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/consent"
	"vaultwicket/policy/access"
)

// touching names the operations of a batch that nobody has to be asked about, and
// that change a note which the user is asked about. One of which that cannot be
// told before the batch runs is named as well: it takes a value from another
// operation, or would fail on the notes as they are.
func (g *vaultGateway) touching(ctx context.Context, plan *batchPlan, asked []consent.Question) string {
	paths := map[string]bool{}
	for _, q := range asked {
		for _, path := range q.Paths() {
			paths[access.Fold(path)] = true
		}
	}
	isAsked := func(path string) bool { return paths[access.Fold(path)] }
	var b strings.Builder
	for i, step := range plan.steps {
		if step.isAsked(plan, i) || !step.call.Effect().Mutates() {
			continue
		}
		files, known := g.filesOf(ctx, plan.batch, step)
		if known && !slices.ContainsFunc(files, func(f consent.PlannedFile) bool { return slices.ContainsFunc(f.Places(), isAsked) }) {
			continue
		}
		fmt.Fprintf(&b, "operation %d: %s\n", i+1, step.call.Name())
		for _, f := range files[:min(len(files), consent.MaxShownFiles)] {
			b.WriteString(f.Row())
		}
		if !known {
			b.WriteString(step.spelledRows())
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
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
	return planned.Files, err == nil && failure == nil
}

// spelledRows shows the names and paths that an operation has.
func (s batchStep) spelledRows() string {
	var b strings.Builder
	command, _ := allowlist.Describe(s.call.Name())
	for _, p := range command.Params {
		if from, ok := s.From[p.Name]; ok {
			b.WriteString(consent.Row(p.Name+", from the result of", from.ClientID))
			continue
		}
		value, ok := s.call.Param(p.Name)
		if ok && p.Kind != "content" && p.Kind != "text" && p.Kind != "flag" {
			b.WriteString(consent.Row(p.Name, value))
		}
	}
	return b.String()
}
