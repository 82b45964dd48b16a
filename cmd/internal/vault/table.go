package vault

import (
	"slices"
	"strings"
	"sync"
)

// table returns everything this program can do, sorted by name; nobody changes
// what is in it. It is made at its first use, and by a function because help, a
// row of it, reads it.
func table() []command {
	known.once.Do(func() { known.rows = everyRow() })
	return known.rows
}

var known struct {
	once sync.Once
	rows []command
}

func everyRow() []command {
	rows := slices.Concat(generalCommands(), noteRows(), fileRows(), metadataRows(), searchCommands(), baseRows(), historyRows())
	slices.SortFunc(rows, func(a, b command) int { return strings.Compare(a.name, b.name) })
	return rows
}

// lookUp returns the row of a command, or the error that the app would print
// for one that it does not have.
func lookUp(name string) (command, error) {
	for _, row := range table() {
		if row.name == name {
			return row, nil
		}
	}
	if isOfficial(name) {
		return command{}, needsApp.failure("%q needs the Obsidian app.", name)
	}
	return command{}, unknownCommand(name)
}
