package main

import (
	"context"

	"github.com/vaultwicket/vaultwicket/cmd/internal/doctor"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

var doctorHelp = description{
	Name: "doctor", Usage: "[flags]", Group: groupStart, Summary: "check this installation, and say how to fix each problem",
	About: []string{
		"The exit status is 0 without problems, with --strict 1 if there are warnings, and 4 with problems.",
	},
	Examples: []example{
		{"check everything", "vaultwicket doctor"},
		{"for programs", "vaultwicket doctor --json"},
		{"for a bug report, without names and texts", "vaultwicket doctor --report"},
		{"a server, as its clients see it", "vaultwicket doctor --url https://notes.example/mcp"},
	},
}

// runDoctor runs "vaultwicket doctor", which checks the installation. The exit status is 0, 1 for warnings with
// --strict, and 4 for problems.
func runDoctor(ctx context.Context, std terminal.Streams, args []string) error {
	var screenOptions terminal.ScreenOptions
	var strict, anonymous bool
	m, asJSON, err := doctor.ThisMachine(std, args, func(f *settings.Flags) {
		screenOptions.ColorFlag(f.FlagSet)
		f.BoolVar(&strict, "strict", false, "end with status 1 if there are warnings")
		f.BoolVar(&anonymous, "report", false, "print a report to send to the developers, without names and texts")
		f.CallsServer()
	})
	if err != nil {
		return err
	}
	var report *doctor.Report
	if m.Remote != nil {
		report = doctor.CheckServer(ctx, m.Remote, m.Now())
	} else {
		report = doctor.Check(ctx, m)
	}
	if ctx.Err() != nil {
		return terminal.Fail(terminal.ExitInterrupted, "cancelled: not all was checked", "")
	}
	switch {
	case anonymous:
		err = report.PrintAnonymous(std.Out, m)
	case asJSON:
		err = report.JSON(std.Out)
	default:
		err = report.Print(std.Out, terminal.NewScreen(std, screenOptions, m.Now()))
	}
	if err != nil {
		return err
	}
	warningStatus := terminal.ExitDone
	if strict {
		warningStatus = terminal.ExitFailed
	}
	switch report.Worst() {
	case doctor.Problem:
		return terminal.Silent(terminal.ExitNotReady)
	case doctor.Warning:
		return terminal.Silent(warningStatus)
	default:
		return terminal.Silent(terminal.ExitDone)
	}
}
