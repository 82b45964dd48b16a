package main

import (
	"context"
	"errors"
	"slices"

	"vaultwicket/cmd/internal/compare"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/failure"
	"vaultwicket/tiers"
)

// compareBackends is "vaultwicket compare": the same reading commands to both backends.
func compareBackends(ctx context.Context, std terminal.Streams, args []string) error {
	c := compare.Config{}
	o, err := settings.Open("compare", std, args, func(f *settings.Flags) {
		settings.Stay(f)
		f.IntVar(&c.Notes, "notes", 25, "maximum number of notes to compare one by one")
		f.BoolVar(&c.Texts, "texts", false, "also print the lines that differ, which may be text of notes")
	})
	if err != nil {
		return err
	}
	defer o.Runner.Close()
	if len(o.Rest) > 0 || c.Notes < 0 {
		return &terminal.UsageError{Reason: "usage: vaultwicket compare [--vault V] [--notes N] [--texts] [--json]", Advice: `"vaultwicket help compare" shows the flags`}
	}
	c.App, c.Embedded = reading(o, gateway.App), reading(o, gateway.Embedded)
	defer c.App.Flush()
	defer c.Embedded.Flush()
	progress := o.Progress("compare")
	report, err := compare.Run(ctx, c)
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
	if o.JSON {
		return terminal.PrintJSON(std.Out, report, status)
	}
	if err := report.Print(std.Out, terminal.Visible); err != nil {
		return err
	}
	if status != terminal.ExitDone {
		return terminal.Silent(status)
	}
	return nil
}

// reading returns a gateway of one backend that reads in every tier and changes nothing.
// Access rules and disabled commands stay as they are set.
func reading(o settings.Opened, backend gateway.Backend) *gateway.Gateway {
	s := o.Settings
	s.Backend, s.Limits = backend, admission.Limits{Parallel: 1}
	s.Served = slices.Clone(s.Served[:1])
	p := &s.Served[0].Policy
	p.Ceiling, p.Mutations, p.Publish, p.UI = tiers.V3, false, false, false
	return settings.NewGateway(s, o.Std, o.Runner, o.Log, nil)
}
