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

var helpHelp = description{
	Name: "help", Usage: "[COMMAND | exit-codes]", Group: groupOther,
	Summary: "show this text, or the flags and examples of a command",
	Examples: []example{
		{"one command", "vaultwicket help run"},
		{"the exit statuses, for scripts", "vaultwicket help " + exitCodes},
	},
}

// help runs "vaultwicket help", which prints the list of commands, or the same as COMMAND --help.
func help(_ context.Context, std terminal.Streams, args []string) error {
	args, err := terminal.ParseFlags("help", args, nil)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		// The embedded CLI is not listed because it bypasses the gateway; see docs/vault.md.
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

// exitCodes is the help topic that lists the exit statuses.
const exitCodes = "exit-codes"

// printExitCodes prints the exit statuses.
func printExitCodes(out io.Writer) error {
	var text strings.Builder
	for _, row := range terminal.ExitMeanings {
		fmt.Fprintf(&text, "%3d  %s\n", row.Status, row.Meaning)
	}
	return terminal.Write(out, terminal.Fit(out, text.String()))
}

// ownAndSettings splits the flags of a subcommand into its own flags and settings.
func ownAndSettings(list []terminal.Flag) (f flagLists) {
	names := append(settings.Names(), settings.FileFlag)
	if !slices.ContainsFunc(list, func(flag terminal.Flag) bool { return flag.Name == settings.FileFlag }) {
		return flagLists{Own: list} // without settings, a flag with the name of a setting is its own
	}
	for _, flag := range list {
		if slices.Contains(names, flag.Name) {
			f.Settings = append(f.Settings, flag)
		} else {
			f.Own = append(f.Own, flag)
		}
	}
	return f
}

// flagsOf returns the flags of a subcommand as its help shows them.
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
	var requested *terminal.HelpRequested
	if !errors.As(c.run(context.Background(), quiet, []string{"--help"}), &requested) {
		return nil
	}
	return requested.Flags
}

const (
	pipeWidth    = 100 // width of help in columns if the output is not a terminal
	maxHelpWidth = 120 // maximum width in columns: longer lines are hard to read
	minText      = 30  // minimum width of a text next to names; otherwise it is written below
)

// overviewText returns the help of the whole program: its commands in groups, without those in hidden.
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

// allSettings is the command whose help lists every setting. The help of other commands only lists commonSettings.
const allSettings = "serve"

// commonSettings are the settings that are often given as flags.
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
		isRare := func(f terminal.Flag) bool { return !slices.Contains(commonSettings, f.Name) }
		p.flags("Settings", slices.DeleteFunc(slices.Clone(f.Settings), isRare))
		p.line("")
		p.wrap("", "All other settings have flags, too: \"vaultwicket help "+allSettings+"\" lists them.")
	}
	p.heading("Examples")
	p.commandLines(c.Examples)
	return p.text.String()
}

// helpWriter formats help texts.
type helpWriter struct {
	screen terminal.Screen
	width  int
	text   strings.Builder
}

// line writes a line.
func (p *helpWriter) line(text string) { p.text.WriteString(text + "\n") }

// heading writes a heading after an empty line.
func (p *helpWriter) heading(text string) {
	p.line("")
	p.line(p.screen.Paint(terminal.Strong, text))
}

// wrap writes text in indented lines that fit the width.
func (p *helpWriter) wrap(indent, text string) {
	for _, line := range terminal.Wrap(text, max(p.width-len(indent), 1)) {
		p.line(indent + line)
	}
}

// pairs writes rows of a name and a text: names padded to the width names, with the text next to it, or below on a
// narrow screen.
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

// flags writes flags below a title. Without flags it writes nothing.
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

// commandLines writes examples. Their lines are never broken, so that users can copy them.
func (p *helpWriter) commandLines(list []example) {
	for _, e := range list {
		p.wrap("  ", p.screen.Paint(terminal.Faint, "# "+e.What))
		p.line(fmt.Sprintf("  %s", e.Line))
	}
}

// description describes a subcommand for help and manual.
type description struct {
	Name     string
	Usage    string // the syntax after the name
	Summary  string // the text in the list of commands
	Group    string
	About    []string // what a user should know before the first use: paragraphs
	Examples []example
}

// example is a command line and what it does.
type example struct{ What, Line string }

// flagLists contains the flags of a subcommand: its own, and settings.
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
