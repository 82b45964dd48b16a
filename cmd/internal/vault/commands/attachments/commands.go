// Package attachments has the commands about files that are neither notes nor canvases
// nor bases: images, sounds, documents and others. They are listed and read, never
// written.
package attachments

import (
	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{{Name: "attachments", Run: list}, {Name: "attachment:read", Run: read}}
}
