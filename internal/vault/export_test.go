package vault

import (
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
)

// The tests of the program are outside of it, because what they share imports it.

// LifelineVariable is the name of the variable.
const LifelineVariable = lifelineVariable

// LookUp returns the row of a command.
var LookUp = lookUp

// Table returns the rows of all commands.
func Table() []handlers.Command { return table() }

// AddRow has the program have one more command until the end of a test.
func AddRow(t *testing.T, row handlers.Command) {
	rows := table
	t.Cleanup(func() { table = rows })
	table = func() []handlers.Command { return append(slices.Clone(rows()), row) }
}
