package gateway

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// A batch is rehearsed so that its effect is known before anything is written. The embedded program works out each
// operation on the vault as the operations before it would leave it, and writes nothing. Decisions, the questions to
// the user and the answer to a dry run are based on that. An approved operation is carried out only if it would still
// do the same to files with the same content.

// rehearsal is the rehearsal of a batch. It keeps the results whose values later operations use.
type rehearsal struct {
	batchRun
	origins map[string]string // the paths of files before the batch, by their current paths
}

// rehearse works out what the operations of a batch would do, unless no decision depends on it. The error is that of
// a cancelled wait or of a plan that cannot be read, and clientID is the operation that it is about. Any other problem
// is kept in the step.
func (g *vaultGateway) rehearse(ctx context.Context, plan *batchPlan) (clientID string, err error) {
	if !g.needsRehearsal(plan) {
		return "", nil
	}
	r := g.newRehearsal(ctx, plan)
	defer r.planning.drop(ctx, g)
	for i := range plan.steps {
		if err := r.rehearse(i); err != nil {
			return plan.steps[i].ClientID, err
		}
	}
	return "", nil
}

// newRehearsal returns a rehearsal of the batch in which no operation has been worked out yet. It clears plan.before,
// which the rehearsal fills.
func (g *vaultGateway) newRehearsal(ctx context.Context, plan *batchPlan) *rehearsal {
	plan.before = map[string]string{}
	r := &rehearsal{
		batchRun: batchRun{
			batchPlan: plan,
			ctx:       protocol.WithProgress(ctx, nil),
			gateway:   g,
			results:   make([]Result, len(plan.steps)),
			outputs:   make([]output, len(plan.steps)),
			done:      make([]OperationResult, len(plan.steps)),
			planning:  &planning{batch: protocol.Batch{ID: journal.NewID(time.Now())}, isRehearsal: true},
		},
		origins: map[string]string{},
	}
	for i := range r.done {
		r.done[i].Status = statusSkipped
	}
	return r
}

// needsRehearsal reports whether a decision depends on what the operations do.
func (g *vaultGateway) needsRehearsal(p *batchPlan) bool {
	if g.embeddedProgram() == nil {
		return false
	}
	mayBeMany := p.mayChangeMany()
	for _, step := range p.steps {
		isAsked := step.plan.refusal != nil && (step.plan.call.Effect().Mutates() || len(step.references()) > 0)
		countsTowardsMany := mayBeMany && step.plan.mayLose()
		if isAsked || countsTowardsMany || step.plan.isAssessed() {
			return true
		}
	}
	return false
}

// rehearse works out operation i. If its effect cannot be known, the reason is stored in step.unknown and is no error.
func (r *rehearsal) rehearse(i int) error {
	step := &r.steps[i]
	if step.unknown == nil {
		step.unknown = r.failure // after a failure that ends an atomic batch, nothing later has an effect
	}
	if step.unknown != nil {
		return nil
	}
	if len(step.references()) > 0 {
		if err := r.resolveValues(i); err != nil {
			step.unknown = err
			return nil
		}
	}
	if !step.plan.call.Effect().Mutates() {
		r.readIfReferredTo(i)
		return nil
	}
	release, err := r.gateway.admission.Acquire(r.ctx, r.batch.Caller, step.plan.call.Name(), r.gateway.running)
	if err != nil {
		return err
	}
	err = func() error {
		defer release()
		return r.gateway.workOutIn(r.ctx, &step.plan, r.planning)
	}()
	if unreadable, ok := errors.AsType[*unreadablePlan](err); ok {
		return unreadable
	}
	if err != nil {
		step.unknown = err
		return nil
	}
	r.recordOutcome(i)
	return nil
}

// resolveValues plans operation i again with the values that it takes from earlier ones. The error says that they
// are not known.
func (r *rehearsal) resolveValues(i int) error {
	step := &r.steps[i]
	for _, ref := range step.references() {
		if r.done[r.find(ref.ClientID, i)].Status != statusOK {
			return step.errUnknownValue()
		}
	}
	request, err := r.resolve(i)
	if err != nil {
		return step.errUnknownValue()
	}
	plan, err := r.gateway.Plan(r.request(request))
	if err != nil && !needsApproval(err) {
		return step.errUnknownValue() // the reason is reported when the operation runs
	}
	step.plan = plan
	step.resolved = &request
	return nil
}

// adoptRehearsal copies the rehearsal of the earlier plan of the same batch, which the user was asked about, into
// the plan now, and judges again what depends on it. With an error it returns the operation that the error is about.
func (g *vaultGateway) adoptRehearsal(now, earlier *batchPlan) (clientID string, err error) {
	now.before = earlier.before
	now.failure = earlier.failure
	for i := range now.steps {
		step := &now.steps[i]
		before := earlier.steps[i]
		if before.resolved != nil {
			if step.plan, err = g.Plan(now.request(*before.resolved)); err != nil && !needsApproval(err) {
				return step.ClientID, err
			}
		}
		step.plan.change = before.plan.change
		step.resolved = before.resolved
		step.unknown = before.unknown
		step.origins = before.origins
		step.record = before.record
	}
	return "", nil
}

// readIfReferredTo runs operation i, which only reads, if later operations use its result.
func (r *rehearsal) readIfReferredTo(i int) {
	step := &r.steps[i]
	call := step.plan.call
	isChanged := r.planning.batch.Planned > 0
	seesChanges := !isChanged || !call.Apart()
	isPossible := call.OnlyReads() && seesChanges && step.plan.refusal == nil
	if !isPossible || !r.isReferredTo(i) {
		return
	}
	request := step.Request
	if step.resolved != nil {
		request = *step.resolved
	}
	request.visibility = r.gateway.rules.Fingerprint()
	request.planning = r.planning
	hold := r.gateway.runner.Hold(r.batch.Caller)
	defer hold.Release()
	var result Result
	fault := r.gateway.guard(request.Command, func() {
		result, _ = r.gateway.step(r.ctx, hold, r.batch.from(request), approved{inBatch: true})
	})
	if fault == nil && result.OK {
		r.keep(i, result)
	}
}

// isReferredTo reports whether a later operation uses the result of operation i.
func (p *batchPlan) isReferredTo(i int) bool {
	for _, step := range p.steps[i+1:] {
		for _, ref := range step.references() {
			if ref.ClientID == p.steps[i].ClientID {
				return true
			}
		}
	}
	return false
}

// keep stores the result of operation i for later operations.
func (r *rehearsal) keep(i int, result Result) {
	r.done[i].Status = statusOK
	r.results[i] = result
	r.outputs[i] = r.referred(i, result)
}

// recordOutcome stores what operation i would answer and which files it concerns, or why it would make an atomic batch
// fail.
func (r *rehearsal) recordOutcome(i int) {
	step := &r.steps[i]
	change := step.plan.change
	if change == nil {
		return
	}
	if change.failure != nil {
		if r.isWhole() && change.failure.Code() != failure.CodeNeedsApp {
			r.failure = inOperation(step.ClientID, change.failure)
		}
		return
	}
	result := Result{OK: true, Command: step.Command, Vault: r.gateway.name(), Path: change.Path, raw: change.Says}
	for _, f := range change.Files {
		if f.Path == change.Path {
			result.Hash = f.After
		}
	}
	r.keep(i, result)
	step.origins = r.traceOrigins(change)
}

// traceOrigins records where the files of a change come from, and returns their paths before the batch.
func (r *rehearsal) traceOrigins(change *plannedChange) (origins []string) {
	for _, f := range change.Files {
		if f.Raw == nil { // for such a file the program that makes the change compares the digest
			continue
		}
		from := cmp.Or(f.From, f.Path)
		origin, isKnown := r.origins[from]
		if !isKnown {
			origin = from
			r.before[from] = f.Raw[0] // the hash before the change
		}
		if f.From != "" {
			r.origins[f.From] = origin // a file that is created at this path next replaces the original
		}
		r.origins[f.Path] = origin
		origins = append(origins, origin)
	}
	return origins
}

// boundFiles returns the hashes of the files, before the batch, that the operations requiring approval depend on: in
// hexadecimal, by path, "" for a file that does not exist. An approval holds only for these.
func (p *batchPlan) boundFiles() map[string]string {
	bound := map[string]string{}
	for _, step := range p.asked() {
		for _, path := range step.origins {
			bound[path] = p.before[path]
		}
	}
	return bound
}

// checkBatchUnchanged returns an error if a file that the questions depend on has changed since they were asked. It is
// called before any operation starts. bound is from [batchPlan.boundFiles].
func (g *vaultGateway) checkBatchUnchanged(questions []consent.Question, bound map[string]string) error {
	folder := g.target().Folder
	for path, hash := range bound {
		if hex.EncodeToString([]byte(HashOfNote(folder, path))) != hash {
			return consent.ChangedSince(telemetry.BatchCommand)
		}
	}
	for _, q := range questions {
		for path, hash := range q.Spelled {
			if HashOfNote(folder, path) != hash { // Spelled has raw hashes
				return consent.ChangedSince(telemetry.BatchCommand)
			}
		}
	}
	return nil
}

// checkShownValues returns an error if an approved operation would take other values from earlier ones than the user
// was shown.
func (s batchStep) checkShownValues(request Request) error {
	if s.approved == nil || len(s.references()) == 0 {
		return nil
	}
	isSame := s.resolved != nil && maps.Equal(s.resolved.Params, request.Params) && s.resolved.ExpectHash == request.ExpectHash
	if !isSame {
		return consent.ChangedSince(s.Command)
	}
	return nil
}
