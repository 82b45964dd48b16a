package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"vaultwicket/exec/frame"
	"vaultwicket/policy"
)

// run is Run without a watcher.
func (r *Runner) run(ctx context.Context, permit policy.Permit, p Program) (Outcome, error) {
	if !permit.Valid() {
		return notRun(), ErrNoPermit
	}
	if permit.Confined() && p.backend != embeddedBackend {
		return notRun(), ErrNoPermit
	}
	command, err := p.Command(permit.Call())
	if err != nil {
		return notRun(), err
	}
	ctx, end := r.holding(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	if p.backend == embeddedBackend {
		return r.attempt(ctx, permit, p, command).result(r, permit)
	}
	if err := r.acquire(ctx); err != nil {
		return notRun(), err
	}
	defer r.release()
	return r.runOnApp(ctx, permit, p, command)
}

// preview is Preview without a watcher.
func (r *Runner) preview(ctx context.Context, preview policy.Preview, p Program) (Outcome, error) {
	if !preview.Valid() || p.backend != embeddedBackend || p.options.Task != Plan {
		return notRun(), ErrNoPermit
	}
	command, err := p.Command(preview.Call())
	if err != nil {
		return notRun(), err
	}
	ctx, end := r.holding(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	return r.attempt(ctx, preview, p, command).result(r, preview)
}

// acquire waits for the one place in the queue of the app.
func (r *Runner) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return r.stopped(err, false)
	}
	r.queued.Add(1)
	defer r.queued.Add(-1)
	select {
	case r.queue <- struct{}{}:
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &Stopped{code: CodeTimeout, reason: "the time limit passed while the call waited for its turn: the app answers one call at a time",
				hint: "nothing was changed; try again later, with fewer calls at once"}
		}
		return r.stopped(ctx.Err(), false)
	}
}

func (r *Runner) release() { <-r.queue }

// runOnApp runs one call that holds the place in the queue.
func (r *Runner) runOnApp(ctx context.Context, permit policy.Permit, p Program, command Command) (Outcome, error) {
	remarks, err := r.ready(ctx, permit, p)
	if err != nil {
		return notRun(), err
	}
	out, err := r.runWithRetry(ctx, permit, p, command)
	if err != nil {
		r.forgetRelease()
	}
	out.Notices = append(remarks, out.Notices...)
	return out, err
}

// runWithRetry repeats a call that the client did not know: nothing was run, and a
// vault that was just opened knows it the second time.
func (r *Runner) runWithRetry(ctx context.Context, permit policy.Permit, p Program, command Command) (Outcome, error) {
	first := r.attempt(ctx, permit, p, command)
	if first.stopped() || !first.verdict.cold {
		return first.result(r, permit)
	}
	second := r.attempt(ctx, permit, p, command)
	second.took += first.took
	v := &second.verdict
	switch {
	case v.cold:
		v.failure, v.unavailable = afterColdStart(permit.Call().Name(), first.verdict.sentence(), v.sentence())
	case v.failure != nil && v.failure.code == CodeEmptyOutput:
		v.failure, v.unavailable = nil, vaultStarting()
	}
	return second.result(r, permit)
}

// attempt is one process: how it ended and what its answer means.
type attempt struct {
	ending
	path     string
	embedded bool // whether it is the embedded program
	verdict  verdict
	facts    frame.Facts
}

func (a attempt) stopped() bool {
	return a.broken != nil || a.ending.stopped != nil || a.crash != "" || a.lost != ""
}

func (r *Runner) attempt(ctx context.Context, permit policy.Grant, p Program, command Command) attempt {
	c := child{
		path: command.Path, name: p.name, args: command.Args, env: r.env(p.backend),
		stdin: command.Stdin, embedded: p.backend == embeddedBackend, keep: r.config.MaxKept,
	}
	if c.embedded && permit.Access() != "" {
		c.env = append(slices.Clip(c.env), accessVariable+"="+permit.Access())
	}
	if c.embedded && r.config.Resident {
		e := r.pool.run(ctx, c, command, permit.Access())
		for again := 0; again < otherWorkers && e.lostToOtherCall() && !permit.Call().Effect().Mutates(); again++ {
			e = r.pool.run(ctx, c, command, permit.Access()) // what only reads can be asked again
		}
		return classifyEnding(e, permit, p)
	}
	r.processes.Add(1)
	defer r.processes.Add(-1)
	return classifyEnding(c.run(ctx), permit, p)
}

// classifyEnding judges what a process, or a worker in its place, has printed.
func classifyEnding(e ending, permit policy.Grant, p Program) attempt {
	a := attempt{ending: e, path: p.path, embedded: p.backend == embeddedBackend}
	got := answer{exit: a.exit, cut: a.stdout.cut()}
	got.stdout, got.gap = a.stdout.text()
	got.stderr, _ = a.stderr.text()
	if a.embedded {
		got.stderr, a.facts, got.reported = frame.CutReport(got.stderr)
		if panicked(got) {
			a.crash = "a panic"
		}
	}
	a.verdict = verdict{answer: got}
	if !a.stopped() {
		a.verdict = questionOf(permit, p).judge(got)
	}
	return a
}

// result turns an attempt into what the caller of Run gets.
func (a attempt) result(r *Runner, permit policy.Grant) (Outcome, error) {
	if permit.Guarded() && !a.embedded {
		a.withhold(permit)
	}
	out := a.outcome()
	mutates := permit.Call().Effect().Mutates()
	switch {
	case a.broken != nil:
		return out, cannotStart(a.path, a.broken)
	case a.ending.stopped != nil:
		return out, r.stopped(a.ending.stopped, mutates && a.started)
	case a.crash != "":
		return out, crashed(a.path, a.crash, mutates)
	case a.lost != "":
		return out, lost(a.path, a.lost, mutates && a.started)
	case a.verdict.unavailable != nil:
		return out, a.verdict.unavailable
	}
	out.Failure = a.verdict.failure
	return out, nil
}

func (a attempt) outcome() Outcome {
	v := a.verdict
	out := Outcome{
		Stdout: v.stdout, Stderr: v.stderr, ExitCode: a.exit, Duration: a.took,
		Total: int64(len(v.stdout)), Notices: v.notices,
		Path: a.facts.Path, Hash: a.facts.Hash, Change: a.facts.Change,
		Added: a.facts.Added, Removed: a.facts.Removed, Loses: a.facts.Loses,
	}
	if before := a.facts.Before; before != nil {
		out.Before = *before
	}
	if v.cut {
		out.Cut, out.CutAt = true, v.gap
		out.Total += a.stdout.total - int64(a.stdout.kept())
	}
	if a.facts.LineEnds {
		out.Notices = append(out.Notices, "the note has CRLF line ends, and the text was given the same")
	}
	if a.facts.Overtaken {
		out.Notices = append(out.Notices, "the change was made, and then somebody else changed the note again")
	}
	if a.stderr.cut() {
		out.Notices = append(out.Notices, fmt.Sprintf("of %d bytes on standard error the middle was dropped", a.stderr.total))
	}
	if a.held {
		out.Notices = append(out.Notices, "another process kept the output of the client open; what it printed later is not in the answer")
	}
	return out
}

// stopped says why a call was ended. begun means that it may have changed
// something.
func (r *Runner) stopped(cause error, begun bool) *Stopped {
	s := &Stopped{code: CodeCancelled, reason: "the call was cancelled", hint: "nothing was changed; the call can be repeated"}
	switch {
	case errors.Is(cause, errFlood):
		s = &Stopped{code: CodeOutputLimit, reason: fmt.Sprintf("the client printed more than %d bytes", floodLimit),
			hint: "narrow the call with limit=, folder= or path="}
	case errors.Is(cause, context.DeadlineExceeded):
		s = &Stopped{code: CodeTimeout, reason: fmt.Sprintf("the client did not answer within %v", r.config.Timeout),
			hint: "look whether Obsidian shows a dialog, or is still starting"}
	}
	if begun {
		s.code, s.hint = CodeOutcomeUnknown, "the app may have made the change, or may still make it; "+hintReadBack
	}
	return s
}

func crashed(path, how string, mutates bool) *Unavailable {
	hint := "the user can install Obsidian again; installers older than 1.12.7 bring a CLI that dies in a sandbox"
	if mutates {
		hint = "the change may have been made; " + hintReadBack
	}
	return &Unavailable{code: CodeCrashed, program: path, reason: "died by " + how, hint: hint}
}

// lost is for a call whose worker ended before it answered, be it through this
// call or through another one.
func lost(path, how string, begun bool) error {
	if begun {
		return &Stopped{code: CodeOutcomeUnknown, reason: "the worker of the vault " + how + " before it answered",
			hint: "the change may have been made; " + hintReadBack}
	}
	return &Unavailable{code: CodeCrashed, program: path, reason: "as the worker of the vault it " + how + " before it answered",
		hint: "nothing was changed; the next call starts another worker"}
}

// panicked recognises our own program brought down by the Go runtime, which
// ends it with the same status as a wrong request.
func panicked(a answer) bool {
	return a.exit == 2 && (hasLine(a.stderr, "panic: ") || hasLine(a.stderr, "fatal error: "))
}

func cannotStart(path string, err error) *Unavailable {
	var known *Unavailable
	if errors.As(err, &known) {
		return known
	}
	u := &Unavailable{code: CodeUnsuitable, program: path, reason: "cannot be started: " + reasonOf(err), cause: err,
		hint: "the user can check whether this program can be started at all"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		u.code, u.hint = CodeNotFound, "the file, or the interpreter it names, is gone; the user can install it again"
	case errors.Is(err, errors.ErrUnsupported):
		u.code, u.hint = CodePlatform, "this system does not let one program start another"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		u.hint = "the system has reached a limit on processes, memory or open files; try again later"
	}
	return u
}
