// Command vaultwicket lets an AI agent, or a person at a terminal, use an
// Obsidian vault through one guarded door.
//
// This package holds flags, settings, wiring and exit statuses. It decides
// nothing about a command: package allowlist knows the commands and package
// policy the rules. It starts no process: package exec does.
//
//go:generate go test -run TestREADME|TestDocsHold -update .
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, os.LookupEnv, os.Environ, openConsole}))
}

// streams is the world as a command sees it.
type streams struct {
	in       io.Reader
	out, err io.Writer
	lookup   func(string) (string, bool)
	environ  func() []string
	// console opens the terminal of the process; nil stands for none.
	console func() (io.ReadWriteCloser, error)
}

func (s streams) openConsole() (io.ReadWriteCloser, error) {
	if s.console == nil {
		return nil, errors.New("there is none")
	}
	return s.console()
}

func (s streams) getenv(name string) string {
	value, _ := s.lookup(name)
	return value
}

// run is the whole program, and returns its exit status.
func run(args []string, std streams) int {
	if len(args) > 0 && args[0] == rawName {
		return rawVault(args[1:], std)
	}
	ctx, stop := untilSignal(context.Background(), std.err)
	defer stop()
	if len(args) == 0 {
		return std.fail(usageError("no command given"))
	}
	for _, c := range subcommands() {
		if c.name == args[0] {
			return std.fail(c.run(ctx, std, args[1:]))
		}
	}
	return std.fail(unknownSubcommand(args[0]))
}

// fail reports err on standard error and returns the exit status for it.
func (s streams) fail(err error) int {
	if err == nil {
		return statusDone
	}
	if silent, ok := err.(statusError); ok {
		return int(silent)
	}
	fmt.Fprintf(s.err, "vaultwicket: error: %s\n", visible(err.Error()))
	if hinted, ok := err.(interface{ Hint() string }); ok && hinted.Hint() != "" {
		fmt.Fprintf(s.err, "vaultwicket: hint: %s\n", visible(hinted.Hint()))
	}
	return statusOf(err)
}
