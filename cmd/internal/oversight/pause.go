package oversight

import (
	"context"
	"fmt"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// pauseState is what "pause --json" and "resume --json" print.
type pauseState struct {
	Paused bool       `json:"paused"`
	Agent  string     `json:"agent,omitempty"` // the only agent that is paused, "" for all agents
	Since  *time.Time `json:"since,omitempty"`
	File   string     `json:"file,omitempty"`
}

// Pause runs "vaultwicket pause", which makes every server deny every call immediately. It does not read the
// settings, because it has to work if they are invalid.
func Pause(_ context.Context, std terminal.Streams, args []string) error {
	state, agent, asJSON, err := parsePause("pause", std, args)
	if err != nil {
		return err
	}
	if !ownerfiles.EnsureFolder(state) {
		return terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("not paused: cannot create %q as a private folder", state),
			"set XDG_STATE_HOME to a folder that only you can access; servers need the same one",
		)
	}
	if err := admission.Pause(state, agent, time.Now()); err != nil {
		return terminal.Fail(terminal.ExitNotReady, "not paused: "+err.Error(), "")
	}
	if agent != "" {
		if asJSON {
			return terminal.PrintJSON(std.Out, pauseState{Paused: true, Agent: agent}, terminal.ExitDone)
		}
		fmt.Fprintf(
			std.Out,
			"agent %s is paused: its calls are denied until \"vaultwicket resume --agent %[1]s\"\n",
			agent,
		)
		return nil
	}
	if stateHome := std.Getenv("XDG_STATE_HOME"); stateHome != "" { // a desktop program may have started a server without it
		terminal.Notef(std.Err, "this applies to servers that also have XDG_STATE_HOME=%s", sanitize.Line(stateHome))
	}
	since := admission.PausedSince(state)
	if asJSON {
		return terminal.PrintJSON(
			std.Out,
			pauseState{Paused: true, Since: since, File: admission.PauseFile(state)},
			terminal.ExitDone,
		)
	}
	text := "paused"
	if since != nil {
		text += " since " + since.Local().Format(time.RFC3339)
	}
	fmt.Fprintf(std.Out, "%s: every call is denied until \"vaultwicket resume\"\n", text)
	return nil
}

// Resume runs "vaultwicket resume", which ends a pause.
func Resume(_ context.Context, std terminal.Streams, args []string) error {
	state, agent, asJSON, err := parsePause("resume", std, args)
	if err != nil {
		return err
	}
	wasPaused, err := admission.Resume(state, agent)
	if err != nil {
		return terminal.Fail(terminal.ExitNotReady, "still paused: "+err.Error(), "delete the file")
	}
	result := pauseState{Agent: agent}
	text := "resumed"
	if agent == "" {
		result.File = admission.PauseFile(state)
	}
	if !wasPaused {
		text = "was not paused"
	}
	switch {
	case asJSON:
		return terminal.PrintJSON(std.Out, result, terminal.ExitDone)
	case agent != "":
		fmt.Fprintf(std.Out, "agent %s %s\n", agent, text)
	default:
		fmt.Fprintf(std.Out, "%s: calls are allowed\n", text)
	}
	return nil
}

// parsePause parses the arguments of pause and resume, and returns the state folder.
func parsePause(name string, std terminal.Streams, args []string) (state, agent string, asJSON bool, err error) {
	rest, err := terminal.ParseFlags(name, args, func(f terminal.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
		f.StringVar(&agent, "agent", "", "only this agent")
	})
	if err != nil {
		return "", "", false, err
	}
	if agent != "" {
		if err := settings.CheckAgentName(agent); err != nil {
			return "", "", false, &terminal.UsageError{Reason: err.Error()}
		}
	}
	if len(rest) > 0 {
		return "", "", false, &terminal.UsageError{
			Reason: fmt.Sprintf("%s: unexpected argument %q", name, excerpt.Short(rest[0])),
			Advice: "it applies to every server of this user",
		}
	}
	noteState(std)
	state, err = settings.StateFolder(std)
	return state, agent, asJSON, err
}
