package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/sourcegraph/conc/panics"

	"vaultwicket/exec"
)

// Do plans req and carries it out. It always returns a result: every failure,
// a fault of our own included, is in it.
func (g *Gateway) Do(ctx context.Context, req Request) (result Result) {
	started := time.Now()
	req = g.continued(req)
	if req.Taken.IsZero() {
		req.Taken = started
	}
	ctx, seen := g.observe(ctx, Single, req.Command, req.Surface)
	fault := g.guard(req.Command, func() {
		d, err := g.door(req.Vault)
		if err != nil {
			result = g.records.begin("", req, seen).refused(failed(req.Command, err))
			return
		}
		result = d.answer(ctx, req)
	})
	if fault != nil {
		result = Fault(req.Command)
	}
	result.DurationMs = time.Since(started).Milliseconds()
	seen.ended(result.OK, result.Error, result.Backend, len(result.Stdout))
	return result
}

// guard runs do. A panic in it is logged, and is an error that says no more than
// that there was one.
func (g *shared) guard(command string, do func()) error {
	var caught panics.Catcher
	caught.Try(do)
	if r := caught.Recovered(); r != nil {
		LogPanic(g.log, knownCommand(command), r.Value, r.Stack)
		return errFault
	}
	return nil
}

// do carries out a request and returns the whole of its answer, which hold is the
// right to hold.
func (g *door) do(ctx context.Context, hold *exec.Hold, req Request) Result {
	line := g.records.begin(g.name(), req, g.observedIn(ctx))
	plan, err := g.admit(ctx, req, line, approved{})
	var before *answered
	if errors.As(err, &before) {
		return line.ended(g.firstAnswer(before.plan, before.answer))
	}
	if err != nil {
		return line.refused(failed(req.Command, err))
	}
	doors := []*turns{g.slots}
	if plan.call.Effect().Mutates() {
		doors = []*turns{g.writing, g.slots} // one after the other, and no slot is held while it waits
	}
	ctx, cancel := g.limited(ctx, req, line.asking)
	defer cancel()
	ctx = exec.WithHold(ctx, hold) // and not before: a person may think for minutes
	leave, err := g.enter(ctx, req, plan.call.Name(), doors...)
	if err != nil {
		return line.ended(failed(req.Command, err))
	}
	defer leave()
	if req.IdempotencyKey != "" && plan.call.Effect().Mutates() {
		return line.ended(g.once(req, plan, func(plan Plan) Result { return g.carryOut(ctx, plan) }))
	}
	return line.ended(g.carryOut(ctx, plan))
}

// admit has a request pass everything that stands before the first process: the
// pause, the limits, the policy, the person, the audit log. by is what the user
// has approved of it already.
func (g *door) admit(ctx context.Context, req Request, line *record, by approved) (Plan, error) {
	if err := g.admission.call(req.Caller); err != nil {
		return Plan{}, err
	}
	if time.Since(req.Taken) >= g.runner.Timeout() {
		return Plan{}, g.notBegun(context.DeadlineExceeded, knownCommand(req.Command)) // and nobody is asked about it
	}
	plan, err := g.Plan(req)
	plan, err = g.foresee(ctx, req, plan, err)
	line.described(plan)
	line.hidden, line.hiddenName = g.hiddenBy(plan)
	switch {
	case by.question != nil && (err == nil || asks(err)), by.takesBack && asks(err):
		plan, err = by.plan(plan)
	case asks(err) && by.inBatch:
		err = refuse(codeUnconfirmed, "send it alone", "command %q requires user approval, and the user was not shown it with the batch", plan.call.Name())
	case asks(err):
		line.asked(err)
		if before := g.recalled(req, plan); before != nil {
			return plan, before
		}
		asked := time.Now()
		if plan, err = g.agree(ctx, req, plan, err); err == nil {
			line.answered()
		}
		line.asking = time.Since(asked)
	}
	if err != nil {
		return plan, err
	}
	if plan.call.Effect().Mutates() {
		if err := g.admission.mutation(); err != nil {
			return plan, err
		}
	}
	return plan, line.allowed(plan)
}

// limited bounds how long a call may take from when it was taken in: waiting for its
// turn counts, the time in which a person was asked does not.
func (g *shared) limited(ctx context.Context, req Request, asking time.Duration) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, req.Taken.Add(g.runner.Timeout()+asking))
}

// enter waits for a place behind each door, in their order, but no longer than
// ctx lasts, and not through a pause. leave gives the places back.
func (g *shared) enter(ctx context.Context, req Request, command string, doors ...*turns) (leave func(), err error) {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	var passed []*turns
	leave = func() {
		for _, door := range passed {
			door.release(req.Caller)
		}
	}
	for _, door := range doors {
		waited, err := door.acquire(ctx, req.Caller)
		if err != nil {
			leave()
			return nil, g.notBegun(err, command)
		}
		passed = append(passed, door)
		if !waited {
			continue
		}
		if err := g.admission.open(); err != nil {
			leave()
			return nil, err
		}
	}
	return leave, nil
}

// notBegun says why a call ended while it waited for its turn.
func (g *shared) notBegun(err error, command string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return refuse(codeTimeout, "nothing was changed; send fewer calls at once, or try again later",
			"command %q: the time limit of %v passed while the call waited for its turn", command, g.runner.Timeout())
	}
	return refuse(codeCancelled, "", "command %q: cancelled before it started", command)
}

// carryOut takes the first route, and the next one if nothing ran on it. What the
// gateway answers by itself has none.
func (g *door) carryOut(ctx context.Context, plan Plan) Result {
	if plan.answer != "" {
		return ownAnswer(plan)
	}
	notices := plan.notices
	for i, route := range plan.routes {
		out, err := g.run(ctx, route)
		if i+1 < len(plan.routes) && detourable(err) {
			notices = append(notices, "answered by the embedded backend: "+err.Error())
			continue
		}
		g.logFault(err)
		result := report(route, out, err)
		result.Vault = g.name() // as callers say it: a program may know it by an id or a folder
		result.Notices = append(notices, result.Notices...)
		return result
	}
	return failed(plan.call.Name(), refuse(codeInternal, "", "a plan without a program"))
}

// logFault logs an error that no caller sees, because it has no code: a fault of
// ours.
func (g *shared) logFault(err error) {
	var c coded
	if err != nil && !errors.As(err, &c) {
		g.log.LogAttrs(context.Background(), LevelBug, "an error without a code", faultAttrs(err)...)
	}
}

// run carries out one call on one program.
func (g *door) run(ctx context.Context, r route) (exec.Outcome, error) {
	if err := g.pinned(ctx, r); err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	r, located, err := g.resolved(ctx, r)
	if err != nil || located.Failure != nil {
		return located, err
	}
	if err := g.direct(r); err != nil {
		return nothingRan(located), err
	}
	if err := g.asShown(r); err != nil {
		return nothingRan(located), err
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
func (g *door) runAt(ctx context.Context, r route) (exec.Outcome, error) {
	switch {
	case r.isHidden() && !r.changesNotes():
		return exec.Missing(r.call), nil
	case r.changesNotes():
		return g.change(ctx, r)
	}
	return g.perform(ctx, r)
}
