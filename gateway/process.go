package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/conc/panics"

	"vaultwicket/exec"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/notes"
	"vaultwicket/gateway/observe"
	"vaultwicket/gateway/records"
)

// Do plans req and carries it out. It always returns a result: every failure,
// an internal error included, is in it.
func (g *Gateway) Do(ctx context.Context, req Request) (result Result) {
	started := time.Now()
	req = g.continued(req).withOneLimit()
	if req.Taken.IsZero() {
		req.Taken = started
	}
	ctx, seen := observe.Begin(ctx, g.observer, observe.Single, req.Command, req.Surface)
	fault := g.guard(req.Command, func() {
		d, err := g.vaultNamed(req.Vault)
		if err != nil {
			g.record(ctx, "", req).Refused(err)
			result = failed(req.Command, err)
			return
		}
		result = d.answer(ctx, req)
	})
	if fault != nil {
		result = Fault(req.Command)
	}
	result.DurationMs = time.Since(started).Milliseconds()
	seen.Ended(result.OK, result.Error, result.Backend, len(result.Stdout))
	return result
}

// answer returns what a caller sees of the answer to a request: all of it, its
// first page, or the next one.
func (g *vaultGateway) answer(ctx context.Context, req Request) Result {
	req.Vault = g.name() // by whatever it was meant
	hold := g.runner.Hold()
	defer hold.Release()
	if req.Cursor != "" {
		return g.nextPage(ctx, hold, req)
	}
	if req.Keep {
		req.visibility = g.rules.Fingerprint()
	}
	result, _ := g.process(ctx, hold, req, approved{})
	shown := g.firstPage(req, result)
	if result.divided != nil && shown.Truncated == nil { // no row ends where the page does
		result, _ = result.divided.whole(exec.WithHold(ctx, hold)) // which says why, if it cannot be had
		return g.firstPage(req, result)
	}
	return shown
}

// process takes a request through its stages, in this order:
//
//  1. admit: pause, rate limits, policy, approval, audit log. Nothing has been started
//     for the request but what works out its change.
//  2. acquire: wait for a place among the calls that run at once, and for the changes
//     before it.
//  3. once: with an idempotency key that has an answer, give that one.
//  4. carryOut: run the call on the first program that can, see run.
//
// hold is the right to keep a large answer in memory, by is what the user approved
// already. started is false for a request that ended while it waited.
func (g *vaultGateway) process(ctx context.Context, hold *exec.Hold, req Request, by approved) (result Result, started bool) {
	line := g.record(ctx, g.name(), req)
	if req.undoesForOwner() {
		ctx = admission.PastPause(ctx)
	}
	plan, err := g.admit(ctx, req, line, by)
	var before *answered
	if errors.As(err, &before) {
		return g.firstAnswer(before.plan, before.answer).endedIn(line), true
	}
	if err != nil {
		line.Refused(err)
		return failed(req.Command, err), true
	}
	ctx, cancel := g.admission.WithDeadline(ctx, req.Taken, plan.asking)
	defer cancel()
	ctx = exec.WithHold(ctx, hold) // and not before: the user may think for minutes
	ctx = req.pageOf(ctx, plan.call)
	release, err := g.admission.Acquire(ctx, req.Caller, plan.call.Name(), g.places(plan, by)...)
	if err != nil {
		return failed(req.Command, err).endedIn(line), false
	}
	defer release()
	return g.once(req, plan, func(plan Plan) Result { return g.carryOut(ctx, plan) }).endedIn(line), true
}

// record begins the record of a request to a vault, "" for one that there is not.
func (g *shared) record(ctx context.Context, vault string, req Request) *records.Record {
	return g.records.Begin(records.Caller{Client: req.Client, Surface: req.Surface, Vault: vault, Command: req.Command}, observe.CallOf(ctx))
}

// places are what a call has to have a place of while it runs. A call that changes
// something waits for the changes before it, and has no other place meanwhile; within a
// batch, the batch has that place.
func (g *vaultGateway) places(plan Plan, by approved) []*admission.Semaphore {
	if plan.call.Effect().Mutates() && !by.inBatch {
		return []*admission.Semaphore{g.writing, g.running}
	}
	return []*admission.Semaphore{g.running}
}

// admit takes a request through everything that comes before the first process: the
// pause, the limits, the policy, the approval, the audit log. by is what the user
// has approved of it already.
func (g *vaultGateway) admit(ctx context.Context, req Request, line *records.Record, by approved) (Plan, error) {
	switch undoes := req.Command == undoCommand; {
	case undoes && !req.undoesForOwner(): // to take a change back counts against no limit
		if err := g.admission.Open(); err != nil {
			return Plan{}, err
		}
	case !undoes:
		calls := 1
		if by.inBatch {
			calls = 0 // the batch has taken them
		}
		if err := g.admission.Calling(req.Caller, calls); err != nil {
			return Plan{}, err
		}
	}
	if time.Since(req.Taken) >= g.runner.Timeout() {
		return Plan{}, g.admission.NotStarted(context.DeadlineExceeded, observe.KnownCommand(req.Command)) // and nobody is asked about it
	}
	plan, err := g.Plan(req)
	plan.change = by.change
	plan, err = g.assessLoss(ctx, req, plan, err)
	line.Described(plan.call, plan.refusal)
	line.HiddenBy(g.rules.HiddenBy(plan.call, plan.policy))
	switch {
	case by.question != nil && (err == nil || needsApproval(err)):
		plan, err = plan.withApproval(*by.question)
	case by.takesBack && needsApproval(err):
		plan, err = plan.withApproval(consent.Question{})
	case needsApproval(err) && by.inBatch:
		err = failure.New(failure.CodeUnconfirmed, "send it alone", "command %q requires user approval, and the user was not shown it with the batch", plan.call.Name())
	case needsApproval(err):
		line.Asked(err)
		if before := g.recalled(req, plan); before != nil {
			return plan, before
		}
		asked := time.Now()
		approvedBy := ""
		if plan, approvedBy, err = g.requestApproval(ctx, req, plan, err); err == nil {
			line.Approved(approvedBy)
		}
		plan.asking = time.Since(asked)
	}
	if err != nil {
		return plan, err
	}
	if plan.call.Effect().Mutates() && req.Command != undoCommand && !by.inBatch {
		if err := g.admission.Mutations(1); err != nil {
			return plan, err
		}
	}
	return plan, line.Allowed(plan.call, plan.backend())
}

// carryOut takes the first route, and the next one if nothing ran on it. What the
// gateway answers by itself has none.
func (g *vaultGateway) carryOut(ctx context.Context, plan Plan) Result {
	if plan.answer != "" {
		return ownAnswer(plan)
	}
	notices := plan.notices
	for i, route := range plan.routes {
		route.change = plan.change
		out, err := g.run(ctx, route)
		if i+1 < len(plan.routes) && detourable(err) {
			notices = append(notices, "answered by the embedded backend: "+err.Error())
			continue
		}
		g.logFault(err)
		if err == nil {
			out = g.advised(ctx, route, out)
		}
		return reported{g.name(), route, notices}.result(out, err)
	}
	return failed(plan.call.Name(), failure.New(failure.CodeInternal, "", "a plan without a program"))
}

// run carries out one call on one program.
func (g *vaultGateway) run(ctx context.Context, r route) (exec.Outcome, error) {
	if err := g.checkPinnedVault(ctx, r); err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	r, located, err := g.resolved(ctx, r)
	if err != nil || located.Failure != nil {
		return located, err
	}
	if err := g.rejectIndirectPaths(r); err != nil {
		return nothingRan(located), err
	}
	if r.shown.Change == "" { // else the program checks the change
		if err := g.checkUnchanged(r.shown); err != nil {
			return nothingRan(located), err
		}
	}
	out, err := g.runAt(ctx, r)
	out.Duration += located.Duration
	out.Notices = append(located.Notices, out.Notices...)
	if err == nil {
		out = g.hashed(r, out)
	}
	return out, err
}

// runAt carries out a call whose note is known by its path.
func (g *vaultGateway) runAt(ctx context.Context, r route) (exec.Outcome, error) {
	switch {
	case r.isHidden() && !r.changesNotes():
		return exec.Missing(r.call), nil
	case r.changesNotes():
		return g.change(ctx, r)
	}
	return g.perform(ctx, r)
}

// reported is what a result tells besides what the program did.
type reported struct {
	vault   string // as callers say it: a program may know it by an id or a folder
	route   route
	notices []string
}

func (r reported) result(out exec.Outcome, err error) Result {
	part := r.dividedFrom(&out)
	result := report(r.route, out, err)
	result.Vault, result.divided = r.vault, part
	result.Notices = append(slices.Clip(r.notices), result.Notices...)
	return result
}

// report turns what a program did into a result.
func report(r route, out exec.Outcome, err error) Result {
	call := r.call
	image := takeImage(&out)
	result := Result{
		OK: err == nil && out.Failure == nil, Command: call.Name(),
		ExitCode: out.ExitCode, Backend: r.program.Backend(),
		Path: out.Path, Hash: out.Hash, Notices: failure.Sentences(cloneAll(out.Notices)), raw: out.Stdout,
		form: formOf(call), isNote: call.PrintsNote(), Image: image, state: out.State, unchanged: out.Unchanged,
	}
	if out.Change != "" {
		result.Change = &Change{ID: out.Change, Before: out.Before, After: out.Hash, Added: out.Added, Removed: out.Removed}
		result.lost = out.Destructive || call.Loss() != ""
	}
	result.Stdout = result.shown(out.Stdout, "stdout")
	result.Stderr = result.shown(out.Stderr, "stderr")
	if call.Reply().JSON && result.Stdout != out.Stdout {
		result.Stdout = clean.InJSON(result.Stdout)
	}
	if out.Cut {
		result.Truncated = &Truncated{ShownBytes: len(result.Stdout), TotalBytes: out.Total}
		result.missingPart = fmt.Sprintf("the answer had %d bytes; what is missing was in the middle, behind byte %d", out.Total, out.CutAt)
	}
	switch {
	case err != nil:
		result.Error = failure.Of(err)
	case out.Failure != nil:
		result.Error = failure.Of(out.Failure)
	case result.Path == "":
		result.Path = strings.Clone(confirmedPath(call, out.Stdout))
	}
	return result
}

// guard runs do. A panic in it is logged, and is an error that says no more than
// that there was one.
func (g *shared) guard(command string, do func()) error {
	var caught panics.Catcher
	caught.Try(do)
	if r := caught.Recovered(); r != nil {
		observe.LogPanic(g.log, observe.KnownCommand(command), r.Value, r.Stack)
		return failure.ErrInternal
	}
	return nil
}

// logFault logs an error that no caller sees, because it has no code: an internal
// error.
func (g *shared) logFault(err error) {
	var c failure.CodedError
	if err != nil && !errors.As(err, &c) {
		g.log.LogAttrs(context.Background(), observe.LevelBug, "an error without a code", observe.FaultAttrs(err)...)
	}
}

// rejectIndirectPaths refuses a call on the app whose paths lead to files of other names:
// through a symbolic link, or because the file has further hard links. The access
// rules judge the path that is spelled out, and the app follows it wherever it
// leads. The embedded program follows no link and enforces the rules itself; a vault
// whose folder is not known cannot be looked at.
func (g *vaultGateway) rejectIndirectPaths(r route) error {
	if r.program.Backend() != string(App) || !r.policy.Access.Restrict() {
		return nil
	}
	for _, spelled := range r.call.NamedPaths() {
		if err := notes.RejectIndirect(g.target().Folder, spelled.Path); err != nil {
			return err
		}
	}
	return nil
}

// ownAnswer is the result of a call that the gateway answered by itself.
func ownAnswer(plan Plan) Result {
	return Result{OK: true, Command: plan.call.Name(), ExitCode: -1, Stdout: plan.answer, Notices: plan.notices, raw: plan.answer}
}
