package gateway

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec"
	"vaultwicket/exec/progress"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/observe"
)

// MaxOperations bounds a [Batch]: one that is longer is several.
const MaxOperations = 100

// Batch is a list of operations that are decided together and carried out in
// their order.
type Batch struct {
	Operations []Operation
	// Vault, Ask, Answers, OneSession, Caller, Client and Surface are those of
	// [Request], for all operations.
	Vault                   string
	Ask                     consent.Asker
	Answers, OneSession     bool
	Caller, Client, Surface string
	// Atomic takes back what was done when one operation fails.
	Atomic bool
	// IdempotencyKey is that of the batch as a whole, see [Request].
	IdempotencyKey string
	// MaxOutput bounds the bytes of all operations together, which share it
	// evenly; 0 means no bound. What surrounds an output counts as 200 bytes.
	// No share is smaller than 128 bytes.
	MaxOutput int
	// Keep is that of [Request], for all operations.
	Keep bool
	// Taken is that of [Request], for the time until the batch begins. The time limit
	// of each operation counts from when those before it are done.
	Taken time.Time
}

// Operation is one call of a batch. Its request has no key of its own.
type Operation struct {
	// ClientID is the caller's name for it, which no other one of the batch has.
	ClientID string
	Request
	// From are parameters that are taken from earlier results, by name. HashFrom
	// is the same for ExpectHash; the zero Reference takes nothing.
	From     map[string]Reference
	HashFrom Reference
}

const (
	statusOK      = "ok"
	statusError   = "error"
	statusSkipped = "skipped"
)

// DoBatch decides about all operations of b and then carries them out. If one
// is refused, none is begun. Reads that stand side by side run at once; all else
// runs alone and in its order, so that every operation finds what those before
// it have done. No other change that comes through g gets in between. It always
// returns a result, as [Gateway.Do] does.
func (g *Gateway) DoBatch(ctx context.Context, b Batch) (result BatchResult) {
	started := time.Now()
	if b.Taken.IsZero() {
		b.Taken = started
	}
	b.Operations = slices.Clone(b.Operations)
	for i := range b.Operations {
		b.Operations[i].Request = b.Operations[i].withOneLimit()
	}
	ctx, seen := observe.Begin(ctx, g.observer, observe.WholeBatch, observe.BatchCommand, b.Surface)
	fault := g.guard(observe.BatchCommand, func() {
		d, err := g.vaultNamed(b.Vault)
		if err != nil {
			g.record(ctx, "", b.from(Request{Command: observe.BatchCommand})).Refused(err)
			result = refusedBatch("", err)
			return
		}
		result = d.doBatch(ctx, b)
	})
	if fault != nil {
		result = refusedBatch("", fault)
	}
	result.DurationMs = time.Since(started).Milliseconds()
	seen.Ended(result.OK, result.failure(), "", 0)
	return result
}

// RejectBatch is the result of a batch that was rejected before it reached the gateway,
// see [Reject].
func RejectBatch(err error) BatchResult { return refusedBatch("", err) }

func (g *vaultGateway) doBatch(ctx context.Context, b Batch) BatchResult {
	if err := g.admission.Open(); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	plan, clientID, err := g.planBatch(b)
	if err != nil {
		return g.refuseBatch(ctx, b, clientID, err)
	}
	if clientID, err := g.assessLosses(ctx, plan); err != nil {
		return g.refuseBatch(ctx, b, clientID, err)
	}
	if answer := g.recalledBatch(plan); answer != nil {
		return g.firstBatch(ctx, plan, answer)
	}
	calls, changes := plan.counted()
	if err := g.admission.Fits(b.Caller, calls, changes); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	asked := time.Now()
	if err := g.requestBatchApproval(ctx, plan); err != nil {
		return refusedBatch("", err)
	}
	if err := g.admission.Begin(b.Caller, calls, changes); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	if plan.mutates() {
		release, err := g.enterBatch(ctx, b, time.Since(asked))
		if err != nil {
			return refusedBatch("", err)
		}
		defer release()
	}
	if err := g.checkBatchUnchanged(plan.approved); err != nil {
		return g.refuseBatch(ctx, b, "", err)
	}
	if b.IdempotencyKey != "" && plan.mutates() {
		return g.batchOnce(ctx, b.IdempotencyKey, plan)
	}
	return g.carryOutBatch(ctx, plan)
}

// counted returns how many calls and changes of a batch count against the limits: one that
// could not be finished within them does not begin.
func (p *batchPlan) counted() (calls, changes int) {
	for _, s := range p.steps {
		if s.Command == undoCommand {
			continue
		}
		if calls++; s.plan.call.Effect().Mutates() {
			changes++
		}
	}
	return calls, changes
}

// enterBatch waits for the turn of a batch that changes something, up to the limit of
// one call.
func (g *vaultGateway) enterBatch(ctx context.Context, b Batch, asking time.Duration) (release func(), err error) {
	ctx, cancel := g.admission.WithDeadline(ctx, b.Taken, asking)
	defer cancel()
	return g.admission.Acquire(ctx, b.Caller, observe.BatchCommand, g.writing)
}

// batchRun is a batch that is being carried out.
type batchRun struct {
	*batchPlan
	gateway *vaultGateway
	results []Result // with the status, by operation
	outputs []output // that operations behind refer to, by operation
	done    []OperationResult
	failed  bool
	images  atomic.Int64 // how many bytes of images there are so far

	tell     func(progress.Count) // nil is nobody
	finished atomic.Int64         // operations
}

// carryOutBatch runs one stage after the other.
func (g *vaultGateway) carryOutBatch(ctx context.Context, plan *batchPlan) BatchResult {
	r := &batchRun{batchPlan: plan, gateway: g, results: make([]Result, len(plan.steps)), outputs: make([]output, len(plan.steps)), done: make([]OperationResult, len(plan.steps))}
	for i, step := range plan.steps {
		r.done[i] = OperationResult{ClientID: step.ClientID, Status: statusSkipped}
	}
	r.tell = progress.Of(ctx)
	ctx = progress.With(ctx, nil) // how far an operation has come is not how far the batch has
	r.count(0)
	for _, stage := range plan.stages() {
		if r.failed && plan.batch.Atomic {
			r.skip(stage)
			continue
		}
		r.runStage(ctx, stage)
	}
	if r.failed && plan.batch.Atomic {
		r.undoAll(context.WithoutCancel(ctx))
	}
	return r.report(ctx)
}

// runStage runs operations that do not depend on each other.
func (r *batchRun) runStage(ctx context.Context, stage []int) {
	var running sync.WaitGroup
	for _, i := range stage {
		running.Go(func() {
			r.run(ctx, i)
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
			r.skip(stage[n+1:]) // they only read, and may have run beside it or not
			return
		}
	}
}

// count tells that more operations are done.
func (r *batchRun) count(more int64) {
	if r.tell != nil {
		r.tell(progress.Count{Done: int(r.finished.Add(more)), Total: len(r.steps), Of: progress.Operations})
	}
}

// skip skips the operations after the first failure of an atomic batch.
func (r *batchRun) skip(stage []int) {
	for _, i := range stage {
		r.done[i] = OperationResult{ClientID: r.steps[i].ClientID, Status: statusSkipped, Notice: "an operation before it failed, and the batch is atomic"}
	}
}

// run carries out one operation, unless what it needs is not there.
func (r *batchRun) run(ctx context.Context, i int) {
	done := &r.done[i]
	if from := r.missing(i); from != "" {
		done.Notice = fmt.Sprintf("takes a field of %q, which did not succeed", quote.Short(from))
		return
	}
	hold := r.gateway.runner.Hold()
	defer hold.Release()
	var result Result
	begun := false
	request, err := r.resolve(i)
	if err != nil {
		result, begun = failed(r.steps[i].Command, err), true
	} else {
		request.visibility, request.batch = r.gateway.rules.Fingerprint(), r.id
		fault := r.gateway.guard(request.Command, func() {
			by := approved{question: r.steps[i].approved, inBatch: true}
			if by.question != nil {
				by.change = r.steps[i].plan.change
			}
			result, begun = r.gateway.step(ctx, hold, r.batch.from(request), by)
		})
		if fault != nil {
			result, begun = Fault(request.Command), true
		}
	}
	if !begun {
		done.Notice = "cancelled before it started"
		return
	}
	done.Status = statusError
	if result.OK {
		done.Status = statusOK
	}
	r.outputs[i] = r.referred(i, result)
	if r.share > 0 {
		request.MaxOutput, request.Keep = r.share, r.batch.Keep
		result = r.gateway.page(r.batch.from(request), result, result.Stdout)
	}
	result.raw = "" // it may be megabytes
	result = r.withImage(result)
	done.Result = result.answer()
	result.Image = nil
	r.results[i] = result
}

// maxImages bounds the images of a batch together, in bytes as they are sent: that is one
// of the largest, or several as a camera makes them for a page.
const maxImages = 4 << 20

// withImage returns a result without its image if that would be more than a batch shows.
func (r *batchRun) withImage(result Result) Result {
	if result.Image == nil {
		return result
	}
	size := int64(len(result.Image.Base64))
	if r.images.Add(size) > maxImages {
		r.images.Add(-size)
		result.Image = nil
		result.Notices = append(slices.Clone(result.Notices), fmt.Sprintf("the image is left out: a batch shows images of up to %d MiB together; read it alone", maxImages>>20))
	}
	return result
}

// step does for one operation what [Gateway.Do] does for a request, while the batch holds
// the semaphore of changes. begun is false for one that was cancelled before.
func (g *vaultGateway) step(ctx context.Context, hold *exec.Hold, req Request, by approved) (result Result, begun bool) {
	ctx, seen := observe.Begin(ctx, g.observer, observe.InBatch, req.Command, req.Surface)
	defer func() { seen.Ended(result.OK, result.Error, result.Backend, len(result.Stdout)) }()
	req.Taken, req.IdempotencyKey = time.Now(), "" // the batch has the key
	return g.process(ctx, hold, req, by)
}

// report counts, and says what stopped the batch.
func (r *batchRun) report(ctx context.Context) BatchResult {
	result := BatchResult{Results: r.done}
	result.count()
	if result.Summary.NotUndone > 0 {
		result.Notices = append(result.Notices, fmt.Sprintf("%d of the changes could not be taken back", result.Summary.NotUndone))
	}
	if ctx.Err() != nil && result.Summary.Skipped > 0 {
		result.Error = failure.Of(failure.New(failure.CodeCancelled, "", "the batch was cancelled, and operations were left out"))
	}
	return result
}
