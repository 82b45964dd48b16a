package vault

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/release"
)

func generalCommands() []command {
	return []command{
		{
			name: "help", about: "Show what this program can do",
			bare: "command",
			run:  func(v *vault, p params) (reply, error) { return help(p, v.forGateway) },
		},
		{
			name: "version", about: "Show the version of this program",
			run: func(*vault, params) (reply, error) { return say(versionLine()), nil },
		},
	}
}

// versionLine deliberately does not have the form of the app's own line, which
// begins with a number: nobody shall take this program for the app.
func versionLine() string { return "vaultwicket " + release.Version + " (embedded)" }

// help shows everything, or one command with its family: "help daily" shows
// the commands that begin with "daily:" too. To the gateway, whose answers agents
// read, it does not show how this program is started.
func help(p params, forGateway bool) (reply, error) {
	name := p["command"]
	if name == "" {
		return say(overview(forGateway)), nil
	}
	var blocks []string
	for _, row := range table() {
		if row.name == name || strings.HasPrefix(row.name, name+":") {
			blocks = append(blocks, block(row))
		}
	}
	if len(blocks) == 0 {
		_, err := lookUp(name)
		return reply{}, err
	}
	return say(strings.Join(blocks, "\n")), nil
}

func overview(forGateway bool) string {
	var out strings.Builder
	out.WriteString("vaultwicket embedded vault CLI\n")
	if !forGateway {
		out.WriteString("\n" + synopsis + "\n\nOptions:\n")
		fmt.Fprintf(&out, "  %-22s%s\n", "vault=<name>", "Name or id of the vault; it must be this folder's")
		fmt.Fprintf(&out, "  %-22s%s\n", writeSwitch, "Let the command change the vault")
		fmt.Fprintf(&out, "  %-22s%s\n", planSwitch, "Show what the command would change")
		fmt.Fprintf(&out, "  %-22s%s\n", "--stdin PARAM", "Take the value of one parameter from standard input")
	}
	out.WriteString(`
Notes:
  file resolves like a link, path is exact; without either the focused note counts.
  In content=, old= and new= use \n for a line break and \t for a tab.
  Exit status: 0 done, 1 failed, 2 wrong request.

Commands:
`)
	for _, row := range table() {
		out.WriteString(block(row))
	}
	return out.String()
}

// block is a command in the layout of the app's help.
func block(c command) string {
	var out strings.Builder
	fmt.Fprintf(&out, "  %s%s\n", column(c.name, 22), c.about)
	if _, named := c.syntax().param(c.bare); c.bare != "" && !named {
		fmt.Fprintf(&out, "    %s- One command or family\n", column("<"+c.bare+">", 20))
	}
	for _, p := range c.params {
		note := ""
		if p.required {
			note = " (required)"
		}
		fmt.Fprintf(&out, "    %s- %s%s\n", column(p.usage(), 20), p.about, note)
	}
	return out.String()
}

// column pads text to a width; two blanks follow text that is wider.
func column(text string, width int) string {
	if len(text) >= width {
		return text + "  "
	}
	return text + strings.Repeat(" ", width-len(text))
}
