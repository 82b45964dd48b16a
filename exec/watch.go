package exec

import (
	"context"

	"vaultwicket/policy"
)

// Watcher is told of every program that answers for a [Runner], for traces. It
// learns nothing of what is asked and answered. It is called by many goroutines
// at once and must come back at once.
type Watcher interface {
	// BeginRun is told that a program is going to be asked: "obsidian" or
	// "embedded". What it returns, unless nil, is told how that ended: the exit
	// status, -1 if nothing ran, and the code of the error or the failure, "" for
	// none. ctx is the one of Run.
	BeginRun(ctx context.Context, backend string) (end func(exitCode int, code string))
}

// Run runs the call of permit with p and says what came of it.
//
// The error is nil when the program answered, also when the answer is a
// [Failure]. It is an [*Unavailable] when the surroundings are not right, a
// [*Stopped] when the call was ended before its answer was complete, a
// [*allowlist.ParseError] when the call does not fit on its way, and
// [ErrNoPermit] or [ErrNoProgram] when there is nothing to run or to run it
// with. The Outcome holds what was gathered in any case.
//
// Nothing is repeated but one kind of call, once and at once: one that the
// client did not know because its vault was just being opened.
func (r *Runner) Run(ctx context.Context, permit policy.Permit, p Program) (Outcome, error) {
	end := r.watched(ctx, p)
	out, err := r.run(ctx, permit, p)
	if end != nil {
		end(out.ExitCode, codeIn(out, err))
	}
	return out, err
}

// Preview has p, which must be the embedded program with the task [Plan], work out
// what the call of preview would change. Nothing is changed. What it returns is that
// of Run.
func (r *Runner) Preview(ctx context.Context, preview policy.Preview, p Program) (Outcome, error) {
	end := r.watched(ctx, p)
	out, err := r.preview(ctx, preview, p)
	if end != nil {
		end(out.ExitCode, codeIn(out, err))
	}
	return out, err
}

// watched tells the watcher that p is going to be asked. It is nil without one.
func (r *Runner) watched(ctx context.Context, p Program) (end func(exitCode int, code string)) {
	if r.config.Watch == nil {
		return nil
	}
	return r.config.Watch.BeginRun(ctx, p.Backend())
}

// codeIn returns the code of what went wrong, "" if nothing did. An error without
// one is a fault of ours.
func codeIn(out Outcome, err error) string {
	coded, ok := err.(interface{ Code() string })
	switch {
	case ok:
		return coded.Code()
	case err != nil:
		return codeFault
	case out.Failure != nil:
		return out.Failure.Code()
	}
	return ""
}

// codeFault is what the gateway calls an error without a code.
const codeFault = "internal"
