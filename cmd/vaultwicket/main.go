// Command vaultwicket lets an AI agent, or a user at a terminal, use an Obsidian vault
// within the limits that its owner has set.
//
// Each subcommand has a file with its name that contains its help text, and a row in the table in
// subcommands.go, from which help, manual pages and completion are generated. Its flags and its run
// function are in the same file or in a package below cmd/internal: the servers are in package
// serving, the commands of the owner in oversight. Package bootstrap builds the gateway.
//
//go:generate go test -run TestDocsHold -update .
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // some machines have none, and the daily note would be that of another day

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

func main() {
	os.Exit(run(os.Args[1:], terminal.Streams{
		In:      os.Stdin,
		Out:     os.Stdout,
		Err:     os.Stderr,
		Lookup:  os.LookupEnv,
		Environ: os.Environ,
		Console: terminal.OpenConsole,
	}))
}

// run runs the subcommand in args and returns the exit status.
func run(args []string, std terminal.Streams) int {
	if len(args) > 0 && args[0] == vaultName {
		asksForHelp := len(args) == 2 && conventions[args[1]] != "" // --help and --version are handled below
		if !asksForHelp {
			return runVault(args[1:], std)
		}
	}
	ctx, stop := untilSignal(context.Background(), std.Err)
	defer stop()
	if len(args) == 0 {
		return terminal.PrintError(
			std.Err,
			&terminal.UsageError{Reason: "no command given", Advice: `"vaultwicket help" lists the commands`},
		)
	}
	args, std, err := takeVerbosity(putCommandFirst(args), std)
	if err != nil {
		return terminal.PrintError(std.Err, err)
	}
	out := terminal.NewOutput(std.Out)
	std.Out = out
	std.Hints = new(terminal.Hints)
	if args[0] == completeName {
		return terminal.PrintError(std.Err, out.Check(complete(ctx, std, args[1:])))
	}
	c, found := subcommandNamed(args[0])
	if !found {
		return terminal.PrintError(std.Err, unknownSubcommand(args[0], args[1:]))
	}
	err = c.run(ctx, std, args[1:])
	var usage *terminal.HelpRequested
	var version *terminal.VersionRequested
	switch {
	case errors.As(err, &usage):
		_, _ = io.WriteString(std.Out, c.Text(terminal.DefaultScreen(std), ownAndSettings(usage.Flags)))
		err = nil
	case errors.As(err, &version):
		err = printVersion(ctx, std, nil)
	}
	if look, isActing := acts(c.Name, args[1:]); isActing {
		return std.PrintError(out.CheckDone(err, look))
	}
	return std.PrintError(out.Check(err))
}

// untilSignal returns a context that is cancelled by the first SIGINT or SIGTERM, so
// that children are stopped and answers are written. The second signal ends the
// program at once; its children then end, too (see package exec).
func untilSignal(parent context.Context, log io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-caught:
		}
		cancel()
		s := <-caught
		fmt.Fprintln(log, "vaultwicket: stopped immediately by the second signal")
		status := 1
		if n, ok := s.(syscall.Signal); ok {
			status = int(n)
		}
		os.Exit(128 + status)
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel()
	}
}
