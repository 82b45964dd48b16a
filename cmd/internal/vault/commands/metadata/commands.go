// Package metadata has the commands about what notes contain: links, tags,
// properties and headings.
package metadata

import (
	"vaultwicket/cmd/internal/vault/command"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{Name: "backlinks", Run: backlinks},
		{Name: "links", Run: links},
		{Name: "unresolved", OfIndex: true, Run: unresolved},
		{Name: "orphans", OfIndex: true, Run: orphans},
		{Name: "deadends", OfIndex: true, Run: deadends},
		{Name: "tags", OfIndex: true, Run: tags},
		{Name: "tag", Run: tag},
		{Name: "outline", Run: outline},
		{Name: "wordcount", Run: wordCount},
		{Name: "properties", OfIndex: true, Run: properties},
		{Name: "property:read", Run: readProperty},
		{Name: "aliases", OfIndex: true, Run: aliases},
		{Name: "property:set", Plan: setProperty, Verify: meansSet},
		{Name: "property:remove", Plan: removeProperty, Verify: meansRemoved},
	}
}
