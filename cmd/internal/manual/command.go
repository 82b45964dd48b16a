// Package manual has what is told of the subcommands: their groups, texts and examples. It
// writes the help on the screen and the manual pages from the same table.
package manual

import "vaultwicket/cmd/internal/terminal"

// Command is a subcommand as help and manual describe it.
type Command struct {
	Name    string
	Usage   string // what follows the name
	Summary string // in the list of commands
	Group   string
	// About is what a user should know before the first use: paragraphs.
	About    []string
	Examples []Example
}

// Example is a command line, and what it does.
type Example struct{ What, Line string }

// Flags are the flags of a subcommand: its own, and the settings.
type Flags struct{ Own, Settings []terminal.Flag }

// groups are the groups of subcommands, in the order of the help.
var groups = []string{start, use, consent, review, configure, other}

// The groups.
const (
	start     = "Connect an agent"
	use       = "Use a vault from the terminal"
	consent   = "Decide on requests"
	review    = "Review and undo"
	configure = "Permissions and settings"
	other     = "Other commands"
)

// Overview are the examples of the whole program.
var Overview = []Example{
	{"let Claude Code read a folder of notes", "vaultwicket install claude-code --vault ~/Notes"},
	{"the same by hand: a server for an MCP client", "vaultwicket serve --vault ~/Notes"},
	{"read today's note", "vaultwicket run --vault ~/Notes daily:read"},
	{"see what a change would do", `vaultwicket dry-run --vault ~/Notes daily:append content="buy milk"`},
	{"find out what is wrong", "vaultwicket doctor"},
}
