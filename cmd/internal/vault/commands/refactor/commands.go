// Package refactor has the commands that change many notes at once: a tag, a property
// or a heading gets another name wherever it is used, or a text is replaced.
//
// Each of them proposes one change of all notes. Nothing is done if one of the notes
// cannot be changed, and one undo takes all of it back.
package refactor

import (
	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{Name: "tag:rename", Plan: renameTag},
		{Name: "property:rename", Plan: renameProperty},
		{Name: "heading:rename", Plan: renameHeading},
		{Name: "vault:replace", Plan: replaceText},
	}
}
