package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/terminal"
)

// configActions are the words behind "vaultwicket config".
var configActions = []struct {
	name string
	run  func(f *Flags, std terminal.Streams) error
}{
	{"show", showConfig}, {"check", checkConfig}, {"path", printConfigPath}, {"init", initConfig}, {"schema", printSchema},
}

// Command is "vaultwicket config": the settings, and where they come from.
func Command(_ context.Context, std terminal.Streams, args []string) error {
	f := NewFlags("config")
	if err := f.parse(args); err != nil {
		return err
	}
	var names []string
	for _, action := range configActions {
		if f.NArg() == 1 && f.Arg(0) == action.name {
			return action.run(f, std)
		}
		names = append(names, action.name)
	}
	if f.NArg() != 1 {
		return &exit.UsageError{Reason: "usage: vaultwicket config show|check|path|init|schema", Advice: "one of " + strings.Join(names, ", ")}
	}
	return &exit.UsageError{
		Reason: fmt.Sprintf("unknown action %q%s", quote.Short(f.Arg(0)), quote.DidYouMean(f.Arg(0), names)),
		Advice: "one of " + strings.Join(names, ", "),
	}
}

// printConfigPath is "config path": where the settings file is, or would be.
func printConfigPath(f *Flags, std terminal.Streams) error {
	at, err := f.place(std)
	if err != nil {
		return err
	}
	if at.name == "" {
		return at.missing()
	}
	if f.JSON {
		return exit.JSON(std.Out, map[string]string{"path": at.name}, exit.Done)
	}
	_, err = fmt.Fprintln(std.Out, at.name)
	return err
}

// missing is the error of a command that needs a settings file where there is none
// to be.
func (p place) missing() error {
	if p.origin != "" {
		return &exit.UsageError{Reason: fmt.Sprintf("the settings file is %q (%s)", noFile, p.origin), Advice: "set one with --config"}
	}
	return &exit.UsageError{Reason: "no location for a settings file", Advice: "set one with --config"}
}

// checked is what "config check --json" prints.
type checked struct {
	OK       bool      `json:"ok"`
	File     string    `json:"file,omitempty"`
	Problems []problem `json:"problems"`
}

// checkConfig is "config check": all that is wrong with the settings.
func checkConfig(f *Flags, std terminal.Streams) error {
	s, err := f.read(std)
	if err == nil {
		err = f.agree(&s)
	}
	if err == nil {
		err = s.HTTP.agree()
	}
	warning := ""
	if err == nil {
		err = s.CheckCLI(f, std)
	}
	if err == nil {
		warning, err = s.CheckState(std)
	}
	if warning != "" {
		terminal.Message(std.Err, terminal.Warning, warning)
	}
	answer := checked{OK: err == nil, File: f.file.name, Problems: []problem{}}
	var file *wrongFile
	switch {
	case errors.As(err, &file):
		answer.Problems = slices.Clone(file.problems)
	case err != nil:
		answer.Problems = []problem{{Message: err.Error()}}
	}
	switch {
	case f.JSON && err == nil:
		return exit.JSON(std.Out, answer, exit.Done)
	case f.JSON:
		return exit.JSON(std.Out, answer, exit.StatusOf(err))
	case err == nil:
		_, err = fmt.Fprintln(std.Out, "OK")
		return err
	case file != nil:
		return file.each()
	}
	return err
}
