package vault

import (
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands"
)

// table has everything this program can do, sorted by name. It is only read after init,
// which makes it because help, a row of it, reads it.
var table []command.Command

func init() {
	table = append(generalCommands(), commands.All()...)
	slices.SortFunc(table, func(a, b command.Command) int { return strings.Compare(a.Name, b.Name) })
}

// lookUp returns the row of a command, or the error that the app would print
// for one that it does not have.
func lookUp(name string) (command.Command, error) {
	for _, row := range table {
		if row.Name == name {
			return row, nil
		}
	}
	if row, err := allowlist.Describe(name); err == nil && !row.EmbeddedOnly {
		return command.Command{}, command.NeedsApp.Failure("%q needs the Obsidian app.", name)
	}
	return command.Command{}, command.UnknownCommand(name)
}

// Commands returns the names of all that this program answers, sorted.
func Commands() []string {
	var names []string
	for _, row := range table {
		names = append(names, row.Name)
	}
	return names
}
