package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/safefile"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/state/paths"
)

// pauseState is what "pause --json" and "resume --json" print.
type pauseState struct {
	Paused bool       `json:"paused"`
	Since  *time.Time `json:"since,omitempty"`
	File   string     `json:"file"`
}

// pause is "vaultwicket pause": every server refuses everything, at once. It needs
// no settings: it has to work when they are what is wrong.
func pause(_ context.Context, std terminal.Streams, args []string) error {
	state, asJSON, err := pauseWords("pause", std, args)
	if err != nil {
		return err
	}
	name := admission.PauseFile(state)
	if !paths.MakePrivate(state) {
		return exit.New(exit.NotReady, fmt.Sprintf("not paused: cannot create %q as a private folder", state), "")
	}
	if err := layPause(name, time.Now()); err != nil {
		return exit.New(exit.NotReady, "not paused: "+err.Error(), "")
	}
	if place := std.Getenv("XDG_STATE_HOME"); place != "" { // a desktop program may have started one without it
		terminal.Notef(std.Err, "this applies to servers that also have XDG_STATE_HOME=%s", clean.Line(place))
	}
	since := pausedSince(name)
	if asJSON {
		return exit.JSON(std.Out, pauseState{Paused: true, Since: since, File: name}, exit.Done)
	}
	text := "paused"
	if since != nil {
		text += " since " + since.Local().Format(time.RFC3339)
	}
	fmt.Fprintf(std.Out, "%s: every call is denied until \"vaultwicket resume\"\n", text)
	return nil
}

// resume is "vaultwicket resume": calls are let through again.
func resume(_ context.Context, std terminal.Streams, args []string) error {
	state, asJSON, err := pauseWords("resume", std, args)
	if err != nil {
		return err
	}
	name := admission.PauseFile(state)
	err = os.Remove(name)
	text := "resumed"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = "was not paused"
	case err != nil:
		return exit.New(exit.NotReady, "still paused: "+err.Error(), "delete the file")
	}
	if asJSON {
		return exit.JSON(std.Out, pauseState{File: name}, exit.Done)
	}
	fmt.Fprintf(std.Out, "%s: calls are allowed\n", text)
	return nil
}

func pauseWords(name string, std terminal.Streams, args []string) (state string, asJSON bool, err error) {
	rest, err := flags.Parse(name, args, func(f flags.Set) { f.BoolVar(&asJSON, "json", false, "print JSON") })
	if err != nil {
		return "", false, err
	}
	if len(rest) > 0 {
		return "", false, &exit.UsageError{Reason: fmt.Sprintf("%s: unexpected argument %q", name, quote.Short(rest[0])), Advice: "it applies to every server of this user"}
	}
	state, err = settings.StateFolder(std)
	return state, asJSON, err
}

// layPause makes the file, unless it is there: who pauses twice has paused since
// the first time. Its name is what counts, and comes to be in one step; the time
// in it may be missing, as on a full disk.
func layPause(name string, now time.Time) error {
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

// pausedSince returns the time in the file, or else that of the file, nil if
// there is none.
func pausedSince(name string) *time.Time {
	info, err := os.Lstat(name)
	if err != nil {
		return nil
	}
	since := info.ModTime().UTC().Truncate(time.Second)
	if !info.Mode().IsRegular() {
		return &since
	}
	file, err := os.OpenFile(name, os.O_RDONLY|safefile.NoFollow, 0) // it may be a pipe by then
	if err != nil {
		return &since
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, int64(len(time.RFC3339)+1)))
	if written, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text))); err == nil {
		since = written
	}
	return &since
}
