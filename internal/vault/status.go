package vault

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
)

// status reports how the program would work on a folder: what confines it, and where its cache is. It opens the
// vault, so that a vault that cannot be opened is reported.
func status(h *call.Host, folder string) answer.Reply {
	path, err := filepath.Abs(folder)
	if err != nil {
		return answer.Explain(answer.ErrVaultNotFound)
	}
	h.Confine(path)
	v := &call.Vault{}
	if err := h.OpenFolder(path, v); err != nil {
		return answer.Explain(err)
	}
	ignored := filepath.Join(path, access.IgnoreFile)
	if _, err := os.Lstat(ignored); errors.Is(err, fs.ErrNotExist) {
		ignored = "none"
	}
	table := answer.Table{}
	for _, line := range [][2]string{
		{"folder", path},
		{"sandbox", h.Sandbox.String()},
		{"ignore file", ignored},
		{"cache", cmp.Or(ownerfiles.CacheFolder(h.Env, path), "none: no place outside the vault")},
	} {
		table.Rows = append(table.Rows, line[:])
	}
	return table.Reply(v.Disk, answer.FormatTSV)
}

// stateOf identifies the state from which a call is answered: the same call in the same state has the same answer. It
// is "" if the answer depends on more than the index and the day, or if the state is unknown without examining every
// file. States of different processes differ.
func stateOf(v *call.Vault, q protocol.Request) string {
	row, err := lookUp(q.Command)
	if err != nil {
		return ""
	}
	isOfState := row.OfIndex || row.OfFiles
	if !isOfState || !v.Host.Knowledge.Resident {
		return ""
	}
	// The active note changes at any time, and today's is named by the settings of the vault.
	isOfMoment := func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "active" || name == "daily"
	}
	if slices.ContainsFunc(q.Args, isOfMoment) {
		return ""
	}
	state := v.Host.Knowledge.State
	if row.OfFiles {
		state = v.Host.Knowledge.StateIfCurrent
	}
	number, ok := state(v.View())
	if !ok {
		return ""
	}
	day := v.Clock().Add(-v.DayStart).Format(time.DateOnly)
	return answer.Digest(fmt.Appendf(nil, "%s %d %s", processID(), number, day))
}

var processID = sync.OnceValue(rand.Text)

// help describes all commands, or a command and its family: "help daily" also describes those that begin with "daily:".
// For the gateway, whose answers agents read, it omits how this program is started.
func help(v *call.Vault, p call.Values) (answer.Reply, error) {
	if name := p["command"]; name != "" {
		var blocks []string
		for _, row := range table() {
			if row.Name == name || strings.HasPrefix(row.Name, name+":") {
				blocks = append(blocks, commandHelp(row))
			}
		}
		if len(blocks) == 0 {
			_, err := lookUp(name)
			return answer.Reply{}, err
		}
		return answer.From(v.Disk, strings.Join(blocks, "\n")), nil
	}
	var out strings.Builder
	out.WriteString("vaultwicket embedded vault CLI\n")
	if !v.ForGateway {
		out.WriteString("\n" + call.Synopsis + "\n\nOptions:\n")
		fmt.Fprintf(&out, "  %-22s%s\n", "vault=<name>", "Name or id of the vault; it must be this folder's")
		fmt.Fprintf(&out, "  %-22s%s\n", call.WriteSwitch, "Let the command change the vault")
		fmt.Fprintf(&out, "  %-22s%s\n", call.PlanSwitch, "Show what the command would change")
		fmt.Fprintf(
			&out,
			"  %-22s%s\n",
			call.StdinSwitch+" PARAM",
			"Take the value of one parameter from standard input",
		)
	}
	out.WriteString(`
Notes:
  file resolves like a link, path is exact; without either the focused note counts.
  In content=, old= and new= use \n for a line break and \t for a tab.
  Exit status: 0 done, 1 failed, 2 wrong request.

Commands:
`)
	for _, row := range table() {
		out.WriteString(commandHelp(row))
	}
	return answer.From(v.Disk, out.String()), nil
}

// commandHelp returns the description of a command in the layout of the app's help.
func commandHelp(c handlers.Command) string {
	var out strings.Builder
	syntax, help := c.Syntax()
	fmt.Fprintf(&out, "  %s%s\n", padRight(c.Name, 22), help)
	for _, p := range syntax.Params {
		note := ""
		if p.Required {
			note = " (required)"
		}
		fmt.Fprintf(&out, "    %s- %s%s\n", padRight(call.Usage(p), 20), p.Summary, note)
	}
	return out.String()
}

// padRight pads text to a width; two spaces follow a text that fills it.
func padRight(text string, width int) string {
	if len(text) >= width {
		return text + "  "
	}
	return text + strings.Repeat(" ", width-len(text))
}
