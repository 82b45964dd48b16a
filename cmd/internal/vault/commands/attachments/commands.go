// Package attachments has the commands about files that are neither notes nor canvases
// nor bases: images, sounds, documents and others. They are listed and read, never
// written.
package attachments

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
)

// Commands returns the commands of this package.
func Commands() []command.Command {
	return []command.Command{
		{
			Name: "attachments", Help: "List the attachments with type, size and the notes that use them",
			Params: []grammar.Param{
				{Name: "folder", Hint: "path", Help: "Only in this folder and below"},
				{Name: "type", OneOf: types(), Help: "Only of this type"},
				{Name: "unused", Kind: grammar.Flag, Help: "Only those that nothing links to or embeds"},
				{Name: "total", Kind: grammar.Flag, Help: "Only how many there are"},
				{Name: "format", OneOf: []string{"text", answer.FormatJSON}, Help: "Output format"},
			},
			Run: list,
		},
		{
			Name: "attachment:read", Help: "Print a text file, show an image, or tell type and size of another file",
			Params: grammar.TargetParams(), Run: read,
		},
	}
}
