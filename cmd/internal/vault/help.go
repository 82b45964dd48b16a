package vault

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/command"
)

// help shows of one command its family: "help daily" shows the commands that begin with
// "daily:" too. To the gateway, whose answers agents read, it does not show how this program is
// started.
func help(v *command.Vault, p command.Values) (command.Reply, error) {
	if name := p["command"]; name != "" {
		var blocks []string
		for _, row := range table() {
			if row.Name == name || strings.HasPrefix(row.Name, name+":") {
				blocks = append(blocks, block(row))
			}
		}
		if len(blocks) == 0 {
			_, err := lookUp(name)
			return command.Reply{}, err
		}
		return command.Text(strings.Join(blocks, "\n")), nil
	}
	var out strings.Builder
	out.WriteString("vaultwicket embedded vault CLI\n")
	if !v.ForGateway {
		out.WriteString("\n" + command.Synopsis + "\n\nOptions:\n")
		fmt.Fprintf(&out, "  %-22s%s\n", "vault=<name>", "Name or id of the vault; it must be this folder's")
		fmt.Fprintf(&out, "  %-22s%s\n", command.WriteSwitch, "Let the command change the vault")
		fmt.Fprintf(&out, "  %-22s%s\n", command.PlanSwitch, "Show what the command would change")
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
	return command.Text(out.String()), nil
}

// block is a command in the layout of the app's help.
func block(c command.Command) string {
	var out strings.Builder
	syntax, help := c.Syntax()
	fmt.Fprintf(&out, "  %s%s\n", column(c.Name, 22), help)
	for _, p := range syntax.Params {
		note := ""
		if p.Required {
			note = " (required)"
		}
		fmt.Fprintf(&out, "    %s- %s%s\n", column(command.Usage(p), 20), p.Summary, note)
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
