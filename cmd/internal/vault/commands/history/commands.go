// Package history has the commands that show the versions of notes that the journal
// keeps, and that take changes back.
//
// The app keeps its history where only it can read it, and what its commands print was
// never recorded. Here a version is a note as it was before a change of this program;
// 1 is the newest, and the present text is not one. A change by another program makes no
// version, but its text becomes one with the next change here.
package history

import (
	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{Name: "history", Run: listVersions},
		{Name: "history:list", Run: listHistories},
		{Name: "history:read", Run: readVersion},
		{Name: "history:restore", Plan: restoreVersion, Verify: meansRestored},
		{Name: "diff", Run: diffVersions},
		{Name: "undo", Positional: "id", Plan: undo},
	}
}
