package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/oversight"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

var dryRunHelp = description{
	Name: "dry-run", Usage: "[flags] COMMAND [key=value | flag …]", Group: groupUse, Summary: "preview a command; nothing is changed",
	About: []string{
		"It prints the decision, the reason, and the difference that a change would make. With -v it also prints the verdict of every rule, the program that would be started with its arguments, and the same as a shell command. The exit status is that of the decision, or of the error with which the command would end.",
	},
	Examples: []example{
		{"preview a change", `vaultwicket dry-run --vault ~/Notes --allow-mutations daily:append content="buy milk"`},
		{"why is this denied?", "vaultwicket dry-run eval code=1"},
		{"every rule, and what would be started", "vaultwicket dry-run --verbose daily:read"},
	},
}

// dryRun runs "vaultwicket dry-run", which prints the plan of a command: the decision and the difference that a
// change would make, and with --verbose the verdict of every rule. Nothing is changed.
func dryRun(ctx context.Context, std terminal.Streams, args []string) error {
	var stdin string
	var screenOptions terminal.ScreenOptions
	o, err := bootstrap.Open("dry-run", std, args, func(f *settings.Flags) {
		stdinFlag(f, &stdin)
		f.CallsServer()
		screenOptions.ColorFlag(f.FlagSet)
	})
	if err != nil {
		return err
	}
	req, err := typedRequest(o, stdin)
	if err != nil {
		return err
	}
	req.AtTerminal = true
	progress := o.Progress(req.Command)
	var plan gateway.DryRun
	if o.Remote != nil {
		plan, err = serverOf(o, nil).DryRun(ctx, req)
	} else {
		plan = o.Gateway.DryRun(bootstrap.Counting(ctx, progress), req)
	}
	progress.Stop()
	if err != nil {
		return err
	}
	if o.MarkUntrusted {
		plan = plan.Marked()
	}
	status := terminal.ExitDone
	if !plan.OK {
		status = terminal.StatusOfResult(plan.Error)
	}
	if o.JSON {
		return terminal.PrintJSON(std.Out, plan, status)
	}
	if plan.Error != nil && o.Remote == nil {
		plan.Error.Message = terminal.ForOwner(plan.Error.Message)
		plan.Error.Hint = o.OwnerHint(std, plan.Error.Hint)
	}
	screen := terminal.NewScreen(std, screenOptions, time.Time{})
	err = printPlan(std.Out, screen, plan)
	if err == nil && std.Verbose {
		err = printDetails(std.Out, screen, plan)
	}
	switch {
	case err != nil:
		return err
	case status == terminal.ExitDone:
		return nil
	case screen.IsTerminal(): // the user has seen the reason
		return terminal.Silent(status)
	}
	return terminal.FailureOf(plan.Error)
}

// printPlan prints the decision, the reason for it, and the difference.
func printPlan(out io.Writer, s terminal.Screen, plan gateway.DryRun) error {
	facts := s.Facts()
	facts.Add("decision", plan.Decision, terminal.DecisionStyles[plan.Decision])
	if plan.Error != nil {
		name := "reason"
		if plan.Decision == "allow" { // the call would fail for a reason other than the policy
			name = "error"
		}
		facts.Add(name, plan.Error.Code+": "+plan.Error.Message, terminal.Alert)
		facts.Add("hint", plan.Error.Hint, terminal.Plain)
	}
	for _, r := range plan.Rules {
		if plan.Error == nil && r.Verdict == plan.Decision && r.Verdict != "allow" {
			facts.Add("reason", r.Rule+": "+terminal.ForOwner(r.Why), terminal.Alert)
		}
	}
	for _, notice := range plan.Notices {
		facts.Add("note", terminal.ForOwner(notice), terminal.Alert)
	}
	if err := facts.Print(); err != nil {
		return err
	}
	oversight.PrintQuestion(out, s, plan.Shown)
	if plan.Shown == nil && plan.Diff != "" { // with delimiters around note text
		return terminal.Write(out, "\n"+plan.Diff)
	}
	return nil
}

// printDetails prints the rest of a plan: the verdict of every rule, and how the program would be started.
func printDetails(out io.Writer, s terminal.Screen, plan gateway.DryRun) error {
	facts := s.Facts()
	facts.Add("command", plan.Command, terminal.Strong)
	facts.Add("tier", plan.Tier, terminal.Plain)
	facts.Add("effect", plan.Effect, terminal.EffectStyles[plan.Effect])
	facts.Add("backend", plan.Backend, terminal.Plain)
	facts.Add("program", plan.Program, terminal.Plain)
	for i, item := range plan.Argv {
		facts.Add(fmt.Sprintf("argv[%d]", i), item, terminal.Plain)
	}
	if plan.Stdin != nil {
		facts.Add("stdin", sanitize.Counted(plan.Stdin.Bytes, "byte"), terminal.Plain)
	}
	for i, step := range plan.Steps {
		facts.Add(
			fmt.Sprintf("step %d", i+1),
			strings.TrimSuffix(step.For+": "+strings.Join(step.Argv, " "), ": "),
			terminal.Plain,
		)
	}
	for _, r := range plan.Rules {
		facts.Add("rule "+r.Rule, strings.TrimSpace(r.Verdict+"  "+r.Why), terminal.DecisionStyles[r.Verdict])
	}
	if err := terminal.Write(out, "\n"); err != nil {
		return err
	}
	if err := facts.Print(); err != nil {
		return err
	}
	if plan.Shell == "" {
		return nil
	}
	return terminal.Write(out, "\n"+plan.Shell+"\n")
}
