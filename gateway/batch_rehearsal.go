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

// What a batch would do is known before it is made: it is rehearsed. The embedded program works out each operation on the
// vault as those before it will leave it, and nothing of that is ever made. By it the operations are judged, the user is asked, and
// a dry run is answered. An approved operation is then made only if it does the same, on files with the same bytes.

// rehearsal is a batch that is rehearsed. Its results are those of which later operations take values.
type rehearsal struct {
	batchRun
	origins map[string]string // where files were before the batch, by their paths
}

// rehearse works out what the operations of a batch would do, unless nothing depends on it. clientID is the operation of an
// error, which is that of waiting, or of a plan that cannot be read.
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

// needsRehearsal reports whether something is decided by what the operations do.
func (g *vaultGateway) needsRehearsal(p *batchPlan) bool {
	if g.embeddedProgram() == nil {
		return false
	}
	mayBeMany := p.mayChangeMany()
	for _, step := range p.steps {
		isAsked := step.plan.refusal != nil && (step.plan.call.Effect().Mutates() || len(step.references()) > 0)
		isOfMany := mayBeMany && step.plan.mayLose()
		if isAsked || isOfMany || step.plan.isAssessed() {
			return true
		}
	}
	return false
}

// rehearse works out one operation.
func (r *rehearsal) rehearse(i int) error {
	step := &r.steps[i]
	if step.unknown == nil {
		step.unknown = r.failure
	}
	if step.unknown != nil {
		return nil
	}
	if len(step.references()) > 0 {
		if err := r.take(i); err != nil {
			step.unknown = err
			return nil
		}
	}
	if !step.plan.call.Effect().Mutates() {
		r.read(i)
		return nil
	}
	release, err := r.gateway.admission.Acquire(r.ctx, r.batch.Caller, step.plan.call.Name(), r.gateway.running)
	if err != nil {
		return err
	}
	err = r.gateway.workOutIn(r.ctx, &step.plan, r.planning)
	release()
	if unreadable, ok := errors.AsType[*unreadablePlan](err); ok {
		return unreadable
	}
	if err != nil {
		step.unknown = err
		return nil
	}
	r.note(i)
	return nil
}

// take has an operation be one with the values that it takes from earlier ones. The error says that they are not known.
func (r *rehearsal) take(i int) error {
	step := &r.steps[i]
	for _, ref := range step.references() {
		if r.done[r.find(ref.ClientID, i)].Status != statusOK {
			return step.takesUnknown()
		}
	}
	request, err := r.resolve(i)
	if err != nil {
		return step.takesUnknown()
	}
	plan, err := r.gateway.Plan(r.request(request))
	if err != nil && !needsApproval(err) {
		return step.takesUnknown() // it is told when the operation is run
	}
	step.plan = plan
	step.resolved = &request
	return nil
}

// rehearsedAs takes over what is known of the same batch from an earlier plan, which the user was asked about, and judges again
// what depends on it. clientID is the operation of an error.
func (g *vaultGateway) rehearsedAs(now, earlier *batchPlan) (clientID string, err error) {
	now.before = earlier.before
	now.failure = earlier.failure
	for i := range now.steps {
		step := &now.steps[i]
		was := earlier.steps[i]
		if was.resolved != nil {
			if step.plan, err = g.Plan(now.request(*was.resolved)); err != nil && !needsApproval(err) {
				return step.ClientID, err
			}
		}
		step.plan.change = was.plan.change
		step.resolved = was.resolved
		step.unknown = was.unknown
		step.origins = was.origins
		step.record = was.record
	}
	return "", nil
}

// read carries out an operation that only reads, if later ones take something of its result.
func (r *rehearsal) read(i int) {
	step := &r.steps[i]
	call := step.plan.call
	changed := r.planning.batch.Planned > 0
	seesChanges := !changed || !call.Apart()
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

// isReferredTo reports whether a later operation takes something of the result of an operation.
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

// keep keeps a result, of which later operations take values.
func (r *rehearsal) keep(i int, result Result) {
	r.done[i].Status = statusOK
	r.results[i] = result
	r.outputs[i] = r.referred(i, result)
}

// note notes what came of an operation that changes something.
func (r *rehearsal) note(i int) {
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
	step.origins = r.follow(change)
}

// follow notes where the files of a change come from, and returns those paths of the vault as it is before the batch.
func (r *rehearsal) follow(change *plannedChange) (origins []string) {
	for _, f := range change.Files {
		if f.Raw == nil { // the program that makes the change compares its digest
			continue
		}
		from := cmp.Or(f.From, f.Path)
		origin, isKnown := r.origins[from]
		if !isKnown {
			origin = from
			r.before[from] = f.Raw[0]
		}
		if f.From != "" {
			r.origins[f.From] = origin // whatever is made there next takes its place
		}
		r.origins[f.Path] = origin
		origins = append(origins, origin)
	}
	return origins
}

// bound returns the hashes, in hexadecimal, of the files before the batch on which its approved operations rest, by their paths.
// It is "" for a file that does not exist.
func (p *batchPlan) bound() map[string]string {
	bound := map[string]string{}
	for _, step := range p.asked() {
		for _, path := range step.origins {
			bound[path] = p.before[path]
		}
	}
	return bound
}

// checkBatchUnchanged refuses a batch unless the notes on which the questions about its operations rest are as they were. Nothing
// of it has begun.
func (g *vaultGateway) checkBatchUnchanged(each []consent.Question, bound map[string]string) error {
	folder := g.target().Folder
	for path, hash := range bound {
		if hex.EncodeToString([]byte(HashOfNote(folder, path))) != hash {
			return consent.ChangedSince(telemetry.BatchCommand)
		}
	}
	for _, q := range each {
		for path, hash := range q.Spelled {
			if HashOfNote(folder, path) != hash {
				return consent.ChangedSince(telemetry.BatchCommand)
			}
		}
	}
	return nil
}

// takesAsShown refuses an approved operation that would take other values from earlier ones than the user was shown.
func (s batchStep) takesAsShown(request Request) error {
	if s.approved == nil || len(s.references()) == 0 {
		return nil
	}
	isSame := s.resolved != nil && maps.Equal(s.resolved.Params, request.Params) && s.resolved.ExpectHash == request.ExpectHash
	if !isSame {
		return consent.ChangedSince(s.Command)
	}
	return nil
}
