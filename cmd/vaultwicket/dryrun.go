package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/clean"
)

// dryRun is "vaultwicket dry-run": the plan of a command, with the verdict of
// every rule and the difference that a change would make. Nothing is changed.
func dryRun(ctx context.Context, std terminal.Streams, args []string) error {
	var stdin string
	o, err := open("dry-run", std, args, func(f *settings.Flags) { stdinFlag(f, &stdin) })
	if err != nil {
		return err
	}
	req, err := o.request(std, stdin)
	if err != nil {
		return err
	}
	req.AtTerminal = true
	plan := o.gateway.DryRun(ctx, req)
	status := exit.Done
	if !plan.OK {
		status = exit.StatusOfResult(plan.Error)
	}
	if o.JSON {
		return exit.JSON(std.Out, plan, status)
	}
	printPlan(std.Out, plan)
	if status != exit.Done {
		return exit.Of(plan.Error)
	}
	return nil
}

func printPlan(out io.Writer, plan gateway.DryRun) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, clean.Line(value)) // one line, whatever a client has chosen
		}
	}
	fact("decision", plan.Decision)
	fact("command", plan.Command)
	fact("tier", plan.Tier)
	fact("effect", plan.Effect)
	fact("backend", plan.Backend)
	fact("program", plan.Program)
	for i, item := range plan.Argv {
		fact(fmt.Sprintf("argv[%d]", i), item)
	}
	if plan.Stdin != nil {
		fact("stdin", fmt.Sprintf("%d bytes", plan.Stdin.Bytes))
	}
	for _, notice := range plan.Notices {
		fact("note", notice)
	}
	for _, r := range plan.Rules {
		fact("rule "+r.Rule, strings.TrimSpace(r.Verdict+"  "+r.Why))
	}
	w.Flush()
	if plan.Diff != "" {
		fmt.Fprintf(out, "\n%s", terminal.Visible(plan.Diff))
	}
	if plan.Shell != "" {
		fmt.Fprintf(out, "\n%s\n", plan.Shell)
	}
}
