package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

var demoHelp = description{
	Name: "demo", Group: groupStart, Summary: "play an MCP session on a built-in vault",
	Examples: []example{{"needs no vault and no Obsidian", "vaultwicket demo"}},
}

// runDemo runs "vaultwicket demo", which plays an MCP session on a temporary copy of a small built-in vault and
// explains each step.
func runDemo(ctx context.Context, std terminal.Streams, args []string) (err error) {
	args, err = terminal.ParseFlags("demo", args, nil)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &terminal.UsageError{
			Reason: fmt.Sprintf("demo: unexpected argument %q", excerpt.Short(args[0])),
			Advice: "demo has no arguments",
		}
	}
	clock, err := bootstrap.Clock(std)
	if err != nil {
		return err
	}
	now := clock()
	folder, remove, err := unpackDemo(now)
	if err != nil {
		return terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("make the demo vault: %v", err),
			"set TMPDIR to a folder in which files can be made",
		)
	}
	defer func() { err = errors.Join(err, remove()) }()
	// The demo must not use the user's settings or write to the user's audit log, so the state and cache folders are
	// temporary. The clock is fixed, so that the daily note is still today's note after midnight.
	parent := filepath.Dir(folder)
	std = bootstrap.WithoutSettings(std, now, map[string]string{
		"XDG_STATE_HOME": filepath.Join(parent, "state"),
		"XDG_CACHE_HOME": filepath.Join(parent, "cache"),
	})
	t := demoTeller{std: std, out: std.Out, folder: folder, now: now}
	fmt.Fprintf(
		t.out,
		"An agent's client starts \"vaultwicket serve\" on a small vault. The settings are the defaults: read-only.\n",
	)
	if err := t.session(ctx, "--allow-mutations=false", t.readOnly); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "\nThe user restarts the server with --allow-mutations.\n")
	if err := t.session(ctx, "--allow-mutations=true", t.withChanges); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "\nEnd of the demo. The temporary vault is removed; nothing else was changed.\n")
	return nil
}

// demoTeller plays the demo.
type demoTeller struct {
	std    terminal.Streams
	out    io.Writer
	folder string // the folder of the vault
	now    time.Time
	step   int // the number of the last step
}

// session starts a server for the vault as "vaultwicket serve" does, plays part in a session with the
// server, and closes it. mutations is the flag for changes.
func (t *demoTeller) session(ctx context.Context, mutations string, part func(*demoClient) error) error {
	requests, input := io.Pipe()
	answers, out := io.Pipe()
	std := t.std
	std.In = requests
	std.Out = out
	std.Err = io.Discard
	ended := make(chan error, 1)
	go func() {
		err := serve(
			ctx,
			std,
			[]string{
				"--config=none",
				"--backend=embedded",
				"--vault=" + t.folder,
				mutations,
				"--secrets=block",
				"--suspicious=ask",
				"--private-property=",
				"--private-tags=",
			},
		)
		requests.Close()
		out.Close()
		ended <- err
	}()
	c := &demoClient{in: input, answers: bufio.NewReader(answers)}
	opening := map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "vaultwicket demo", "version": release.Version},
	}
	err := c.ask("initialize", opening, nil)
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		err = fmt.Errorf("start the server: %w", err)
	} else {
		err = part(c)
	}
	input.Close() // a client ends a session by closing its output
	_, _ = io.Copy(io.Discard, answers)
	if serveErr := <-ended; serveErr != nil {
		return serveErr
	}
	return err
}

// readOnly plays the part of the demo without changes.
func (t *demoTeller) readOnly(c *demoClient) error {
	var list struct {
		Tools []struct {
			Name, Description string
			Annotations       struct{ ReadOnlyHint bool }
		}
	}
	if err := c.ask("tools/list", map[string]any{}, &list); err != nil {
		return err
	}
	t.say("The client lists the tools.")
	for _, tool := range list.Tools {
		t.show(fmt.Sprintf("%s (read-only: %v)\n%s", tool.Name, tool.Annotations.ReadOnlyHint, tool.Description))
	}
	steps := []demoStep{
		{"The agent reads today's note.", "daily:read", nil, ""},
		{"It asks for a random note from the folder Ideas.", "random:read", map[string]any{"folder": "Ideas"}, ""},
		{
			"It tries to add a line to today's note. Changes are off, so nothing is started.",
			"daily:append",
			t.milk(),
			"mutations_off",
		},
	}
	if err := t.play(c, steps); err != nil {
		return err
	}
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
		return fmt.Errorf(demoFailure, "daily:append", plan.Decision, "deny")
	}
	return t.play(c, []demoStep{
		{
			"It tries to run code in the app. No setting enables that.",
			"eval",
			map[string]any{"code": "1+1"},
			"restricted_command",
		},
	})
}

// withChanges plays the part of the demo with changes.
func (t *demoTeller) withChanges(c *demoClient) error {
	return t.play(c, []demoStep{
		{"The agent adds the line again.", "daily:append", t.milk(), ""},
		{"And reads the note.", "daily:read", nil, ""},
	})
}

// milk returns the parameters that add a line to the daily note.
func (t *demoTeller) milk() map[string]any {
	return map[string]any{"content": "- [ ] buy milk (" + t.now.Format("15:04") + ")"}
}

// demoFailure is the format of the error for a step with an unexpected result, which is an internal error.
const demoFailure = "demo: %s ended with %q, want %q"

// demoStep is one call, with an explanation and the code with which it must fail, "" for success.
type demoStep struct {
	text, command string
	params        map[string]any
	want          string
}

// play carries out steps, and returns an error if one does not end as expected.
func (t *demoTeller) play(c *demoClient, steps []demoStep) error {
	for _, s := range steps {
		t.say(s.text)
		text := ""
		for key, value := range s.params {
			text += fmt.Sprintf(" %s=%q", key, value)
		}
		t.show("→ " + s.command + text)
		var result gateway.Result
		if err := c.call(map[string]any{"command": s.command, "params": s.params}, &result); err != nil {
			return err
		}
		code := ""
		if e := result.Error; e != nil {
			code = e.Code
			t.show(strings.TrimSuffix("✗ "+code+": "+e.Message+"\n  "+e.Hint, "\n  "))
		} else {
			t.show(strings.TrimSpace("✓ "+result.Path) + "\n" + strings.TrimRight(result.Stdout, "\n"))
		}
		if code != s.want {
			return fmt.Errorf(demoFailure, s.command, code, s.want)
		}
	}
	return nil
}

// say prints the text of the next step.
func (t *demoTeller) say(text string) {
	t.step++
	fmt.Fprintf(t.out, "\n%d. %s\n", t.step, text)
}

// show prints indented lines.
func (t *demoTeller) show(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(t.out, strings.TrimRight("     "+terminal.Visible(line), " "))
	}
}

// demoVault is the vault of the demo: a few notes and the settings of its daily notes.
//
//go:embed all:demovault
var demoVault embed.FS

const demoNote = "---\ntags: [daily]\n---\n## Plan\n\n- [x] water the plants\n\n## Log\n\n"

// unpackDemo writes the built-in vault into a new temporary folder, with a daily note for the date of now.
// The caller must call remove.
func unpackDemo(now time.Time) (folder string, remove func() error, err error) {
	today := now.Format(time.DateOnly) // the format in the vault's own settings
	parent, err := os.MkdirTemp("", "vaultwicket-demo-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(parent) }
	folder = filepath.Join(parent, "Demo")
	files, err := fs.Sub(demoVault, "demovault")
	if err == nil {
		err = os.CopyFS(folder, files)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "Daily", today+".md"), []byte(demoNote), 0o600)
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return folder, remove, nil
}

// demoClient is the client of an MCP session, which sends one request at a time.
type demoClient struct {
	in      io.Writer
	answers *bufio.Reader
	lastID  int
}

// ask sends a request and decodes its result into result, unless that is nil.
func (c *demoClient) ask(method string, params, result any) error {
	c.lastID++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.lastID, "method": method, "params": params}); err != nil {
		return err
	}
	line, err := c.answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: the server did not answer: %w", method, err)
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: the server answered %s", method, answer.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

// send sends a message.
func (c *demoClient) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(line, '\n'))
	return err
}

// call calls the tool obsidianCli and decodes the result.
func (c *demoClient) call(arguments map[string]any, result any) error {
	var answer struct{ StructuredContent json.RawMessage }
	if err := c.ask("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments}, &answer); err != nil {
		return err
	}
	return json.Unmarshal(answer.StructuredContent, result)
}
