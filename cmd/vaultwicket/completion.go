package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/clients"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver"
)

var helpOfCompletion = description{
	Name: "completion", Usage: "bash | zsh | fish | powershell", Group: groupOther, Summary: "print the completion script of a shell",
	About:    []string{"The first lines of each script say how to load it."},
	Examples: []example{{"for this session of bash", "source <(vaultwicket completion bash)"}},
}

// completeName is the hidden subcommand that the scripts call.
const completeName = "__complete"

// printCompletion is "vaultwicket completion": the script for a shell.
func printCompletion(_ context.Context, std terminal.Streams, args []string) error {
	args, err := terminal.ParseFlags("completion", args, nil)
	if err != nil {
		return err
	}
	shells := strings.Join(shells, ", ")
	if len(args) != 1 {
		return &terminal.UsageError{Reason: "completion: one shell is needed", Advice: "use one of " + shells}
	}
	script, known := completionScript(args[0])
	if !known {
		return &terminal.UsageError{Reason: fmt.Sprintf("completion: unknown shell %q", quote.Short(args[0])), Advice: "use one of " + shells}
	}
	_, err = io.WriteString(std.Out, script)
	return err
}

// complete answers a script. It never fails: if nothing is known, there are no candidates.
func complete(ctx context.Context, std terminal.Streams, words []string) error {
	if n := len(words); n > 0 && words[n-1] == "__empty" { // see the script for PowerShell
		words[n-1] = ""
	}
	p := completer{
		Flags: flagsOf, Choices: choicesOf,
		Words: map[string][]string{
			"install": clients.IDs(), "uninstall": clients.IDs(), "prompt": mcpserver.PromptNames(), "completion": shells, "man": manualNames(),
			"config": {"show", "check", "path", "init", "schema"}, "audit": {"list", "what-if", "verify", "export"}, "journal": {"list", "show"},
			"approvals": {}, "approve": {}, "deny": {}, "pause": {}, "resume": {}, "undo": {}, "commands": {}, "demo": {}, "doctor": {}, "version": {}, "serve": {},
		},
		Paths: func(line []string, prefix string) []string {
			// The paths of notes that are visible with the settings of a line. It asks the gateway, which denies
			// it if listing is not enabled.
			ctx, cancel := context.WithTimeout(ctx, completionTime)
			defer cancel()
			o, err := settings.Open(line[0], std, settingsIn(line[1:]), nil)
			if err != nil {
				return nil
			}
			defer o.Runner.Close()
			params := allowlist.Params{}
			if at := strings.LastIndexByte(prefix, '/'); at > 0 {
				params["folder"] = allowlist.Text(prefix[:at])
			}
			answer := o.Gateway.Do(ctx, gateway.Request{Command: "files", Params: params})
			if !answer.OK {
				return nil
			}
			var paths []string
			for file := range strings.Lines(answer.Stdout) {
				if file = strings.TrimSuffix(file, "\n"); strings.HasPrefix(file, prefix) && len(paths) < maxPaths {
					paths = append(paths, file)
				}
			}
			return paths
		},
	}
	for _, c := range subcommands() {
		p.Commands = append(p.Commands, candidate{Word: c.Name, Description: c.Summary})
		p.Words["help"] = append(p.Words["help"], c.Name)
	}
	return p.Complete(words).Print(std.Out)
}

// choicesOf returns the values of a flag, nil if any value is valid.
func choicesOf(flag string) []string {
	if flag == "color" {
		return terminal.Colors
	}
	return settings.Choices(flag)
}

// completionTime is how long a person waits for paths at most, and maxPaths how many are
// looked at.
const (
	completionTime = 2 * time.Second
	maxPaths       = 5_000
)

// settingsIn are the flags of a line before the command of the vault: with them the
// settings are those that the line would run with.
func settingsIn(line []string) (given []string) {
	for i, word := range line {
		if _, err := allowlist.Describe(word); err == nil {
			return line[:i]
		}
	}
	return nil
}

//go:embed completion
var completionScripts embed.FS

// shells are those for which there is a script.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// completionScript returns the script that a shell loads to complete the commands of
// vaultwicket, with instructions; ok is false for an unknown shell.
func completionScript(shell string) (text string, ok bool) {
	if !slices.Contains(shells, shell) {
		return "", false
	}
	script, err := completionScripts.ReadFile("completion/vaultwicket." + shell)
	return string(script), err == nil
}
