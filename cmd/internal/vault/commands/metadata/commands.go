// Package metadata has the commands about what notes contain: links, tags,
// properties and headings.
package metadata

import (
	"slices"

	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return slices.Concat(linkCommands(), tagCommands(), outlineCommands(), propertyCommands(), propertyWriteCommands())
}
