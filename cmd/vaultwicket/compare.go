package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"vaultwicket/cmd/internal/compare"
	"vaultwicket/cmd/internal/exit"
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
	o, err := open("compare", std, args, func(f *settings.Flags) {
		stay(f)
		f.IntVar(&c.Notes, "notes", 25, "maximum number of notes to compare one by one")
		f.BoolVar(&c.Texts, "texts", false, "also print the lines that differ, which may be text of notes")
	})
	if err != nil {
		return err
	}
	defer o.runner.Close()
	if len(o.rest) > 0 || c.Notes < 0 {
		return &exit.UsageError{Reason: "usage: vaultwicket compare [--vault V] [--notes N] [--texts] [--json]", Advice: `"vaultwicket help compare" shows the flags`}
	}
	c.App, c.Embedded = o.reading(std, gateway.App), o.reading(std, gateway.Embedded)
	defer c.App.Flush()
	defer c.Embedded.Flush()
	progress := o.progress("compare")
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
	if err := printComparison(std.Out, report); err != nil {
		return err
	}
	if status != exit.Done {
		return exit.Silent(status)
	}
	return nil
}

// reading returns a gateway of one backend that reads in every tier and changes nothing.
// Access rules and disabled commands stay as they are set.
func (o opened) reading(std terminal.Streams, backend gateway.Backend) *gateway.Gateway {
	s := o.Settings
	s.Backend, s.Limits = backend, admission.Limits{Parallel: 1}
	s.Served = slices.Clone(s.Served[:1])
	p := &s.Served[0].Policy
	p.Ceiling, p.Mutations, p.Publish, p.UI = tiers.V3, false, false, false
	return newGateway(s, std, o.runner, o.log, nil)
}

func printComparison(out io.Writer, r compare.Report) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, d := range r.Differences {
		fmt.Fprintf(w, "%s\t%s\tapp: %s\tembedded: %s\t%s\n", d.Kind, terminal.Visible(d.Call), answerText(d.App), answerText(d.Embedded), onlyText(d))
		if d.Texts == nil {
			continue
		}
		w.Flush()
		for _, line := range d.Texts.OnlyApp {
			fmt.Fprintf(out, "  app       %s\n", terminal.Visible(line))
		}
		for _, line := range d.Texts.OnlyEmbedded {
			fmt.Fprintf(out, "  embedded  %s\n", terminal.Visible(line))
		}
	}
	w.Flush()
	_, err := fmt.Fprintf(out, "%d calls compared with Obsidian %s: %d same, %d in another order, %d different\n", r.Compared, terminal.Visible(r.App), r.Same, r.Order, r.Different)
	if err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

func answerText(a compare.Answer) string {
	if a.Code != "" {
		return a.Code
	}
	return fmt.Sprintf("%d lines", a.Lines)
}

func onlyText(d compare.Difference) string {
	if d.OnlyApp+d.OnlyEmbedded == 0 {
		return ""
	}
	return fmt.Sprintf("%d only in the app, %d only in the embedded CLI", d.OnlyApp, d.OnlyEmbedded)
}
