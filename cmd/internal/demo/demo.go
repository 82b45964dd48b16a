// Package demo plays a whole MCP session on a temporary copy of a built-in vault and
// explains each step. The server is this program, started as a child process, as the
// client of an agent would start it.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"vaultwicket/allowlist/day"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/failure"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Run is "vaultwicket demo": a whole MCP session on a temporary copy of a
// small built-in vault, told step by step. The server is this binary, started
// as a child, as an agent's client would start it.
func Run(ctx context.Context, std terminal.Streams, now time.Time, newRunner func(terminal.Streams) (*exec.Runner, error)) (err error) {
	folder, remove, err := unpackDemo(now)
	if err != nil {
		return fmt.Errorf("make the demo vault: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	std.Lookup = replaced(std.Lookup, demoVariables(filepath.Dir(folder), now))
	runner, err := newRunner(std)
	if err != nil {
		return err
	}
	t := teller{out: std.Out, now: now}
	fmt.Fprintf(t.out, "An agent's client starts \"vaultwicket serve\" on a small vault. The settings are the defaults: read-only.\n")
	if err := t.session(ctx, runner, demoPolicy(false), folder, t.readOnly); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "\nThe user restarts the server with --allow-mutations.\n")
	if err := t.session(ctx, runner, demoPolicy(true), folder, t.mutating); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "\nEnd of the demo. The temporary vault is removed; nothing else was changed.\n")
	return nil
}

// demoVariables is what the servers of the demo get besides the user's environment.
// All that vaultwicket keeps, such as the audit log, is in folder: the log of the
// user is about their own vaults. The clock stands still, so that the daily note is
// still today's when midnight passes.
func demoVariables(folder string, now time.Time) map[string]string {
	return map[string]string{
		"XDG_STATE_HOME": filepath.Join(folder, "state"), "XDG_CACHE_HOME": filepath.Join(folder, "cache"),
		day.NowVariable: now.Format(time.RFC3339),
	}
}

// replaced returns an environment in which some variables have other values.
func replaced(lookup func(string) (string, bool), values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if value, ok := values[name]; ok {
			return value, true
		}
		return lookup(name)
	}
}

// demoPolicy is the policy as it comes, with the mutation gate as given.
func demoPolicy(mutations bool) policy.Policy {
	return policy.Policy{
		Ceiling: tiers.V0, Mutations: mutations, UI: true,
		Confirm: policy.ConfirmDestructive, MinVersion: tiers.DefaultMinimum,
	}
}

// teller tells what happens, one numbered step after another.
type teller struct {
	out  io.Writer
	now  time.Time
	step int
}

// session opens a session, plays a part of the story in it and closes it.
func (t *teller) session(ctx context.Context, runner *exec.Runner, p policy.Policy, folder string, part func(*demoClient) error) error {
	client, err := connect(ctx, runner, p, folder)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	if err := part(client); err != nil {
		client.peer.Stop()
		return err
	}
	return client.close()
}

// readOnly plays what an agent can and cannot do out of the box.
func (t *teller) readOnly(c *demoClient) error {
	tools, err := c.tools()
	if err != nil {
		return err
	}
	t.say("The client lists the tools.")
	for _, tool := range tools {
		t.show(fmt.Sprintf("%s (read-only: %v)\n%s", tool.Name, tool.Annotations.ReadOnlyHint, tool.Description))
	}
	steps := []demoStep{
		{"The agent reads today's note.", "daily:read", nil, ""},
		{"It asks for a random note from the folder Ideas.", "random:read", map[string]any{"folder": "Ideas"}, ""},
		{"It tries to add a line to today's note. Changes are off, so nothing is started.", "daily:append", t.milk(), "mutations_off"},
	}
	if err := t.play(c, steps); err != nil {
		return err
	}
	if err := t.plan(c); err != nil {
		return err
	}
	return t.play(c, []demoStep{
		{"It tries to run code in the app. No setting enables that.", "eval", map[string]any{"code": "1+1"}, "restricted_command"},
	})
}

// mutating plays the same with the gate open.
func (t *teller) mutating(c *demoClient) error {
	return t.play(c, []demoStep{
		{"The agent adds the line again.", "daily:append", t.milk(), ""},
		{"And reads the note.", "daily:read", nil, ""},
	})
}

func (t *teller) milk() map[string]any {
	return map[string]any{"content": "- [ ] buy milk (" + t.now.Format("15:04") + ")"}
}

// demoStep is one call and the code it must fail with, "" for success.
type demoStep struct {
	text, command string
	params        map[string]any
	want          string
}

// play carries out steps and fails when one does not end as it should.
func (t *teller) play(c *demoClient, steps []demoStep) error {
	for _, s := range steps {
		t.say(s.text)
		t.show("→ " + s.command + shortParams(s.params))
		result, err := c.command(s.command, s.params)
		if err != nil {
			return err
		}
		t.show(told(result))
		if code := codeOf(result.Error); code != s.want {
			return &demoFailure{s.command, code, s.want}
		}
	}
	return nil
}

// plan shows the dry run of the refused write.
func (t *teller) plan(c *demoClient) error {
	t.say("A dry run shows what is required and which rule denies the call.")
	t.show("→ daily:append, dryRun")
	var plan gateway.DryRun
	if err := c.call(map[string]any{"command": "daily:append", "params": t.milk(), "dryRun": true}, &plan); err != nil {
		return err
	}
	lines := []string{"decision: " + plan.Decision}
	for _, r := range plan.Rules {
		lines = append(lines, fmt.Sprintf("%-10s %-4s  %s", r.Rule, r.Verdict, r.Why))
	}
	t.show(strings.Join(lines, "\n"))
	if plan.Decision != "deny" {
		return &demoFailure{"daily:append", plan.Decision, "deny"}
	}
	return nil
}

// demoFailure says that the story did not go as told: a fault of ours.
type demoFailure struct{ command, got, want string }

func (f *demoFailure) Error() string {
	return fmt.Sprintf("demo: %s ended with %q, want %q", f.command, f.got, f.want)
}

func codeOf(cause *failure.Error) string {
	if cause == nil {
		return ""
	}
	return cause.Code
}

func told(result gateway.Result) string {
	if result.Error != nil {
		text := "✗ " + result.Error.Code + ": " + result.Error.Message
		if result.Error.Hint != "" {
			text += "\n  " + result.Error.Hint
		}
		return text
	}
	text := "✓ " + result.Path
	if result.Path == "" {
		text = "✓"
	}
	return text + "\n" + strings.TrimRight(result.Stdout, "\n")
}

func shortParams(params map[string]any) string {
	text := ""
	for key, value := range params {
		text += fmt.Sprintf(" %s=%q", key, value)
	}
	return text
}

func (t *teller) say(text string) {
	t.step++
	fmt.Fprintf(t.out, "\n%d. %s\n", t.step, text)
}

// show prints an answer, set in from the story.
func (t *teller) show(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(t.out, strings.TrimRight("     "+terminal.Visible(line), " "))
	}
}
