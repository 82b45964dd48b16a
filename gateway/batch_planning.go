package gateway

import (
	"context"
	"strings"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// An atomic batch is planned before it is made: the embedded program works out each operation on the vault as the
// operations before it will leave it, and writes nothing to the disk. Then everything is made as one transaction. If
// an operation fails, nothing has changed. What only the app can do comes last: it is done after the rest, and all
// is undone if it fails.

// planning is the planned part of a batch. A nil planning means that a call is made immediately.
type planning struct {
	batch protocol.Batch
	// last is a planned operation. The batch is made under its permit.
	last route
	// isRehearsal means that none of it will be made.
	isRehearsal bool
	// isAlone means that the lock of the journal is held until the batch has ended, so that nobody else writes.
	isAlone bool
}

// over returns the embedded program on the vault as the planned operations will leave it.
func (p *planning) over(program exec.Program) exec.Program {
	if p == nil {
		return program
	}
	return program.InBatch(p.batch)
}

// task returns the task of the embedded program when it works out the change of an operation.
func (p *planning) task() protocol.Task {
	if p != nil && p.isRehearsal {
		return protocol.Rehearse
	}
	return protocol.Plan
}

// rehearsed records that an operation was worked out, so that the next operations see its change.
func (p *planning) rehearsed(r route, out exec.Outcome) {
	if p == nil || !p.isRehearsal {
		return
	}
	if isAdded := out.Failure == nil && out.Planned > p.batch.Planned; isAdded {
		p.batch.Planned = out.Planned
		p.last = r
	}
}

// sum returns what the rehearsed operations do together, nil if they do nothing. The embedded program then forgets
// them.
func (p *planning) sum(ctx context.Context, g *vaultGateway) (*plannedChange, error) {
	own := g.embeddedProgram()
	if own == nil || p.batch.Planned == 0 {
		return nil, nil
	}
	r := p.last
	return g.previewChange(ctx, r, p.over(*own).WithOptions(protocol.Write{Task: protocol.Sum}), nil)
}

// plan makes a program plan an operation that changes something.
func (p *planning) plan(ctx context.Context, g *vaultGateway, r route, program exec.Program) (exec.Outcome, error) {
	out, err := g.runner.Run(ctx, r.permit, program)
	if err == nil && out.Failure == nil && out.Planned > p.batch.Planned {
		p.batch.Planned = out.Planned
		p.last = r
	}
	return out, err
}

// make makes the planned operations. rests lists the notes that they depend on, see [protocol.Write].
func (p *planning) make(ctx context.Context, g *vaultGateway, rests string) (exec.Outcome, error) {
	own := g.embeddedProgram()
	if own == nil {
		return exec.Outcome{ExitCode: -1}, errNoFolder
	}
	r := p.last
	r.program = *own
	r.alone = p.isAlone
	options := protocol.Write{Task: protocol.Commit, Batch: p.batch.ID, Alone: p.isAlone, Rests: rests}
	out, err := g.runner.Run(ctx, r.permit, own.InBatch(p.batch).WithOptions(options))
	if err != nil {
		return g.settleOutcome(ctx, r, p.batch.ID, out, err)
	}
	if out.Failure != nil {
		err = out.Failure
	}
	return out, err
}

// drop makes the embedded program forget the planned operations.
func (p *planning) drop(ctx context.Context, g *vaultGateway) {
	own := g.embeddedProgram()
	if own == nil || p.batch.Planned == 0 {
		return
	}
	options := protocol.Write{Task: protocol.Drop}
	// If this fails, the worker has ended, and its plans with it.
	_, _ = g.runner.Preview(context.WithoutCancel(ctx), p.last.decision.Preview(), own.InBatch(p.batch).WithOptions(options))
}

// runsInApp reports whether the app carries out an operation.
func (s batchStep) runsInApp() bool {
	return len(s.plan.routes) > 0 && s.plan.routes[0].program.Backend() == string(App) && !s.plan.routes[0].restoresVersion()
}

// divide sets how many operations of an atomic batch are planned and made together. The rest starts with the first
// operation of the app that changes something or comes after a change. clientID is the operation that cannot be
// where it is.
func (p *batchPlan) divide() (clientID string, err error) {
	p.planned = len(p.steps)
	isChanged := false
	for i, step := range p.steps {
		changes := step.plan.call.Effect().Mutates()
		if step.runsInApp() && (changes || isChanged) {
			p.planned = min(p.planned, i)
		}
		switch {
		case changes && i >= p.planned && !step.runsInApp():
			return step.ClientID, failure.New(
				failure.CodeBadRequest,
				"put the operations of the app last, or send the operation alone",
				"command %q comes after one that only the app carries out, with which it cannot be made together",
				step.Command,
			)
		case isChanged && i < p.planned && step.plan.call.Apart():
			return step.ClientID, failure.New(
				failure.CodeBadRequest,
				"put it before the changes, or send it alone",
				"command %q reads the file in a process of its own, which does not see what the operations before it change",
				step.Command,
			)
		}
		isChanged = isChanged || changes
	}
	if p.planned < len(p.steps) && !p.changesBefore(p.planned) {
		p.planned = 0 // there is nothing to make together
	}
	return "", nil
}

// changesBefore reports whether one of the first n operations changes something.
func (p *batchPlan) changesBefore(n int) bool {
	for _, step := range p.steps[:n] {
		if step.plan.call.Effect().Mutates() {
			return true
		}
	}
	return false
}

// maxBatchTries is how often a batch is planned if others write meanwhile. The last time nobody else may write.
const maxBatchTries = 3

// makeTogether plans all operations of an atomic batch and makes them together.
func (g *vaultGateway) makeTogether(ctx context.Context, plan *batchPlan) BatchResult {
	for try := 1; ; try++ {
		attempt := g.tryTogether
		if try == maxBatchTries {
			attempt = g.tryAlone
		}
		if result, isStale := attempt(ctx, plan); !isStale {
			return result
		}
	}
}

// tryTogether is one try of [vaultGateway.makeTogether]. isStale means that notes were changed meanwhile and that
// nothing was made.
func (g *vaultGateway) tryTogether(ctx context.Context, plan *batchPlan) (result BatchResult, isStale bool) {
	r := g.newRun(ctx, plan)
	defer r.planning.drop(ctx, g)
	return r.planAndMake(plan)
}

// tryAlone is like [vaultGateway.tryTogether], but nobody else can write from the first operation on.
func (g *vaultGateway) tryAlone(ctx context.Context, plan *batchPlan) (result BatchResult, isStale bool) {
	unlock, refusal := g.lockForBatch(ctx, plan)
	if refusal != nil {
		return *refusal, false
	}
	defer unlock()
	r := g.newRun(ctx, plan)
	r.planning.isAlone = true
	defer r.planning.drop(ctx, g)
	return r.planAndMake(plan)
}

// planAndMake plans the operations of a batch, and makes them unless one of them has failed.
func (r *batchRun) planAndMake(plan *batchPlan) (result BatchResult, isStale bool) {
	r.runStages(plan.stages())
	if r.failed {
		r.markUnmade("an operation failed, and the batch is atomic")
		return r.report(), false
	}
	return r.makePlanned()
}

// lockForBatch acquires the lock of the journal for a batch during which nobody else may write.
func (g *vaultGateway) lockForBatch(ctx context.Context, plan *batchPlan) (unlock func(), refusal *BatchResult) {
	release, err := g.admission.Acquire(ctx, plan.batch.Caller, telemetry.BatchCommand, g.writing)
	if err != nil {
		refused := RejectBatch("", err)
		return nil, &refused
	}
	undoJournal, err := g.journal(g.target().Folder)
	if err != nil {
		release()
		refused := g.refuseBatch(ctx, plan.batch, "", err)
		return nil, &refused
	}
	unlockJournal, err := undoJournal.Lock(ctx)
	if err != nil {
		release()
		refused := g.refuseBatch(ctx, plan.batch, "",
			failure.New(failure.CodeConflict, "try again", "another program changes the vault: %s", excerpt.Reason(err)))
		return nil, &refused
	}
	return func() {
		unlockJournal()
		release()
	}, nil
}

// makePlanned makes the planned operations, and updates their results with the outcome.
func (r *batchRun) makePlanned() (result BatchResult, isStale bool) {
	if r.planning.batch.Planned == 0 { // there is nothing to change
		r.closeRecords(nil)
		return r.report(), false
	}
	g := r.gateway
	if !r.planning.isAlone {
		release, err := g.admission.Acquire(r.ctx, r.batch.Caller, telemetry.BatchCommand, g.writing)
		if err != nil {
			r.markUnmade("the batch was not made")
			result = r.report()
			result.Error = failure.Of(err)
			result.OK = false
			return result, false
		}
		defer release()
	}
	out, err := r.planning.make(r.ctx, g, r.rests())
	switch {
	case err == nil && out.Stale:
		r.closeRecords(errStaleBatch)
		return BatchResult{}, true
	case err == nil:
		r.closeRecords(nil)
		result = r.report()
		result.Notices = append(result.Notices, failure.Sentences(out.Notices)...)
		return result, false
	}
	cause := failure.Of(err)
	switch {
	case out.Partly != nil:
		cause.Made = failure.Sentences(out.Partly.Made)
		cause.Moved = failure.Sentences(out.Partly.Moved)
		cause.NotMade = failure.Sentences(out.Partly.Unmade)
		r.markUncertain(err)
	case mayHaveActed(err) || cause.Code == failure.CodeUnknown: // whoever has the vault next completes or undoes the batch
		r.markUncertain(err)
	default:
		r.markUnmade("the batch could not be made")
	}
	result = r.report()
	result.Error = cause
	result.OK = false
	return result, false
}

// rests returns the notes whose texts were used by other operations, as pairs of hash and path, see [protocol.Write].
func (r *batchRun) rests() string {
	var rests strings.Builder
	for i, step := range r.steps[:r.planned] {
		isTaken := !step.plan.call.Effect().Mutates() && r.done[i].Status == statusOK && r.isReferredTo(i)
		if !isTaken {
			continue
		}
		path := r.results[i].Path
		hash := r.results[i].Hash
		if path == "" || hash == "" {
			path = ""
			hash = ""
		}
		rests.WriteString(hash + "\x00" + path + "\x00")
	}
	return rests.String()
}

// errStaleBatch ends the audit records of operations that are planned once more.
var errStaleBatch = failure.New(failure.CodeNotApplied, "", "notes were changed meanwhile, and the operation is worked out anew")

// markUnmade records in the results of the planned operations that their changes were not made, and why.
func (r *batchRun) markUnmade(why string) {
	r.withdrawChanges(true, "not applied: "+why)
	r.closeRecords(failure.New(failure.CodeNotApplied, "", "nothing of the batch was changed: %s", why))
}

// markUncertain records in the results of the planned operations that err, which is that of the batch, says what is known
// of their changes.
func (r *batchRun) markUncertain(err error) {
	r.withdrawChanges(false, "not undone, and not made as planned: the error of the batch says what is known")
	r.closeRecords(err)
}

// withdrawChanges removes the changes from the results of the planned operations. isUndone tells whether nothing remains
// of them.
func (r *batchRun) withdrawChanges(isUndone bool, notice string) {
	for i := range r.done {
		done := &r.done[i]
		isPlanned := r.openRecords[i] != nil && done.Status == statusOK
		if !isPlanned || r.results[i].Changed != nil { // it would have changed nothing
			continue
		}
		done.Undone = &isUndone
		done.Notice = notice
		if done.Result != nil {
			done.Result.Change = nil
		}
		r.results[i].Change = nil
	}
}

// closeRecords ends the audit records of the planned operations, with err or, if it is nil, with their results.
func (r *batchRun) closeRecords(err error) {
	for i, line := range r.openRecords {
		if line == nil {
			continue
		}
		result := r.results[i]
		if err != nil {
			result.OK = false
			result.Error = failure.Of(err)
			result.Change = nil
		}
		result.endedIn(line)
		r.openRecords[i] = nil
	}
}

// keepRecordOpen returns the function that receives the audit record of operation i until it is known whether the
// operation is made. It is nil for an operation that is not planned.
func (r *batchRun) keepRecordOpen(i int) func(*audit.Record) {
	if r.planning == nil || i >= r.planned {
		return nil
	}
	return func(line *audit.Record) { r.openRecords[i] = line }
}
