package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
)

// configActions are the words behind "vaultwicket config".
var configActions = []struct {
	name string
	run  func(f *flags, std streams) error
}{
	{"show", showConfig}, {"check", checkConfig}, {"path", printConfigPath}, {"init", initConfig}, {"schema", printSchema},
}

// configCommand is "vaultwicket config": the settings, and where they come from.
func configCommand(_ context.Context, std streams, args []string) error {
	f := newFlags("config")
	if err := f.parse(args); err != nil {
		return helpInstead(err, std, "config")
	}
	var names []string
	for _, action := range configActions {
		if f.NArg() == 1 && f.Arg(0) == action.name {
			return action.run(f, std)
		}
		names = append(names, action.name)
	}
	if f.NArg() != 1 {
		return &wrongUse{reason: "config takes one word", hint: "one of " + strings.Join(names, ", ")}
	}
	return &wrongUse{
		reason: fmt.Sprintf("config does not know %q%s", quote.Clip(f.Arg(0), maxQuoted), quote.DidYouMean(f.Arg(0), names)),
		hint:   "one of " + strings.Join(names, ", "),
	}
}

// printConfigPath is "config path": where the settings file is, or would be.
func printConfigPath(f *flags, std streams) error {
	at, err := f.place(std)
	if err != nil {
		return err
	}
	if at.name == "" {
		return at.missing()
	}
	if f.json {
		return printJSON(std.out, map[string]string{"path": at.name}, statusDone)
	}
	_, err = fmt.Fprintln(std.out, at.name)
	return err
}

// missing is the error of a command that needs a settings file where there is none
// to be.
func (p place) missing() error {
	if p.origin != "" {
		return &wrongUse{reason: fmt.Sprintf("the settings file is %q (%s)", noFile, p.origin), hint: "name one with --config"}
	}
	return &wrongUse{reason: "there is no place for a settings file", hint: "name one with --config"}
}

// checked is what "config check --json" prints.
type checked struct {
	OK       bool      `json:"ok"`
	File     string    `json:"file,omitempty"`
	Problems []problem `json:"problems"`
}

// checkConfig is "config check": all that is wrong with the settings.
func checkConfig(f *flags, std streams) error {
	s, err := f.read(std)
	if err == nil {
		err = f.agree(&s)
	}
	if err == nil {
		err = s.http.agree()
	}
	warning := ""
	if err == nil {
		err = s.checkCLI(f, std)
	}
	if err == nil {
		warning, err = s.checkState(std)
	}
	if warning != "" {
		fmt.Fprintf(std.err, "vaultwicket: warning: %s\n", visible(warning))
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
	case f.json && err == nil:
		return printJSON(std.out, answer, statusDone)
	case f.json:
		return printJSON(std.out, answer, statusOf(err))
	case err == nil:
		_, err = fmt.Fprintln(std.out, "fine")
		return err
	case file != nil:
		for _, p := range file.problems {
			fmt.Fprintf(std.err, "vaultwicket: error: settings file %q: %s\n", visible(file.name), visible(p.String()))
		}
		return statusError(statusOf(err))
	}
	return err
}
