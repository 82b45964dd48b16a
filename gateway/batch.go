package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// MaxOperations is the maximum number of operations in a [Batch].
const MaxOperations = 100

// Batch is a list of operations that are decided on together and carried out in order.
type Batch struct {
	// Request has what the operations share: Vault, Ask, Answers, OneSession, Shows, Keep, Owner, Caller, Client and
	// Surface. IdempotencyKey applies to the batch as a whole. So does the time limit of one call, counted from
	// Taken: operations that have not begun by then are skipped. MaxOutput limits the output of all operations
	// together, in bytes. It is divided evenly, with 200 bytes for the JSON around each output and a share of at
	// least 128; 0 means no limit.
	Request
	Operations []Operation
	// Atomic makes either all changes or none: the operations are planned, each on the vault as the operations before
	// it will leave it, and then made together. Those that only the app can carry out come last. They are undone with
	// the others if one of them fails or the gateway ends.
	Atomic bool

	// flowed is what the session that proposed the batch had read under flow rules by then.
	flowed []flowRead
}

// Operation is one call of a batch. Its request has no idempotency key of its own.
type Operation struct {
	// ClientID is the caller's name for the operation. It is unique in the batch.
	ClientID string
	Request
	// From has the parameters whose values are taken from earlier results, by name. HashFrom does the same for
	// ExpectHash; the zero Reference means none.
	From     map[string]Reference
	HashFrom Reference
}

const (
	statusOK      = "ok"
	statusError   = "error"
	statusSkipped = "skipped"
)

// DoBatch decides on all operations of b and then carries them out. If one of them is refused, none is started.
// Adjacent reads run concurrently; all other operations run alone and in their order. Like [Gateway.Do], it always
// returns a result.
func (g *Gateway) DoBatch(ctx context.Context, b Batch) (result BatchResult) {
	started := time.Now()
	if b.Taken.IsZero() {
		b.Taken = started
	}
	b.Caller = g.ofAgent(b.Caller)
	b.Command = telemetry.BatchCommand
	b.Operations = slices.Clone(b.Operations)
	for i := range b.Operations {
		b.Operations[i].Request = b.Operations[i].withOneLimit()
	}
	ctx, observed := telemetry.Begin(ctx, g.observer, telemetry.WholeBatch, telemetry.BatchCommand, b.Surface, g.agent)
	fault := g.guard(telemetry.BatchCommand, func() {
		d, err := g.vaultNamed(b.Vault)
		if err != nil {
			g.record(ctx, "", b.Request).Refused(err)
			result = RejectBatch("", err)
			return
		}
		result = d.doBatch(ctx, b)
	})
	if fault != nil {
		result = RejectBatch("", fault)
	}
	result.DurationMs = time.Since(started).Milliseconds()
	observed.Ended(telemetry.CallOutcome{OK: result.OK, Error: result.failure()})
	return result
}

func (g *vaultGateway) doBatch(ctx context.Context, b Batch) (result BatchResult) {
	if err := g.admission.Open(); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	ctx, end := g.admission.Follow(ctx, g.rules.Ended)
	defer end()
	plan, clientID, err := g.planBatch(b)
	if err != nil {
		return g.refuseBatch(ctx, b, clientID, err)
	}
	assessing, cancel := g.admission.WithDeadline(ctx, b.Taken, 0)
	clientID, err = g.rehearse(assessing, plan)
	cancel()
	if err == nil {
		clientID, err = g.judgeChanges(plan)
	}
	if err != nil {
		return g.refuseBatch(ctx, b, clientID, err)
	}
	if len(plan.asked()) > 0 && plan.mutates() { // do not ask the user again about a batch that was carried out
		if answer := g.recall(b.IdempotencyKey, g.bindToSender(b.Request, plan.sent)); answer != nil {
			return g.replayBatch(ctx, plan, answer)
		}
	}
	calls, changes := plan.counted() // a batch that would exceed the rate limits does not start
	if err := g.admission.CheckBatch(g.accountOf(b.Caller), calls, changes); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	askedAt := time.Now()
	if err := g.requestBatchApproval(ctx, plan); err != nil {
		return RejectBatch("", err)
	}
	defer g.recordSkipped(ctx, plan)
	defer func() { g.settleGrantOfBatch(plan, result) }()
	if err := g.admission.Batch(g.accountOf(b.Caller), calls, changes); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	ctx, cancel = g.admission.WithDeadline(ctx, b.Taken, time.Since(askedAt))
	defer cancel()
	if plan.mutates() {
		lines := []*shares.Line{g.changingMany}
		if !plan.isWhole() { // an atomic batch acquires the right to write once it is planned
			lines = append(lines, g.writing)
		}
		release, err := g.admission.Acquire(ctx, b.Caller, telemetry.BatchCommand, lines...)
		if err != nil {
			return RejectBatch("", err)
		}
		defer release()
	}
	if err := g.checkBatchUnchanged(plan.approved, plan.approvedFiles); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	if b.IdempotencyKey != "" && plan.mutates() {
		return g.carryOutBatchOnce(ctx, plan)
	}
	return g.carryOutBatch(ctx, plan)
}

// carryOutBatchOnce carries out a batch under its idempotency key, as [vaultGateway.runOnce] does for a single call.
func (g *vaultGateway) carryOutBatchOnce(ctx context.Context, plan *batchPlan) BatchResult {
	b := plan.batch
	claimed, answer, err := g.claim(g.callerOf(b.Request), b.IdempotencyKey, g.bindToSender(b.Request, plan.sent))
	switch {
	case err != nil:
		return RejectBatch("", err)
	case answer != nil:
		return g.replayBatch(ctx, plan, answer)
	}
	digest := g.rules.Digest()
	result := g.carryOutBatch(ctx, plan)
	if err := claimed.Settle(batchDisposition(plan, result), rememberedBatch{result.forRemembering(), digest}); err != nil {
		result.Notices = append(result.Notices, notRemembered+excerpt.Reason(err))
	}
	return result
}

// counted returns how many calls and changes of the batch count against the rate limits.
func (p *batchPlan) counted() (calls, changes int) {
	for _, s := range p.steps {
		if p.batch.from(s.Request).undoesForOwner() {
			continue
		}
		calls++
		if s.plan.call.Effect().Mutates() {
			changes++
		}
	}
	return calls, changes
}

// batchRun is a batch that is being carried out.
type batchRun struct {
	*batchPlan
	ctx     context.Context
	gateway *vaultGateway
	results []Result // with the status, by operation
	outputs []output // that later operations refer to, by operation
	done    []OperationResult
	failed  bool
	images  atomic.Int64 // bytes of images so far
	ended   atomic.Int64 // operations that have ended
	tell    func(protocol.Progress)
	// planning is the planned part of an atomic batch, nil if the operations are made one by one. openRecords are the
	// audit records of planned operations, by operation, until it is known whether they are made.
	planning    *planning
	openRecords []*audit.Record
}

// newRun returns a run of the batch in which no operation has been run yet.
func (g *vaultGateway) newRun(ctx context.Context, plan *batchPlan) *batchRun {
	plan.isBegun = true
	r := &batchRun{
		batchPlan:   plan,
		ctx:         protocol.WithProgress(ctx, nil), // the progress of an operation is not that of the batch
		gateway:     g,
		results:     make([]Result, len(plan.steps)),
		outputs:     make([]output, len(plan.steps)),
		done:        make([]OperationResult, len(plan.steps)),
		tell:        protocol.ProgressOf(ctx),
		openRecords: make([]*audit.Record, len(plan.steps)),
	}
	if plan.planned > 0 {
		r.planning = &planning{batch: protocol.Batch{ID: plan.id}}
	}
	for i, step := range plan.steps {
		r.done[i] = OperationResult{ClientID: step.ClientID, Command: step.Command, Status: statusSkipped}
	}
	r.count(0)
	return r
}

// count adds to the number of operations that have ended, and reports the progress.
func (r *batchRun) count(more int64) {
	r.tell(protocol.Progress{Done: int(r.ended.Add(more)), Total: len(r.steps), Of: protocol.Operations})
}

// carryOutBatch carries out a batch. An atomic batch with changes is planned and then made as one transaction,
// followed by the operations that the app carries out.
func (g *vaultGateway) carryOutBatch(ctx context.Context, plan *batchPlan) BatchResult {
	switch {
	case !plan.isWhole():
		r := g.newRun(ctx, plan)
		r.runStages(plan.stages())
		return r.report()
	case plan.planned == len(plan.steps):
		return g.makeTogether(ctx, plan)
	}
	return g.makeWithApp(ctx, plan)
}

// isWhole reports whether a batch makes changes, and makes either all of them or none.
func (p *batchPlan) isWhole() bool { return p.batch.Atomic && p.mutates() }

// makeWithApp makes an atomic batch whose last operations are carried out by the app. Meanwhile nobody else writes,
// and the batch is marked in the journal: until the mark is removed, whoever next has the lock undoes what was made.
func (g *vaultGateway) makeWithApp(ctx context.Context, plan *batchPlan) BatchResult {
	unlock, refusal := g.lockForBatch(ctx, plan)
	if refusal != nil {
		return *refusal
	}
	unlockOnce := sync.OnceFunc(unlock)
	defer unlockOnce()
	undoJournal, err := g.journal(g.target().Folder)
	if err == nil {
		err = undoJournal.MarkBatch(plan.id)
	}
	if err != nil {
		return g.refuseBatch(ctx, plan.batch, "", failure.New(
			failure.CodeState,
			"the user can look at the folder of the journal",
			"nothing was changed, because the journal cannot keep it: %s",
			excerpt.Reason(err),
		))
	}
	r := g.newRun(ctx, plan)
	if r.planning != nil {
		defer r.planning.drop(ctx, g)
	}
	stages := plan.stages()
	planned := slices.IndexFunc(stages, func(stage []int) bool { return stage[0] >= plan.planned })
	r.runStages(stages[:planned])
	switch {
	case plan.planned > 0 && r.failed:
		undoJournal.MarkBatchFinished()
		r.markUnmade("an operation failed, and the batch is atomic")
		return r.report()
	case plan.planned > 0:
		r.planning.isAlone = true
		if result, _ := r.makePlanned(); result.Error != nil {
			undoJournal.MarkBatchFinished()
			return result
		}
	}
	r.runStages(stages[planned:])
	if !r.failed {
		undoJournal.MarkBatchFinished()
		return r.report()
	}
	unlockOnce() // whoever has the lock next undoes what was made
	r.markAllUndone()
	return r.report()
}

// runStages runs stages of a batch one after the other. After a failed operation it skips the rest of an atomic
// batch.
func (r *batchRun) runStages(stages [][]int) {
	skip := func(stage []int) {
		for _, i := range stage {
			r.done[i] = OperationResult{
				ClientID: r.steps[i].ClientID,
				Command:  r.steps[i].Command,
				Status:   statusSkipped,
				Notice:   "an operation before it failed, and the batch is atomic",
			}
		}
	}
	for _, stage := range stages {
		if r.failed && r.batch.Atomic {
			skip(stage)
			continue
		}
		var running conc.WaitGroup // it passes on the panic of an operation
		for _, i := range stage {
			running.Go(func() {
				r.run(r.ctx, i)
				r.count(1)
			})
		}
		running.Wait()
		for n, i := range stage {
			if r.done[i].Status == statusOK {
				continue
			}
			r.failed = true
			if r.batch.Atomic {
				skip(stage[n+1:]) // they only read, and may or may not have run at the same time
				break
			}
		}
	}
}

// markAllUndone records for the operations of a failed batch whether they were undone. Whatever ended the batch,
// they have been undone by now, or are undone by the first query. The progress reported is that of undoing.
func (r *batchRun) markAllUndone() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), settleFor)
	defer cancel()
	var made []int
	for i, step := range slices.Backward(r.steps) {
		if step.plan.call.Effect().Mutates() && r.done[i].Status != statusSkipped {
			made = append(made, i)
		}
	}
	for n, i := range made {
		r.tell(protocol.Progress{Done: n, Total: len(made), Of: protocol.OperationsBack})
		r.markUndone(ctx, i)
	}
}

// report returns the result of the batch, with the counts and with the reason if it ended early.
func (r *batchRun) report() BatchResult {
	ctx := r.ctx
	result := BatchResult{Results: r.done}
	result.count()
	if result.Summary.NotUndone > 0 {
		result.Notices = append(
			result.Notices,
			fmt.Sprintf("%d of the changes could not be taken back", result.Summary.NotUndone),
		)
	}
	switch {
	case ctx.Err() == nil || result.Summary.Skipped == 0:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		result.Error = failure.Of(
			failure.New(failure.CodeTimeout, "send fewer operations at once; results says which were carried out",
				"the time limit of %v passed, and operations were left out", r.gateway.runner.Timeout()),
		)
	default:
		result.Error = failure.Of(
			failure.New(failure.CodeCancelled, "", "the batch was cancelled, and operations were left out"),
		)
	}
	return result
}

// run carries out one operation, unless an operation that it refers to has failed.
func (r *batchRun) run(ctx context.Context, i int) {
	done := &r.done[i]
	for _, ref := range r.steps[i].references() {
		if r.done[r.find(ref.ClientID, i)].Status != statusOK {
			done.Notice = fmt.Sprintf("takes a field of %q, which did not succeed", excerpt.Short(ref.ClientID))
			return
		}
	}
	if ctx.Err() != nil {
		done.Notice = whyNotBegun(ctx)
		return
	}
	r.steps[i].isRecorded = true
	hold := r.gateway.runner.Hold(r.batch.Caller)
	defer hold.Release()
	request, err := r.resolve(i)
	if err == nil {
		err = r.steps[i].checkShownValues(request)
	}
	var result Result
	if err != nil {
		r.gateway.recordOfStep(ctx, r.batch, r.steps[i].Operation, r.steps[i].plan).Refused(err)
		result = Reject(r.steps[i].Command, err)
	} else {
		request.visibility = r.gateway.rules.Fingerprint()
		request.batch = r.id
		request.alone = r.isWhole()
		if i < r.planned {
			request.planning = r.planning
		}
		begun := false
		fault := r.gateway.guard(request.Command, func() {
			result, begun = r.gateway.step(ctx, hold, r.batch.from(request), r.approvalOf(i))
		})
		if fault != nil {
			result = Fault(request.Command)
			begun = true
		}
		if !begun {
			done.Notice = whyNotBegun(ctx)
			return
		}
	}
	done.Status = statusError
	if result.OK {
		done.Status = statusOK
	}
	r.outputs[i] = r.referred(i, result)
	if r.share > 0 {
		request.MaxOutput = r.share
		request.Keep = r.batch.Keep
		result = r.gateway.page(r.batch.from(request), result, result.Stdout)
	}
	result.raw = "" // it may be megabytes
	if result.Image != nil && r.images.Add(int64(len(result.Image.Base64))) > maxImages {
		r.images.Add(-int64(len(result.Image.Base64)))
		result.Image = nil
		result.Notices = append(
			slices.Clone(result.Notices),
			fmt.Sprintf(
				"the image is left out: a batch shows images of up to %d MiB together; read it alone",
				maxImages>>20,
			),
		)
	}
	done.Result = result.answer()
	result.Image = nil
	r.results[i] = result
}

// approvalOf returns how operation i may be carried out.
func (r *batchRun) approvalOf(i int) approved {
	step := r.steps[i]
	approval := approved{
		question: step.approved,
		record:   step.record,
		proposal: r.proposal,
		inBatch:  true,
		held:     r.keepRecordOpen(i),
	}
	if approval.question == nil {
		return approval
	}
	approval.change = step.plan.change
	if r.use != nil {
		approval.grant = r.use.Grant
	}
	return approval
}

// whyNotBegun says why an operation was skipped.
func whyNotBegun(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "the time limit of the batch passed before it started"
	}
	return "cancelled before it started"
}

// maxImages is the maximum size of all images of a batch together, in bytes as they are sent. One of the largest
// images fits, or several photos of a page.
const maxImages = 4 << 20

// step does for one operation what [Gateway.Do] does for a request. The batch has acquired the semaphore for changes
// already. begun is false if the operation was cancelled before it started.
func (g *vaultGateway) step(
	ctx context.Context,
	hold *exec.Hold,
	req Request,
	by approved,
) (result Result, begun bool) {
	ctx, observed := telemetry.Begin(ctx, g.observer, telemetry.InBatch, req.Command, req.Surface, g.agent)
	defer func() { observed.Ended(result.outcome()) }()
	req.Taken = time.Now()
	req.IdempotencyKey = "" // the batch has the key
	return g.process(ctx, hold, req, by)
}

// checkUndoable returns an error if an atomic batch contains a change that could not be undone.
func (g *vaultGateway) checkUndoable(plan *batchPlan) (clientID string, err error) {
	for _, step := range plan.steps {
		effect := step.plan.call.Effect()
		if effect.Mutates() && effect != tiers.Writes && effect != tiers.Destroys {
			return step.ClientID, failure.New(
				failure.CodeBadRequest,
				"leave it out of the atomic batch",
				"command %q changes more than notes, which nothing can take back",
				step.Command,
			)
		}
	}
	if g.embeddedProgram() == nil {
		return "", failure.New(
			failure.CodeBadRequest,
			"the user can set vault to the folder of the vault",
			"an atomic batch with changes needs the folder of the vault, which is not known",
		)
	}
	if _, err := g.journal(g.target().Folder); err != nil {
		return "", err
	}
	if _, err := g.Plan(undoOf(journal.NewID(time.Now()))); err != nil && !needsApproval(err) {
		cause := failure.Of(err)
		return "", failure.New(
			cause.Code,
			cause.Hint,
			"an atomic batch has to be able to take back what it did: %s",
			cause.Message,
		)
	}
	return "", nil
}

// undoCommand is the command with which the gateway undoes the operations of a batch.
const undoCommand = "undo"

// undoOf returns the request that undoes the change with the given id.
func undoOf(id string) Request {
	return Request{Command: undoCommand, Params: allowlist.Params{"id": allowlist.Text(id)}}
}

// markUndone records whether an operation of a failed batch was undone.
func (r *batchRun) markUndone(ctx context.Context, i int) {
	result := r.results[i]
	done := &r.done[i]
	undone := false
	switch {
	case result.Change != nil:
		var err error
		fault := r.gateway.guard(undoCommand, func() {
			undone, err = r.gateway.isTakenBack(ctx, r.batch.from(undoOf(result.Change.ID)), result.Change.ID)
		})
		if err = cmp.Or(fault, err); err != nil {
			done.Notice = "not undone: " + failure.Of(err).Message
		} else if !undone {
			done.Notice = "not undone: other programs have changed its notes since; undo id=" + result.Change.ID + " shows how"
		}
	case result.Error != nil && result.Error.Code == failure.CodeUnknown:
		done.Notice = "not undone: unknown whether it was made"
	case slices.ContainsFunc(result.Notices, func(n string) bool { return strings.HasPrefix(n, noticeNotJournaled) }):
		done.Notice = "not undone: it is " + noticeNotJournaled
	default:
		return // it changed nothing
	}
	done.Undone = &undone
}

// isTakenBack reports whether a change was undone completely. undo is the request that would undo it.
func (g *vaultGateway) isTakenBack(ctx context.Context, undo Request, id string) (bool, error) {
	s, err := g.stateOfChange(ctx, undo, id)
	return s.State == stateUntouched, err
}

// stateOfChange makes the embedded program settle a change, and returns the state of the change. undo is the request
// that would undo it.
func (g *vaultGateway) stateOfChange(ctx context.Context, undo Request, id string) (changeState, error) {
	plan, err := g.Plan(undo)
	if needsApproval(err) {
		plan, err = plan.withApproval(consent.Question{})
	}
	own := g.embeddedProgram()
	if err != nil || own == nil {
		return changeState{}, cmp.Or(err, error(failure.New(failure.CodeVaultNotFound, "", "the folder of the vault is gone")))
	}
	for tries := 1; ; tries++ {
		s, err := g.readChangeState(ctx, plan.routes[0], *own, id)
		unavailable, isUnavailable := errors.AsType[*exec.Unavailable](err)
		isCrash := isUnavailable && unavailable.Code() == exec.CodeCrashed
		if !isCrash || tries == settleTries { // another worker continues where this one ended
			return s, err
		}
	}
}

// rememberedBatch is like [rememberedResult], for a batch.
type rememberedBatch struct {
	BatchResult
	Hidden string `json:"hidden"`
}

// replayBatch returns the remembered first answer to a batch, without anything that is hidden by now.
func (g *vaultGateway) replayBatch(ctx context.Context, plan *batchPlan, answer []byte) BatchResult {
	var remembered rememberedBatch
	if err := json.Unmarshal(answer, &remembered); err != nil {
		return RejectBatch(
			"",
			failure.New(failure.CodeUnknown, "look at the notes", "the answer that was kept cannot be read"),
		)
	}
	first := remembered.BatchResult
	if remembered.Hidden != g.rules.Digest() {
		// Remove what has been hidden since.
		for i := range first.Results[:min(len(first.Results), len(plan.steps))] {
			done := &first.Results[i]
			step := plan.steps[i]
			if done.Result == nil {
				continue
			}
			err := g.checkVisible(step.plan.call, done.Result.Path, done.Result.Stdout)
			if err == nil && len(step.From) > 0 && done.Result.Path == "" {
				err = missing(step.plan.call) // the note it was about is not known
			}
			if err != nil {
				*done = OperationResult{
					ClientID: done.ClientID,
					Command:  step.Command,
					Status:   statusError,
					Result:   Reject(step.Command, err).answer(),
				}
			}
		}
		first.count()
	}
	Result{ExitCode: -1, Error: first.failure()}.endedIn(g.recordOfBatch(ctx, plan.batch, ""))
	first.Notices = append(first.Notices, noticeReplayed)
	return first
}

// batchDisposition decides what happens to the idempotency key of a batch.
func batchDisposition(plan *batchPlan, result BatchResult) keyDisposition {
	what := keyForget
	for i, done := range result.Results {
		if done.Result == nil || !plan.steps[i].plan.call.Effect().Mutates() {
			continue
		}
		switch dispositionOf(done.Result.Error, done.Result.Change) {
		case keyStaysClaimed:
			return keyStaysClaimed
		case keyRemember:
			what = keyRemember
		}
	}
	return what
}

const (
	maxRemembered   = 512 << 10 // bytes of an answer remembered under a key, half of what the journal allows
	rememberedShare = 1 << 10   // bytes kept of the output of each operation if the whole answer is too long
)

// forRemembering returns the result, shortened if it is too long to be remembered under a key.
func (r BatchResult) forRemembering() BatchResult {
	if text, err := json.Marshal(r); err != nil || len(text) <= maxRemembered {
		return r
	}
	r.Results = slices.Clone(r.Results)
	for i, done := range r.Results {
		if done.Result == nil {
			continue
		}
		short := *done.Result
		whole := Result{Stdout: short.Stdout, Stderr: short.Stderr, Truncated: short.Truncated}
		cut, _, _ := whole.cut(pageLimit{Bytes: rememberedShare})
		short.Stdout = cut.Stdout
		short.Stderr = cut.Stderr
		short.Truncated = cut.Truncated
		r.Results[i].Result = &short
	}
	return r
}
