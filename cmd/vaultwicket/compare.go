package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/doctor"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

var compareHelp = description{
	Name: "compare", Usage: "[flags]", Group: groupConfigure, Summary: "run the same read commands on both backends and show the differences",
	Examples: []example{{"needs the Obsidian app", "vaultwicket compare --vault Notes"}},
}

// compareBackends runs "vaultwicket compare", which runs the same read commands on both backends.
func compareBackends(ctx context.Context, std terminal.Streams, args []string) error {
	notes := 0
	texts := false
	opened, err := bootstrap.Open("compare", std, args, func(f *settings.Flags) {
		f.Resident = true
		f.IntVar(&notes, "notes", 25, "maximum number of notes to compare one by one")
		f.BoolVar(&texts, "texts", false, "also print the lines that differ, which may be text of notes")
	})
	if err != nil {
		return err
	}
	defer opened.Runner.Close()
	if len(opened.Rest) > 0 || notes < 0 {
		return &terminal.UsageError{
			Reason: "usage: vaultwicket compare [--vault V] [--notes N] [--texts] [--json]",
			Advice: `"vaultwicket help compare" shows the flags`,
		}
	}
	progress := opened.Progress("compare")
	report, err := doctor.Compare(ctx, opened, doctor.Comparing{Notes: notes, Texts: texts})
	progress.Stop()
	var refused *failure.Error
	switch {
	case errors.As(err, &refused):
		return terminal.FailureOf(refused)
	case err != nil:
		return err
	}
	status := terminal.ExitDone
	if len(report.Differences) > 0 {
		status = terminal.ExitFailed
	}
	if opened.JSON {
		return terminal.PrintJSON(std.Out, report, status)
	}
	w := tabwriter.NewWriter(std.Out, 0, 8, 2, ' ', 0)
	for _, d := range report.Differences {
		counts := ""
		if d.OnlyApp+d.OnlyEmbedded > 0 {
			counts = fmt.Sprintf("%d only in the app, %d only in the embedded CLI", d.OnlyApp, d.OnlyEmbedded)
		}
		fmt.Fprintf(w, "%s\t%s\tapp: %s\tembedded: %s\t%s\n", d.Kind, terminal.Visible(d.Call), d.App, d.Embedded, counts)
		if d.Texts == nil {
			continue
		}
		w.Flush()
		for _, line := range d.Texts.OnlyApp {
			fmt.Fprintf(std.Out, "  app       %s\n", terminal.Visible(line))
		}
		for _, line := range d.Texts.OnlyEmbedded {
			fmt.Fprintf(std.Out, "  embedded  %s\n", terminal.Visible(line))
		}
	}
	w.Flush()
	_, err = fmt.Fprintf(
		std.Out,
		"%s compared with Obsidian %s: %d same, %d in another order, %d different\n",
		sanitize.Counted(report.Compared, "call"),
		terminal.Visible(report.App),
		report.Same,
		report.Order,
		report.Different,
	)
	if err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	if status != terminal.ExitDone {
		return terminal.Silent(status)
	}
	return nil
}
