package vault

import "slices"

// metadataRows returns the commands about links, tags, tasks, properties and headings.
func metadataRows() []command {
	return slices.Concat(linkCommands(), tagCommands(), taskCommands(), taskCommand(), outlineCommands(), propertyCommands(), propertyWriteCommands())
}
