package admission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vaultwicket/gateway/failure"
)

// agentPauseFile and agentRevokedFile return the files in the state folder that exist while an
// agent is paused, or has been revoked. Every server looks for them at every call of the agent.
func agentPauseFile(state, agent string) string { return PauseFile(state) + "." + agent }

func agentRevokedFile(state, agent string) string { return filepath.Join(state, "revoked."+agent) }

// PauseAgent has every server of the state folder, which must exist, refuse every call of an
// agent, and end those under way.
func PauseAgent(state, agent string, now time.Time) error {
	return mark(agentPauseFile(state, agent), now)
}

// RevokeAgent takes all rights from an agent, as [PauseAgent] does, until [RestoreAgent].
func RevokeAgent(state, agent string, now time.Time) error {
	return mark(agentRevokedFile(state, agent), now)
}

// ResumeAgent ends the pause of an agent. was says whether there was one.
func ResumeAgent(state, agent string) (was bool, err error) {
	return unmark(agentPauseFile(state, agent))
}

// RestoreAgent ends the revocation of an agent. was says whether there was one.
func RestoreAgent(state, agent string) (was bool, err error) {
	return unmark(agentRevokedFile(state, agent))
}

// AgentState reports whether an agent is paused, and whether it is revoked. The error says why
// that cannot be told; it names no path.
func AgentState(state, agent string) (paused, revoked bool, err error) {
	if revoked, err = isThere(agentRevokedFile(state, agent)); err == nil {
		paused, err = isThere(agentPauseFile(state, agent))
	}
	return paused, revoked, err
}

// mark creates a file with the time. It counts by its name.
func mark(name string, now time.Time) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(file, now.UTC().Format(time.RFC3339))
	_ = file.Sync()
	_ = file.Close()
	return nil
}

func unmark(name string) (was bool, err error) {
	err = os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// agentOpen refuses every call of an agent that is paused or revoked.
func (a *Controller) agentOpen() error {
	if a.agent == "" || a.state == "" {
		return nil
	}
	paused, revoked, err := AgentState(a.state, a.agent)
	switch {
	case err != nil:
		return failure.New(failure.CodeState, "the user can make the state folder one of their own, with mode 0700",
			"cannot tell whether the agent is paused: state folder: %v", err)
	case revoked:
		return failure.New(failure.CodeAgent, `the user can give it a new token with "vaultwicket agent rotate"`, "agent %q: the agent was revoked", a.agent)
	case paused:
		return failure.New(failure.CodePaused, `the user can resume it with "vaultwicket resume --agent"`, "agent %q is paused", a.agent)
	}
	return nil
}

// lookAgain is the time between two looks at whether an agent may go on.
const lookAgain = 200 * time.Millisecond

// Follow returns a context that is cancelled soon after the agent of the calls is paused or
// revoked. Without an agent it is cancelled by cancel alone. The caller calls cancel.
func (a *Controller) Follow(ctx context.Context) (followed context.Context, cancel context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	if a.agent == "" || a.state == "" {
		return ctx, stop
	}
	var look func()
	look = func() { // most calls end before the first one
		switch {
		case ctx.Err() != nil:
		case a.agentOpen() != nil:
			stop()
		default:
			time.AfterFunc(lookAgain, look)
		}
	}
	timer := time.AfterFunc(lookAgain, look)
	return ctx, func() {
		timer.Stop()
		stop()
	}
}
