package vault

import (
	"slices"
	"strings"
	"sync"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/attachments"
	"vaultwicket/cmd/internal/vault/commands/base"
	"vaultwicket/cmd/internal/vault/commands/briefing"
	"vaultwicket/cmd/internal/vault/commands/canvas"
	"vaultwicket/cmd/internal/vault/commands/files"
	"vaultwicket/cmd/internal/vault/commands/history"
	"vaultwicket/cmd/internal/vault/commands/metadata"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/commands/refactor"
	"vaultwicket/cmd/internal/vault/commands/related"
	"vaultwicket/cmd/internal/vault/commands/search"
	"vaultwicket/cmd/internal/vault/commands/tasks"
	"vaultwicket/cmd/internal/vault/grammar"
)

// table returns everything this program can do, sorted by name; nobody changes
// what is in it. It is made at its first use, and by a function because help, a
// row of it, reads it.
func table() []command.Command {
	known.once.Do(func() { known.rows = everyRow() })
	return known.rows
}

var known struct {
	once sync.Once
	rows []command.Command
}

func everyRow() []command.Command {
	rows := slices.Concat(generalCommands(), notes.Commands(), files.Commands(), metadata.Commands(), tasks.Commands(), briefing.Commands(), search.Commands(), base.Commands(), history.Commands(),
		refactor.Commands(), related.Commands(), canvas.Commands(), attachments.Commands())
	slices.SortFunc(rows, func(a, b command.Command) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

// lookUp returns the row of a command, or the error that the app would print
// for one that it does not have.
func lookUp(name string) (command.Command, error) {
	for _, row := range table() {
		if row.Name == name {
			return row, nil
		}
	}
	if row, err := allowlist.Describe(name); err == nil && !row.EmbeddedOnly {
		return command.Command{}, answer.NeedsApp.Failure("%q needs the Obsidian app.", name)
	}
	return command.Command{}, grammar.UnknownCommand(name)
}

// Commands returns the names of all that this program answers, sorted.
func Commands() []string {
	var names []string
	for _, row := range table() {
		names = append(names, row.Name)
	}
	return names
}
