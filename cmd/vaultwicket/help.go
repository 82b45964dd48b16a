package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

var helpOfHelp = description{
	Name: "help", Usage: "[COMMAND | exit-codes]", Group: groupOther,
	Summary: "show this text, or the flags and examples of a command",
	Examples: []example{
		{"one command", "vaultwicket help run"},
		{"the exit statuses, for scripts", "vaultwicket help " + exitCodes},
	},
}

// help is "vaultwicket help": the list of commands, or the same as COMMAND --help.
func help(_ context.Context, std terminal.Streams, args []string) error {
	args, err := terminal.ParseFlags("help", args, nil)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		// The embedded CLI bypasses the gateway; see docs/vault.md.
		_, err := io.WriteString(std.Out, overviewText(terminal.DefaultScreen(std), vaultName))
		return err
	}
	if args[0] == exitCodes {
		return printExitCodes(std.Out)
	}
	c, found := subcommandNamed(args[0])
	if !found {
		return unknownSubcommand(args[0], args[1:])
	}
	return terminal.Silent(run([]string{c.Name, "--help"}, std))
}

// exitCodes is the topic of the help that lists the exit statuses.
const exitCodes = "exit-codes"

func printExitCodes(out io.Writer) error {
	var text strings.Builder
	for _, one := range terminal.ExitMeanings {
		fmt.Fprintf(&text, "%3d  %s\n", one.Status, one.Meaning)
	}
	return terminal.Write(out, terminal.Fit(out, text.String()))
}

// ownAndSettings separates the flags of a subcommand from the settings.
func ownAndSettings(list []terminal.Flag) (f flagLists) {
	names := append(settings.Names(), settings.FileFlag)
	if !slices.ContainsFunc(list, func(one terminal.Flag) bool { return one.Name == settings.FileFlag }) {
		return flagLists{Own: list} // it has no settings, and a flag of that name is another
	}
	for _, one := range list {
		if slices.Contains(names, one.Name) {
			f.Settings = append(f.Settings, one)
		} else {
			f.Own = append(f.Own, one)
		}
	}
	return f
}

// flagsOf returns the flags of a subcommand as its help has them.
func flagsOf(name string) []terminal.Flag {
	c, found := subcommandNamed(name)
	if !found {
		return nil
	}
	quiet := terminal.Streams{
		In:      strings.NewReader(""),
		Out:     io.Discard,
		Err:     io.Discard,
		Lookup:  func(string) (string, bool) { return "", false },
		Environ: func() []string { return nil },
	}
	var asked *terminal.HelpRequested
	if !errors.As(c.run(context.Background(), quiet, []string{"--help"}), &asked) {
		return nil
	}
	return asked.Flags
}

const (
	// pipeWidth is the width of help that is not read on a terminal, and maxHelpWidth that on
	// a wide one, in columns: longer lines are hard to read.
	pipeWidth    = 100
	maxHelpWidth = 120
	minText      = 30 // the width of a text next to names; on a narrower terminal it is below
)

// overviewText returns the help of the whole program: its commands in groups. hidden are names
// of commands that are left out.
func overviewText(s terminal.Screen, hidden ...string) string {
	p := helpWriter{screen: s, width: min(s.Width(pipeWidth), maxHelpWidth)}
	p.wrap("", "vaultwicket is a policy-enforcing gateway (MCP server) for Obsidian vaults.")
	p.line("")
	p.wrap("", "Usage: vaultwicket COMMAND [flags] [arguments]")
	names := 0
	for _, c := range subcommands() {
		names = max(names, len(c.Name))
	}
	for _, group := range groups {
		var rows [][2]string
		for _, c := range subcommands() {
			if c.Group == group && !slices.Contains(hidden, c.Name) {
				rows = append(rows, [2]string{c.Name, c.Summary})
			}
		}
		p.heading(group)
		p.pairs(rows, names)
	}
	p.flags("Flags of every command, before or after it", verbosityFlags)
	p.heading("Examples")
	p.commandLines(overviewExamples)
	p.line("")
	p.wrap(
		"",
		"\"vaultwicket help COMMAND\" shows the flags and examples of a command. Every setting is a flag (--allow-mutations), "+
			"an environment variable (VAULTWICKET_ALLOW_MUTATIONS) and a key of the settings file (allow-mutations = true).",
	)
	return p.text.String()
}

// allSettings is the command whose help lists every setting. The help of the others has those
// that are usually given with a call.
const allSettings = "serve"

var commonSettings = []string{"vault", "tier", "allow-mutations", "config", "profile"}

// Text returns the help of a command with its flags.
func (c description) Text(s terminal.Screen, f flagLists) string {
	p := helpWriter{screen: s, width: min(s.Width(pipeWidth), maxHelpWidth)}
	p.wrap("", strings.TrimSpace("vaultwicket "+c.Name+" "+c.Usage))
	p.wrap("  ", c.Summary)
	for _, paragraph := range c.About {
		p.line("")
		p.wrap("", paragraph)
	}
	p.flags("Flags", f.Own)
	if c.Name == allSettings {
		p.flags("Settings, also as variables and in the settings file", f.Settings)
	} else if len(f.Settings) > 0 {
		p.flags("Settings", slices.DeleteFunc(slices.Clone(f.Settings), func(f terminal.Flag) bool { return !slices.Contains(commonSettings, f.Name) }))
		p.line("")
		p.wrap("", "All other settings have flags, too: \"vaultwicket help "+allSettings+"\" lists them.")
	}
	p.heading("Examples")
	p.commandLines(c.Examples)
	return p.text.String()
}

type helpWriter struct {
	screen terminal.Screen
	width  int
	text   strings.Builder
}

func (p *helpWriter) line(text string) { p.text.WriteString(text + "\n") }

func (p *helpWriter) heading(text string) {
	p.line("")
	p.line(p.screen.Paint(terminal.Strong, text))
}

func (p *helpWriter) wrap(indent, text string) {
	for _, line := range terminal.Wrap(text, max(p.width-len(indent), 1)) {
		p.line(indent + line)
	}
}

// pairs writes names, padded to names columns, with texts next to them, or below on a narrow screen.
func (p *helpWriter) pairs(rows [][2]string, names int) {
	const indent = "  "
	column := len(indent) + names + 2
	for _, row := range rows {
		if p.width-column < minText {
			p.line(indent + p.screen.Paint(terminal.Name, row[0]))
			p.wrap(indent+indent+indent, row[1])
			continue
		}
		name := indent + p.screen.Paint(terminal.Name, row[0]) + strings.Repeat(" ", names-len(row[0])+2)
		for _, line := range terminal.Wrap(row[1], p.width-column) {
			p.line(strings.TrimRight(name+line, " "))
			name = strings.Repeat(" ", column)
		}
	}
}

func (p *helpWriter) flags(title string, list []terminal.Flag) {
	if len(list) == 0 {
		return
	}
	var rows [][2]string
	names := 0
	for _, f := range list {
		rows = append(rows, [2]string{f.Form(), f.Usage})
		names = max(names, len(f.Form()))
	}
	p.heading(title)
	p.pairs(rows, names)
}

// commandLines writes examples. Their lines are never broken: a user copies them.
func (p *helpWriter) commandLines(list []example) {
	for _, e := range list {
		p.wrap("  ", p.screen.Paint(terminal.Faint, "# "+e.What))
		p.line(fmt.Sprintf("  %s", e.Line))
	}
}

// description is a subcommand as help and manual describe it.
type description struct {
	Name     string
	Usage    string // what follows the name
	Summary  string // in the list of commands
	Group    string
	About    []string // what a user should know before the first use: paragraphs
	Examples []example
}

type example struct{ What, Line string }

type flagLists struct{ Own, Settings []terminal.Flag }

var groups = []string{groupStart, groupUse, groupConsent, groupReview, groupConfigure, groupOther}

// The groups.
const (
	groupStart     = "Connect an agent"
	groupUse       = "Use a vault from the terminal"
	groupConsent   = "Decide on requests"
	groupReview    = "Review and undo"
	groupConfigure = "Permissions and settings"
	groupOther     = "Other commands"
)

var overviewExamples = []example{
	{"let Claude Code read a folder of notes", "vaultwicket install claude-code --vault ~/Notes"},
	{"the same by hand: a server for an MCP client", "vaultwicket serve --vault ~/Notes"},
	{"read today's note", "vaultwicket run --vault ~/Notes daily:read"},
	{"see what a change would do", `vaultwicket dry-run --vault ~/Notes daily:append content="buy milk"`},
	{"find out what is wrong", "vaultwicket doctor"},
}
