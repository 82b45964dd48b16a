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

var completionHelp = description{
	Name: "completion", Usage: "bash | zsh | fish | powershell", Group: groupOther, Summary: "print the completion script of a shell",
	About:    []string{"The first lines of each script say how to load it."},
	Examples: []example{{"for this session of bash", "source <(vaultwicket completion bash)"}},
}

// completeName is the hidden subcommand that the scripts call.
const completeName = "__complete"

// printCompletion runs "vaultwicket completion", which prints the script for a shell.
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

// complete prints the candidates for a script. If it does not know any, it prints none. The error is that of writing.
func complete(ctx context.Context, std terminal.Streams, words []string) error {
	if n := len(words); n > 0 && words[n-1] == "__empty" { // see the script for PowerShell
		words[n-1] = ""
	}
	p := completer{
		Flags:   func(command string) []terminal.Flag { return append(flagsOf(command), verbosityFlags...) },
		Choices: flagChoices,
		Words:   argumentWords(),
		Paths:   func(line []string, prefix string) []string { return visiblePaths(ctx, std, line, prefix) },
	}
	for _, c := range subcommands() {
		p.Commands = append(p.Commands, candidate{Word: c.Name, Description: c.Summary})
		p.Words["help"] = append(p.Words["help"], c.Name)
	}
	return p.Complete(words).Print(std.Out)
}

// flagChoices returns the possible values of a flag, nil if any value is valid.
func flagChoices(flag string) []string {
	if flag == "color" {
		return terminal.Colors
	}
	return settings.Choices(flag)
}

// argumentWords returns the possible arguments of each subcommand. A subcommand that is missing has files as arguments.
func argumentWords() map[string][]string {
	words := map[string][]string{
		"install":    clients.IDs(),
		"uninstall":  clients.IDs(),
		"prompt":     mcpserver.PromptNames(),
		"completion": shells,
		"man":        manualNames(),
		"config":     {"show", "check", "path", "init", "set", "edit", "schema"},
		"audit":      {"list", "what-if", "verify", "export"},
		"journal":    {"list", "show"},
		"agent":      {"add", "list", "show", "rotate", "revoke", "remove"},
		"passkey":    {"add", "list", "remove"},
		"flow":       {"clear"},
		"help":       {exitCodes},
	}
	withoutArguments := []string{
		"setup", "ui", "today", "scan", "grants", "compare", "approvals", "approve", "deny", "pause", "resume", "undo",
		"commands", "demo", "doctor", "version", "serve",
	}
	for _, name := range withoutArguments {
		words[name] = []string{}
	}
	return words
}

// visiblePaths returns the paths that begin with prefix of the notes that are visible with the settings of a command
// line. It asks the gateway, which denies that if the command files is not enabled.
func visiblePaths(ctx context.Context, std terminal.Streams, line []string, prefix string) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	isCommand := func(word string) bool {
		_, err := allowlist.Describe(word)
		return err == nil
	}
	subcommand := line[0]
	arguments := line[1:]
	flags := arguments[:max(0, slices.IndexFunc(arguments, isCommand))] // those before the command of the vault
	o, err := bootstrap.Open(subcommand, std, flags, nil)
	if err != nil {
		return nil
	}
	defer o.Runner.Close()
	params := allowlist.Params{}
	if slash := strings.LastIndexByte(prefix, '/'); slash > 0 {
		params["folder"] = allowlist.Text(prefix[:slash])
	}
	answer := o.Gateway.Do(ctx, gateway.Request{Command: "files", Params: params})
	if !answer.OK {
		return nil
	}
	var paths []string
	for file := range strings.Lines(answer.Stdout) {
		file = strings.TrimSuffix(file, "\n")
		if strings.HasPrefix(file, prefix) && len(paths) < maxPaths {
			paths = append(paths, file)
		}
	}
	return paths
}

// completionTime is the time limit for listing paths, because the user is waiting; maxPaths limits their number.
const (
	completionTime = 2 * time.Second
	maxPaths       = 5_000
)

//go:embed completion
var completionScripts embed.FS

var shells = []string{"bash", "zsh", "fish", "powershell"}

// completionScript returns the completion script for a shell, with instructions. ok is false for an unknown shell.
func completionScript(shell string) (text string, ok bool) {
	if !slices.Contains(shells, shell) {
		return "", false
	}
	script, err := completionScripts.ReadFile("completion/vaultwicket." + shell)
	return string(script), err == nil
}

// completer completes command lines. Its functions must not be nil.
type completer struct {
	Commands []candidate                                 // the subcommands with their summaries
	Flags    func(command string) []terminal.Flag        // returns the flags of a command, as its help has them
	Words    map[string][]string                         // the possible arguments of each subcommand; nil means files
	Choices  func(flag string) []string                  // returns the values of a flag, nil if any value is valid
	Paths    func(line []string, prefix string) []string // returns the paths of the visible notes that begin with a prefix
}

// takeVaultCommand are the subcommands whose argument is a command of a vault.
var takeVaultCommand = []string{"run", "dry-run", "explain"}

// Complete returns the candidates for the last word. words are those after the program's name.
func (p completer) Complete(words []string) candidates {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return candidates{List: slices.Clone(p.Commands)}.startingWith(last)
	}
	command := words[0]
	between := words[1 : len(words)-1]
	if n := len(between); n > 0 && p.takesValue(command, between[n-1]) {
		return p.value(between[n-1], "", last)
	}
	if strings.HasPrefix(last, "-") { // a flag or its value
		if name, value, found := strings.Cut(last, "="); found {
			return p.value(name, name+"=", value)
		}
		var c candidates
		for _, f := range p.Flags(command) {
			c.add("--"+f.Name, f.Usage)
		}
		return c.startingWith(last)
	}
	given := p.plain(command, between)
	if slices.Contains(takeVaultCommand, command) {
		return p.vaultCommand(words, given)
	}
	c := candidates{Files: p.Words[command] == nil}
	if len(given) == 0 {
		for _, word := range p.Words[command] {
			c.add(word, "")
		}
	}
	return c.startingWith(last)
}

// vaultCommand completes the command of a vault, its parameters, and their values if they are known. given are the
// words before the last one that are not flags of the subcommand.
func (p completer) vaultCommand(words, given []string) (c candidates) {
	last := words[len(words)-1]
	if len(given) == 0 {
		for command := range allowlist.Commands() {
			c.add(command.Name, command.Summary)
		}
		return c.startingWith(last)
	}
	command, err := allowlist.Describe(given[0])
	if err != nil || words[0] == "explain" {
		return c
	}
	if name, value, isValue := strings.Cut(last, "="); isValue {
		return p.parameter(command, words, name, value)
	}
	for _, param := range command.Params {
		isThis := func(word string) bool { return strings.HasPrefix(word+"=", param.Name+"=") }
		isGiven := slices.ContainsFunc(given[1:], isThis)
		switch {
		case param.Refused != "" || isGiven:
			continue
		case param.Kind == flagKind:
			c.add(param.Name, param.Summary)
		default:
			c.add(param.Name+"=", param.Summary)
		}
	}
	c = c.startingWith(last)
	c.Open = len(c.List) > 0 && strings.HasSuffix(c.List[0].Word, "=") // a flag needs nothing after it
	return c
}

// takesValue reports whether a word is a flag of a subcommand that needs a value.
func (p completer) takesValue(command, word string) bool {
	return slices.ContainsFunc(
		p.Flags(command),
		func(f terminal.Flag) bool { return "--"+f.Name == word && f.Value != "" },
	)
}

// value completes the value of a flag that begins with prefix. before is the part of the word in front of the value.
func (p completer) value(flag, before, prefix string) candidates {
	choices := p.Choices(strings.TrimLeft(flag, "-"))
	c := candidates{Files: choices == nil}
	for _, choice := range choices {
		c.add(before+choice, "")
	}
	return c.startingWith(before + prefix)
}

// plain returns the words that are neither flags nor their values.
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
		// All folders that contain files.
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
	return c.startingWith(name + "=" + value)
}

// A script passes the words of the command line to "vaultwicket __complete". The last word is the one
// to complete and may be empty. The answer has one candidate per line, with an optional description after a
// tab. The last line is a colon and a number: the sum of noSpace and noFiles. This is
// the protocol of cobra, which the completion scripts of other programs also use.
const (
	noSpace = 2 // the shell adds no space after a candidate, because more of the word follows
	noFiles = 4 // the shell does not complete file names
)

// candidate is a possible word with its description.
type candidate struct{ Word, Description string }

// candidates are the possible words and how the shell uses them.
type candidates struct {
	List  []candidate
	Open  bool // more follows a candidate, such as the value after "path="
	Files bool // the shell also completes file names
}

// add adds a candidate.
func (c *candidates) add(word, description string) {
	c.List = append(c.List, candidate{word, description})
}

// startingWith keeps the candidates that begin with a prefix.
func (c candidates) startingWith(prefix string) candidates {
	c.List = slices.DeleteFunc(c.List, func(one candidate) bool { return !strings.HasPrefix(one.Word, prefix) })
	return c
}

// Print writes candidates for a script, without control characters.
func (c candidates) Print(out io.Writer) error {
	var text strings.Builder
	for _, word := range c.List {
		text.WriteString(withoutControls(word.Word))
		if word.Description != "" {
			text.WriteString("\t" + withoutControls(word.Description))
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

// withoutControls removes control characters.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
