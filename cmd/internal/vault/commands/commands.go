// Package commands has the commands of the embedded CLI about notes, files, tasks,
// bases, properties, links and history. Each file is one command or a small family:
// its rows, which it registers, and its functions.
//
// What a command is called, what it can carry and how dangerous it is are declared by
// the row of the same name in package allowlist.
package commands

import (
	"fmt"
	"slices"

	"vaultwicket/cmd/internal/vault/command"
)

// table is filled by the init functions of the files, and only read afterwards.
var table = make([]command.Command, 0, 128)

func register(rows ...command.Command) { table = append(table, rows...) }

// All returns the rows of all commands of this package, in no particular order.
func All() []command.Command { return slices.Clone(table) }

// limited returns an answer with some of the things that there are, and says so to the gateway. The
// app says nothing of what its limit leaves out.
func limited(said command.Reply, shown, total int, thing string) command.Reply {
	if shown >= total {
		return said
	}
	notice := fmt.Sprintf("%d of %s are listed; a higher limit lists more", shown, command.Count(total, thing))
	if said.Notice != "" {
		notice = said.Notice + "; " + notice
	}
	said.Notice = notice
	return said
}
