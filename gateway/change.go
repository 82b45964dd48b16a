package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

// change carries out a call that changes notes. The embedded program keeps,
// does and checks the change by itself. What the app does is kept before it
// begins and looked at afterwards, where the folder of the vault is known.
func (g *vaultGateway) change(ctx context.Context, r route) (exec.Outcome, error) {
	id := cmp.Or(r.entry, journal.NewID(time.Now()))
	options := r.options(id)
	if r.program.Backend() == string(Embedded) {
		out, err := g.runner.Run(ctx, r.permit, r.program.WithOptions(options))
		if err != nil {
			return g.pollOutcome(ctx, r, r.program, id, out, err)
		}
		return out, nil
	}
	own := g.embeddedProgram()
	if own == nil {
		if r.expect != "" {
			return exec.Outcome{ExitCode: -1}, failure.New(failure.CodeVaultNotFound, "the user can set vault to the folder of the vault", "expectHash needs the folder of the vault, which is not known")
		}
		out, err := g.perform(ctx, r)
		out.Notices = append(out.Notices, notKept+", because the folder of the vault is not known: undo cannot take it back")
		return out, err
	}
	kept, err := g.journal(g.target().Folder)
	if err != nil {
		return exec.Outcome{ExitCode: -1}, err
	}
	unlock, err := kept.Lock(ctx)
	if err != nil {
		return exec.Outcome{ExitCode: -1}, failure.New(failure.CodeConflict, "try again", "another program changes the vault: %v", err)
	}
	defer unlock()
	options.Task = exec.Begin
	begun, err := g.runner.Run(ctx, r.permit, own.WithOptions(options))
	switch {
	case err != nil:
		return begun, err
	case r.isHidden() && (begun.Failure == nil || begun.Failure.Code() == failure.CodeNeedsApp):
		return exec.Missing(r.call), nil // no rule lets it come here
	case begun.Failure != nil && begun.Failure.Code() == failure.CodeNeedsApp:
		out, err := g.perform(ctx, r)
		out.Notices = append(out.Notices, notKept+", because only the app knows what it changes: undo cannot take it back")
		return out, err
	case begun.Failure != nil:
		return nothingRan(begun), begun.Failure
	}
	out, err := g.perform(ctx, r)
	if err != nil {
		return g.pollOutcome(ctx, r, *own, id, out, err)
	}
	return g.verified(ctx, r, *own, id, begun, out)
}

// changeState is the state of a change afterwards, as the embedded program reports it.
type changeState struct {
	State  string `json:"state"` // applied, untouched or otherwise
	Before string `json:"before"`
	After  string `json:"after"`
	// Notices say how a change that was made differs from the planned one.
	Notices []string `json:"notices"`
	// Added and Removed are those of [Change].
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

const (
	stateApplied   = "applied"
	stateUntouched = "untouched"
	stateOtherwise = "otherwise"
)

// note adds the state of a change to an outcome.
func (s changeState) note(out *exec.Outcome, id string) {
	out.Change, out.Before, out.Hash, out.Added, out.Removed = id, s.Before, s.After, s.Added, s.Removed
	if s.State == stateApplied {
		out.Notices = append(out.Notices, s.Notices...)
	}
}

// unexpectedState says that a note is neither as it was nor as planned: the change was made
// twice, in part, in another way, or together with a change of another program. The journal has
// the note as it was found.
func unexpectedState(id, format string, args ...any) *failure.RequestError {
	hint := "look at the note before you try again; undo id=" + id + " makes it what it was"
	return failure.New(failure.CodeNotApplied, hint, format+", but the note is neither as it was nor as it was to be", args...)
}

// readChangeState asks for the state of a change.
func (g *vaultGateway) readChangeState(ctx context.Context, r route, own exec.Program, id string) (changeState, error) {
	out, err := g.runner.Run(ctx, r.permit, own.WithOptions(exec.WriteOptions{Task: exec.End, Entry: id}))
	if err != nil {
		return changeState{}, err
	}
	if out.Failure != nil {
		return changeState{}, out.Failure
	}
	var s changeState
	return s, json.Unmarshal([]byte(out.Stdout), &s)
}

// verified compares the answer of the app with the notes.
func (g *vaultGateway) verified(ctx context.Context, r route, own exec.Program, id string, begun, out exec.Outcome) (exec.Outcome, error) {
	var planned struct {
		Files  []json.RawMessage
		Broken string
	}
	if err := json.Unmarshal([]byte(begun.Stdout), &planned); err != nil || len(planned.Files) == 0 {
		return out, nil // there was nothing to change
	}
	if planned.Broken != "" && out.Failure == nil {
		out.Notices = append(out.Notices, "the change "+planned.Broken)
	}
	s, err := g.readChangeState(context.WithoutCancel(ctx), r, own, id)
	switch {
	case err != nil:
		out.Notices = append(out.Notices, "the change could not be read back: "+err.Error())
	case s.State == stateUntouched && out.Failure == nil:
		return out, failure.New(failure.CodeNotApplied, "look at the note", "the app reports success, but the note is as it was")
	case s.State == stateApplied && out.Failure != nil:
		s.note(&out, id)
		out.Notices = append(out.Notices, out.Failure.Error()+", and the change is made")
		out.Failure = nil
	case s.State == stateOtherwise && out.Failure == nil:
		s.note(&out, id)
		return out, unexpectedState(id, "the app reports success")
	case s.State != stateUntouched:
		s.note(&out, id)
	}
	return out, nil
}

const (
	// pollFor is how long a note is polled after a call was aborted: an app that was only slow
	// is done by then.
	pollFor   = 2 * time.Second
	pollEvery = 100 * time.Millisecond
)

// pollOutcome finds out whether a change was made whose call was aborted. The change is never
// made again. While the program may still be making it, the outcome stays unknown.
//
// A note that is neither old nor as planned is read once: the journal then records it as the
// result of the change.
func (g *vaultGateway) pollOutcome(ctx context.Context, r route, own exec.Program, id string, out exec.Outcome, broken error) (exec.Outcome, error) {
	var stopped *exec.Stopped
	var away *exec.Unavailable
	mayHaveActed := errors.As(broken, &stopped) && stopped.Code() == exec.CodeOutcomeUnknown || errors.As(broken, &away) && away.Code() == exec.CodeCrashed
	if !mayHaveActed {
		return out, broken
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pollFor)
	defer cancel()
	var last changeState
	for {
		s, err := g.readChangeState(ctx, r, own, id)
		switch {
		case err != nil:
			var cause *exec.Failure
			if own == r.program && errors.As(err, &cause) && cause.Code() == failure.CodeNotFound {
				return out, broken // it did not even begin
			}
		case s.State == stateApplied:
			s.note(&out, id)
			out.Notices = append(out.Notices, "the call was broken off ("+broken.Error()+"), and the change is made")
			return out, nil
		case s.State == stateOtherwise:
			s.note(&out, id)
			return out, unexpectedState(id, "the call was broken off (%v)", broken)
		case own == r.program:
			return out, failure.New(failure.CodeNotApplied, "the call can be repeated", "the call was broken off (%v), and nothing was changed", broken)
		default:
			last = s
		}
		select {
		case <-ctx.Done():
			if last.State == stateUntouched {
				out.Notices = append(out.Notices, fmt.Sprintf("for %v behind the call the note was as before it", pollFor))
			}
			return out, broken
		case <-time.After(pollEvery):
		}
	}
}
