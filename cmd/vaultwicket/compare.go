package main

import (
	"context"
	"errors"
	"slices"

	"vaultwicket/cmd/internal/compare"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/cmd/internal/wiring"
	"vaultwicket/gateway"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/failure"
	"vaultwicket/tiers"
)

// compareBackends is "vaultwicket compare": the same reading commands to both backends.
func compareBackends(ctx context.Context, std terminal.Streams, args []string) error {
	c := compare.Config{}
	o, err := wiring.Open("compare", std, args, func(f *settings.Flags) {
		wiring.Stay(f)
		f.IntVar(&c.Notes, "notes", 25, "maximum number of notes to compare one by one")
		f.BoolVar(&c.Texts, "texts", false, "also print the lines that differ, which may be text of notes")
	})
	if err != nil {
		return err
	}
	defer o.Runner.Close()
	if len(o.Rest) > 0 || c.Notes < 0 {
		return &exit.UsageError{Reason: "usage: vaultwicket compare [--vault V] [--notes N] [--texts] [--json]", Advice: `"vaultwicket help compare" shows the flags`}
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
		return exit.Of(refused)
	case err != nil:
		return err
	}
	status := exit.Done
	if len(report.Differences) > 0 {
		status = exit.Failed
	}
	if o.JSON {
		return exit.JSON(std.Out, report, status)
	}
	if err := report.Print(std.Out, terminal.Visible); err != nil {
		return err
	}
	if status != exit.Done {
		return exit.Silent(status)
	}
	return nil
}

// reading returns a gateway of one backend that reads in every tier and changes nothing.
// Access rules and disabled commands stay as they are set.
func reading(o wiring.Opened, backend gateway.Backend) *gateway.Gateway {
	s := o.Settings
	s.Backend, s.Limits = backend, admission.Limits{Parallel: 1}
	s.Served = slices.Clone(s.Served[:1])
	p := &s.Served[0].Policy
	p.Ceiling, p.Mutations, p.Publish, p.UI = tiers.V3, false, false, false
	return wiring.NewGateway(s, o.Std, o.Runner, o.Log, nil)
}
