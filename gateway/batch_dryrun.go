package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// BatchDryRun is the plan of a batch: what each operation would do on the vault as the operations before it would
// leave it, and what they would do together.
type BatchDryRun struct {
	OK       bool   `json:"ok"` // the batch would be carried out, possibly after approval; otherwise see Error
	DryRun   bool   `json:"dryRun"`
	Decision string `json:"decision"` // "allow", or "ask" or "deny" if that is the decision on an operation
	// Results are in the order of the operations. It is empty if the batch is malformed.
	Results []OperationDryRun `json:"results"`
	// Files and Diff are like those of DryRun, for the batch as a whole. A file occurs only once.
	Files    []consent.PlannedFile `json:"files,omitempty"`
	Diff     string                `json:"diff,omitempty"`
	Notices  []string              `json:"notices,omitempty"`
	ClientID string                `json:"clientId,omitempty"` // the operation that Error is about, "" for the batch
	Command  string                `json:"command,omitempty"`  // the command of that operation
	Error    *failure.Error        `json:"error,omitempty"`
}

// OperationDryRun is the plan of one operation.
type OperationDryRun struct {
	ClientID string `json:"clientId"`
	DryRun
}

// DryRunBatch plans all operations of a batch and changes nothing. The embedded program works out the changes of the
// operations that are allowed or could be approved, and runs the reads whose values other operations use.
func (g *Gateway) DryRunBatch(ctx context.Context, b Batch) (d BatchDryRun) {
	if b.Taken.IsZero() {
		b.Taken = time.Now()
	}
	b.Caller = g.ofAgent(b.Caller)
	b.Command = telemetry.BatchCommand
	b.Operations = slices.Clone(b.Operations)
	for i := range b.Operations {
		b.Operations[i].Request = b.Operations[i].withOneLimit()
	}
	ctx, observed := telemetry.Begin(ctx, g.observer, telemetry.OnlyPlanned, telemetry.BatchCommand, b.Surface, g.agent)
	defer func() {
		observed.Planned(d.Decision)
		observed.Ended(telemetry.CallOutcome{OK: d.OK, Error: d.Error})
	}()
	var err error
	fault := g.guard(telemetry.BatchCommand, func() {
		var at *vaultGateway
		if at, err = g.vaultNamed(b.Vault); err == nil {
			d = at.dryRunBatch(ctx, b)
		}
	})
	if err = cmp.Or(fault, err); err != nil {
		return RejectBatchDryRun("", err)
	}
	return d
}

// RejectBatchDryRun returns the plan of a malformed batch, see [RejectBatch].
func RejectBatchDryRun(clientID string, err error) BatchDryRun {
	refused := RejectBatch(clientID, err)
	return BatchDryRun{
		DryRun:   true,
		Decision: "deny",
		Results:  []OperationDryRun{},
		ClientID: refused.ClientID,
		Error:    refused.Error,
	}
}

func (g *vaultGateway) dryRunBatch(ctx context.Context, b Batch) BatchDryRun {
	plan, clientID, err := g.newBatchPlan(b)
	if err == nil {
		err = g.admission.Batch(g.accountOf(b.Caller), len(b.Operations), 0)
	}
	if err != nil {
		return RejectBatchDryRun(clientID, err)
	}
	ctx, cancel := g.admission.WithDeadline(ctx, b.Taken, 0)
	defer cancel()
	refused := g.decideAll(plan)
	r := g.newRehearsal(ctx, plan)
	defer r.planning.drop(ctx, g)
	var whole *plannedChange
	if g.embeddedProgram() != nil {
		if i, err := r.rehearseAll(); err != nil {
			return RejectBatchDryRun(plan.steps[i].ClientID, err)
		}
		if whole, err = r.planning.sum(ctx, g); err != nil {
			return RejectBatchDryRun("", err)
		}
	}
	if at, err := g.judgeChanges(plan); err != nil {
		refused[b.find(at)] = err
	}
	return g.describeBatch(ctx, plan, refused, whole)
}

// decideAll judges all operations. It returns the errors of those that are refused by index; an error about the
// batch as a whole has the index -1.
func (g *vaultGateway) decideAll(plan *batchPlan) map[int]error {
	refused := map[int]error{}
	for i := range plan.steps {
		if err := g.decideStep(plan, i); err != nil && !needsApproval(err) {
			refused[i] = err
			plan.steps[i].unknown = err
		}
	}
	if len(refused) > 0 {
		return refused
	}
	if clientID, err := g.joinOperations(plan); err != nil {
		refused[plan.batch.find(clientID)] = err
	}
	return refused
}

// rehearseAll works out all operations. With an error it returns the index of the operation that the error is about.
func (r *rehearsal) rehearseAll() (int, error) {
	for i, step := range r.steps {
		isPlanned := step.plan.changesNotes() && step.unknown == nil
		if isPlanned {
			line := r.gateway.recordOfStep(r.ctx, r.batch, step.Operation, step.plan)
			line.OfProposal(r.proposal)
			line.Previewed(step.plan.backend())
		}
		if err := r.rehearse(i); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// describeBatch describes what the operations would do, separately and together.
func (g *vaultGateway) describeBatch(
	ctx context.Context,
	plan *batchPlan,
	refused map[int]error,
	whole *plannedChange,
) BatchDryRun {
	b := plan.batch
	d := BatchDryRun{OK: true, DryRun: true, Decision: "allow", Results: []OperationDryRun{}}
	share := difference.Extent{
		Rows:  max(maxDiffLines/len(plan.steps), minDiffLines),
		Bytes: max(maxDiff/len(plan.steps), minDiff),
		Line:  maxDiffLine,
	}
	for i, step := range plan.steps {
		o := outlook{plan: step.plan, err: cmp.Or(refused[i], step.plan.refusal)}
		if refused[i] == nil {
			o.notice = step.whyUnknown()
		}
		g.recordDisclosure(step.plan)
		operation := OperationDryRun{ClientID: step.ClientID, DryRun: g.describe(ctx, b.from(step.Request), o, share)}
		operation.sanitize()
		d.add(operation)
	}
	if err := refused[-1]; err != nil {
		d.OK = false
		d.Decision = "deny"
		d.Error = failure.Of(err)
		d.ClientID = ""
		d.Command = ""
	}
	if whole == nil {
		return d
	}
	shown := DryRun{}
	shown.showChange(whole, b.Request, difference.Extent{Rows: maxDiffLines, Bytes: maxDiff, Line: maxDiffLine})
	d.Files = shown.Files
	d.Diff = shown.Diff
	d.Notices = append(d.Notices, failure.Sentences(shown.Notices)...)
	return d
}

// The minimum of a difference that is shown for each of many operations.
const (
	minDiff      = 8 << 10 // bytes
	minDiffLines = 100
)

// whyUnknown says why it is not known what an operation would do, "" if it is known.
func (s batchStep) whyUnknown() string {
	switch {
	case s.unknown != nil:
		return "what would change is not shown: " + s.unknown.Error()
	case len(s.references()) > 0 && s.resolved == nil:
		return fmt.Sprintf("what would change is not shown: it takes a value from %q, which is known when the batch is made",
			s.references()[0].ClientID)
	}
	return ""
}

// add adds the plan of an operation. Error becomes the error of the first operation that was refused or fails, or
// else of the first one that requires approval.
func (d *BatchDryRun) add(operation OperationDryRun) {
	d.Results = append(d.Results, operation)
	weight := map[string]int{"allow": 0, "ask": 1, "deny": 2}
	if weight[operation.Decision] > weight[d.Decision] {
		d.Decision = operation.Decision
	}
	isFirst := d.Error == nil || d.OK && !operation.OK
	if operation.Error != nil && isFirst {
		cause := *operation.Error
		cause.Message = fmt.Sprintf("operation %q: %s", excerpt.Short(operation.ClientID), cause.Message)
		d.Error = &cause
		d.ClientID = excerpt.Short(operation.ClientID)
		d.Command = operation.Command
	}
	d.OK = d.OK && operation.OK
}

// Marked returns the plan with its note texts marked, without the parts that are shown only to people.
func (d BatchDryRun) Marked() BatchDryRun {
	d.Diff = marked(d.Diff)
	d.Notices, d.Error = markedSentences(d.Notices, d.Error)
	d.Results = slices.Clone(d.Results)
	for i, operation := range d.Results {
		d.Results[i].DryRun = operation.DryRun.Marked()
	}
	return d
}
