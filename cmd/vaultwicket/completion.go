package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
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
		return &terminal.UsageError{
			Reason: fmt.Sprintf("completion: unknown shell %q", excerpt.Short(args[0])),
			Advice: "use one of " + shells,
		}
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
		Flags: func(command string) []terminal.Flag { return append(flagsOf(command), verbosityFlags...) },
		Choices: func(flag string) []string {
			if flag == "color" {
				return terminal.Colors
			}
			return settings.Choices(flag)
		},
		Words: map[string][]string{
			"install": clients.IDs(), "uninstall": clients.IDs(), "prompt": mcpserver.PromptNames(), "completion": shells, "man": manualNames(),
			"config": {
				"show",
				"check",
				"path",
				"init",
				"set",
				"edit",
				"schema",
			}, "audit": {"list", "what-if", "verify", "export"}, "journal": {"list", "show"},
			"agent": {"add", "list", "show", "rotate", "revoke", "remove"}, "passkey": {"add", "list", "remove"}, "flow": {"clear"},
			"setup": {}, "ui": {}, "today": {}, "scan": {}, "grants": {}, "compare": {}, "help": {exitCodes},
			"approvals": {}, "approve": {}, "deny": {}, "pause": {}, "resume": {}, "undo": {}, "commands": {}, "demo": {}, "doctor": {}, "version": {}, "serve": {},
		},
		Paths: func(line []string, prefix string) []string {
			// The paths of notes that are visible with the settings of a line. It asks the gateway, which denies
			// it if listing is not enabled.
			ctx, cancel := context.WithTimeout(ctx, completionTime)
			defer cancel()
			// With the flags before the command of the vault, the settings are those that the line would run with.
			isCommand := func(word string) bool {
				_, err := allowlist.Describe(word)
				return err == nil
			}
			o, err := bootstrap.Open(line[0], std, line[1:1+max(0, slices.IndexFunc(line[1:], isCommand))], nil)
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

// completionTime is how long a person waits for paths at most, and maxPaths how many are looked at.
const (
	completionTime = 2 * time.Second
	maxPaths       = 5_000
)

//go:embed completion
var completionScripts embed.FS

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

// completer completes command lines. Its functions must not be nil.
type completer struct {
	Commands []candidate                                 // the words that can come first, with what each does
	Flags    func(command string) []terminal.Flag        // returns the flags of a command, as its help has them
	Words    map[string][]string                         // the arguments of a command, by its name
	Choices  func(flag string) []string                  // returns the values of a flag, nil if any value is valid
	Paths    func(line []string, prefix string) []string // returns the paths of the visible notes that begin with a prefix
}

// takeVaultCommand are the subcommands that are followed by a command of a vault.
var takeVaultCommand = []string{"run", "dry-run", "explain"}

// Complete returns the candidates for the last of the words after the program's name.
func (p completer) Complete(words []string) candidates {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return candidates{List: slices.Clone(p.Commands)}.below(last)
	}
	command := words[0]
	between := words[1 : len(words)-1]
	if n := len(between); n > 0 && p.takesValue(command, between[n-1]) {
		return p.value(between[n-1], "", last)
	}
	if strings.HasPrefix(last, "-") { // a flag, or the value of one
		if name, value, found := strings.Cut(last, "="); found {
			return p.value(name, name+"=", value)
		}
		var c candidates
		for _, f := range p.Flags(command) {
			c.add("--"+f.Name, f.Usage)
		}
		return c.below(last)
	}
	given := p.plain(command, between)
	if slices.Contains(takeVaultCommand, command) {
		// Complete the command of a vault, its parameters, and their values if they are known.
		var c candidates
		if len(given) == 0 {
			for command := range allowlist.Commands() {
				c.add(command.Name, command.Summary)
			}
			return c.below(last)
		}
		command, err := allowlist.Describe(given[0])
		if err != nil || words[0] == "explain" {
			return c
		}
		if name, value, found := strings.Cut(last, "="); found {
			return p.parameter(command, words, name, value)
		}
		for _, param := range command.Params {
			if param.Refused != "" ||
				slices.ContainsFunc(
					given[1:],
					func(word string) bool { return strings.HasPrefix(word+"=", param.Name+"=") },
				) {
				continue
			}
			if param.Kind == "flag" {
				c.add(param.Name, param.Summary)
				continue
			}
			c.Open = true
			c.add(param.Name+"=", param.Summary)
		}
		c = c.below(last)
		c.Open = len(c.List) > 0 && strings.HasSuffix(c.List[0].Word, "=") // a flag alone is complete
		return c
	}
	c := candidates{Files: p.Words[command] == nil}
	if len(given) == 0 {
		for _, word := range p.Words[command] {
			c.add(word, "")
		}
	}
	return c.below(last)
}

func (p completer) takesValue(command, word string) bool {
	return slices.ContainsFunc(
		p.Flags(command),
		func(f terminal.Flag) bool { return "--"+f.Name == word && f.Value != "" },
	)
}

func (p completer) value(flag, before, prefix string) candidates {
	choices := p.Choices(strings.TrimLeft(flag, "-"))
	c := candidates{Files: choices == nil}
	for _, choice := range choices {
		c.add(before+choice, "")
	}
	return c.below(before + prefix)
}

func (p completer) plain(command string, words []string) (plain []string) {
	for i := 0; i < len(words); i++ {
		switch {
		case p.takesValue(command, words[i]):
			i++
		case !strings.HasPrefix(words[i], "-"):
			plain = append(plain, words[i])
		}
	}
	return plain
}

// parameter completes the value of a parameter.
func (p completer) parameter(command allowlist.Command, words []string, name, value string) (c candidates) {
	at := slices.IndexFunc(command.Params, func(param allowlist.Param) bool { return param.Name == name })
	if at < 0 {
		return c
	}
	param := command.Params[at]
	values := param.Choices
	switch param.Kind {
	case "path":
		values = p.Paths(words[:len(words)-1], value)
	case "folder":
		// The folders in which files are, each once.
		files := p.Paths(words[:len(words)-1], value)
		var folders []string
		for _, file := range files {
			for at := strings.LastIndexByte(file, '/'); at > 0; at = strings.LastIndexByte(file[:at], '/') {
				folders = append(folders, file[:at])
			}
		}
		slices.Sort(folders)
		values = slices.Compact(folders)
	case "note name":
		for _, note := range p.Paths(words[:len(words)-1], "") {
			values = append(values, strings.TrimSuffix(note[strings.LastIndexByte(note, '/')+1:], ".md"))
		}
	}
	for _, value := range values {
		c.add(name+"="+value, "")
	}
	return c.below(name + "=" + value)
}

// A script passes the words of the line to "vaultwicket __complete", the last of which is the one
// to complete, possibly empty. The answer has one candidate a line, with a description after a
// tab, and at last a line with a colon and a number: the sum of noSpace and noFiles. This is
// the protocol of cobra, which the scripts of other programs use as well.
const (
	noSpace = 2 // after a candidate: more of the word follows
	noFiles = 4 // the shell does not complete names of files
)

type candidate struct{ Word, Description string }

// candidates are the possible words, and how the shell uses them.
type candidates struct {
	List  []candidate
	Open  bool // more follows a candidate, such as the value after "path="
	Files bool // the shell completes names of files, too
}

func (c *candidates) add(word, description string) {
	c.List = append(c.List, candidate{word, description})
}

// below keeps the candidates that begin with a prefix.
func (c candidates) below(prefix string) candidates {
	c.List = slices.DeleteFunc(c.List, func(one candidate) bool { return !strings.HasPrefix(one.Word, prefix) })
	return c
}

// Print writes candidates for a script. Control characters in them are left out.
func (c candidates) Print(out io.Writer) error {
	var text strings.Builder
	for _, one := range c.List {
		text.WriteString(withoutControls(one.Word))
		if one.Description != "" {
			text.WriteString("\t" + withoutControls(one.Description))
		}
		text.WriteByte('\n')
	}
	directive := noFiles
	if c.Open {
		directive |= noSpace
	}
	if c.Files {
		directive &^= noFiles
	}
	_, err := fmt.Fprintf(out, "%s:%d\n", text.String(), directive)
	return err
}

func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
