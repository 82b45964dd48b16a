// Package commands has the commands of the embedded CLI about notes, files, tasks,
// bases, properties, links and history. Each file is one command or a small family:
// its rows, which it registers, and its functions.
//
// What a command is called, what it can carry and how dangerous it is are declared by
// the row of the same name in package allowlist.
package commands

import (
	"slices"

	"vaultwicket/cmd/internal/vault/command"
)

// table is filled by the init functions of the files, and only read afterwards.
var table []command.Command

func register(rows ...command.Command) { table = append(table, rows...) }

// All returns the rows of all commands of this package, in no particular order.
func All() []command.Command { return slices.Clone(table) }
