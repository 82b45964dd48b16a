// Package base has the commands that read and change the rows of bases.
package base

import (
	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{Name: "bases", Run: listBases},
		{Name: "base:views", Run: listViews},
		{Name: "base:query", Run: queryBase},
		{Name: "query", Run: queryVault},
		{Name: "base:eval", Run: evaluate},
		{Name: "base:check", Run: checkBase},
		{Name: "base:create", Plan: createInBase, Verify: meansAddedToBase},
		{Name: "base:set", Plan: setInBase},
	}
}
