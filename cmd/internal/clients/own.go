package clients

import (
	"vaultwicket/cmd/internal/document"
	"vaultwicket/exec/trust"
)

// ownCommand is how a client changes its settings of the user by itself.
type ownCommand struct {
	program string
	// add returns the command lines; present says that the entry has to go first.
	add    func(program, name string, entry document.Object, present bool) [][]string
	remove func(program, name string) [][]string
}

// claudeCommand is for user scope: the default of Claude Code is another one.
var claudeCommand = &ownCommand{
	program: "claude",
	add: func(program, name string, entry document.Object, present bool) [][]string {
		add := []string{program, "mcp", "add-json", name, document.RenderJSONLine(entry), "-s", "user"}
		if present { // add-json refuses a name that exists
			return [][]string{{program, "mcp", "remove", name, "-s", "user"}, add}
		}
		return [][]string{add}
	},
	remove: func(program, name string) [][]string {
		return [][]string{{program, "mcp", "remove", name, "-s", "user"}}
	},
}

// ownProgram returns the path of the client's own command, "" if it is not used: then the file
// is edited. A program that another user, a vault or the working folder could have put there is
// not started.
func (i Installer) ownProgram(c Client, scope Scope, vaults ...string) string {
	if c.own == nil || i.Run == nil || scope != User {
		return ""
	}
	program := i.System.Program(c.own.program)
	if program == "" {
		return ""
	}
	at := trust.Surroundings{Vaults: func() []string { return vaults }, Home: i.System.home()}
	if reason, err := trust.Place(program, at); reason != "" || err != nil {
		return ""
	}
	return program
}
