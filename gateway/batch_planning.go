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

// An atomic batch is planned before it is made: the embedded program works out each operation on the vault as those before it
// will leave it, and nothing of that is on the disk. Then all of it is made as one transaction. If an operation fails, nothing was
// changed. What only the app can do comes last: it is done once the rest is made, and taken back with it if it fails.

// planning is what is planned of a batch so far. A nil planning is that of a call that is made at once.
type planning struct {
	batch protocol.Batch
	// last is an operation that is planned, under whose permit the batch is made.
	last route
	// isRehearsal says that nothing of it is ever made.
	isRehearsal bool
	// isAlone says that the lock of the journal is held until the batch has ended: no one else writes.
	isAlone bool
}

// over returns the embedded program for the vault as the planned operations will leave it.
func (p *planning) over(program exec.Program) exec.Program {
	if p == nil {
		return program
	}
	return program.InBatch(p.batch)
}

// task returns what the embedded program is asked to work out the change of an operation.
func (p *planning) task() protocol.Task {
	if p != nil && p.isRehearsal {
		return protocol.Rehearse
	}
	return protocol.Plan
}

// rehearsed notes that an operation was worked out, which the next ones see.
func (p *planning) rehearsed(r route, out exec.Outcome) {
	if p == nil || !p.isRehearsal {
		return
	}
	if isAdded := out.Failure == nil && out.Planned > p.batch.Planned; isAdded {
		p.batch.Planned = out.Planned
		p.last = r
	}
}

// sum has the embedded program show what the rehearsed operations do together, and forget them. It is nil if they do nothing.
func (p *planning) sum(ctx context.Context, g *vaultGateway) (*plannedChange, error) {
	own := g.embeddedProgram()
	if own == nil || p.batch.Planned == 0 {
		return nil, nil
	}
	r := p.last
	return g.plannedBy(ctx, r, p.over(*own).WithOptions(protocol.Write{Task: protocol.Sum}), nil)
}

// plan has an operation that changes something be planned by a program.
func (p *planning) plan(ctx context.Context, g *vaultGateway, r route, program exec.Program) (exec.Outcome, error) {
	out, err := g.runner.Run(ctx, r.permit, program)
	if err == nil && out.Failure == nil && out.Planned > p.batch.Planned {
		p.batch.Planned = out.Planned
		p.last = r
	}
	return out, err
}

// make makes what is planned, which rests on some notes, see [protocol.Write].
func (p *planning) make(ctx context.Context, g *vaultGateway, rests string) (exec.Outcome, error) {
	own := g.embeddedProgram()
	if own == nil {
		return exec.Outcome{ExitCode: -1}, errNoFolder
	}
	r := p.last
	r.program = *own
	r.alone = p.isAlone
	how := protocol.Write{Task: protocol.Commit, Batch: p.batch.ID, Alone: p.isAlone, Rests: rests}
	out, err := g.runner.Run(ctx, r.permit, own.InBatch(p.batch).WithOptions(how))
	if err != nil {
		return g.settledOutcome(ctx, r, p.batch.ID, out, err)
	}
	if out.Failure != nil {
		err = out.Failure
	}
	return out, err
}

// drop forgets what is planned.
func (p *planning) drop(ctx context.Context, g *vaultGateway) {
	own := g.embeddedProgram()
	if own == nil || p.batch.Planned == 0 {
		return
	}
	how := protocol.Write{Task: protocol.Drop}
	// If it cannot be told, the worker has ended, and with it what it had planned.
	_, _ = g.runner.Preview(context.WithoutCancel(ctx), p.last.decision.Preview(), own.InBatch(p.batch).WithOptions(how))
}

// isOfApp reports whether an operation is one that the app carries out.
func (s batchStep) isOfApp() bool {
	return len(s.plan.routes) > 0 && s.plan.routes[0].program.Backend() == string(App) && !s.plan.routes[0].restoresVersion()
}

// divide finds the first operation of an atomic batch that the app carries out after something was changed, or that changes
// something itself. Those before it are planned and made together. clientID is that of an operation that cannot come where it
// does.
func (p *batchPlan) divide() (clientID string, err error) {
	p.planned = len(p.steps)
	isChanged := false
	for i, step := range p.steps {
		changes := step.plan.call.Effect().Mutates()
		if step.isOfApp() && (changes || isChanged) {
			p.planned = min(p.planned, i)
		}
		switch {
		case changes && i >= p.planned && !step.isOfApp():
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
		p.planned = 0 // nothing is to be made together
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

// maxBatchTries is how often the operations of a batch are planned while others write, the last time alone.
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

// tryTogether is one try of [vaultGateway.makeTogether]. isStale says that notes were changed meanwhile, and that nothing
// was made.
func (g *vaultGateway) tryTogether(ctx context.Context, plan *batchPlan) (result BatchResult, isStale bool) {
	r := g.newRun(ctx, plan)
	defer r.planning.drop(ctx, g)
	return r.planAndMake(plan)
}

// tryAlone is [vaultGateway.tryTogether] while no one else writes, from the first operation on.
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

// planAndMake plans the operations of a batch, and makes them unless one of them failed.
func (r *batchRun) planAndMake(plan *batchPlan) (result BatchResult, isStale bool) {
	r.runStages(plan.stages())
	if r.failed {
		r.leaveUnmade("an operation failed, and the batch is atomic")
		return r.report(), false
	}
	return r.makePlanned()
}

// lockForBatch takes the lock of the journal, for a batch during which no one else writes.
func (g *vaultGateway) lockForBatch(ctx context.Context, plan *batchPlan) (unlock func(), refusal *BatchResult) {
	release, err := g.admission.Acquire(ctx, plan.batch.Caller, telemetry.BatchCommand, g.writing)
	if err != nil {
		refused := RejectBatch("", err)
		return nil, &refused
	}
	kept, err := g.journal(g.target().Folder)
	if err != nil {
		release()
		refused := g.refuseBatch(ctx, plan.batch, "", err)
		return nil, &refused
	}
	free, err := kept.Lock(ctx)
	if err != nil {
		release()
		refused := g.refuseBatch(ctx, plan.batch, "",
			failure.New(failure.CodeConflict, "try again", "another program changes the vault: %s", excerpt.Reason(err)))
		return nil, &refused
	}
	return func() {
		free()
		release()
	}, nil
}

// makePlanned makes what is planned, and says in the results of the operations what became of it.
func (r *batchRun) makePlanned() (result BatchResult, isStale bool) {
	if r.planning.batch.Planned == 0 { // nothing is to be changed
		r.endHeld(nil)
		return r.report(), false
	}
	g := r.gateway
	if !r.planning.isAlone {
		release, err := g.admission.Acquire(r.ctx, r.batch.Caller, telemetry.BatchCommand, g.writing)
		if err != nil {
			r.leaveUnmade("the batch was not made")
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
		r.endHeld(errStaleBatch)
		return BatchResult{}, true
	case err == nil:
		r.endHeld(nil)
		result = r.report()
		result.Notices = append(result.Notices, failure.Sentences(out.Notices)...)
		return result, false
	}
	cause := failure.Of(err)
	switch {
	case out.Partly != nil:
		cause.Made = failure.Sentences(out.Partly.Made)
		cause.NotMade = failure.Sentences(out.Partly.Unmade)
		r.endHeld(err)
	case mayHaveActed(err): // the gateway ends: whoever has the vault next completes it or takes it back
		r.endHeld(err)
	default:
		r.leaveUnmade("the batch could not be made")
	}
	result = r.report()
	result.Error = cause
	result.OK = false
	return result, false
}

// rests returns the notes whose texts operations have taken from results of others, see [protocol.Write].
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

// errStaleBatch ends the records of operations that are planned once more.
var errStaleBatch = failure.New(failure.CodeNotApplied, "", "notes were changed meanwhile, and the operation is worked out anew")

// leaveUnmade notes of the operations of a batch that their changes are not made, and why.
func (r *batchRun) leaveUnmade(why string) {
	for i := range r.done {
		done := &r.done[i]
		isPlanned := r.held[i] != nil && done.Status == statusOK
		if !isPlanned || r.results[i].Changed != nil { // it would have changed nothing
			continue
		}
		isBack := true
		done.Undone = &isBack
		done.Notice = "not applied: " + why
		if done.Result != nil {
			done.Result.Change = nil
		}
		r.results[i].Change = nil
	}
	r.endHeld(failure.New(failure.CodeNotApplied, "", "nothing of the batch was changed: %s", why))
}

// endHeld ends the records of the operations that are planned: as their results say, or with an error.
func (r *batchRun) endHeld(err error) {
	for i, line := range r.held {
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
		r.held[i] = nil
	}
}

// holdEnd returns what keeps the record of an operation until it is known whether it is made.
func (r *batchRun) holdEnd(i int) func(*audit.Record) {
	if r.planning == nil || i >= r.planned {
		return nil
	}
	return func(line *audit.Record) { r.held[i] = line }
}
