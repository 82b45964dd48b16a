package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/mcpserver/prompts"
)

// maxCompletions is the maximum of the protocol for one result.
const maxCompletions = 100

// completer completes the names of commands and the arguments of prompts. It never
// completes the name of a note or a folder or text of a note, because it may be hidden.
type completer struct{ handler }

// CompleteResourceArgument completes the command of vaultwicket://help/{command}.
func (c completer) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return guarded(c.Log, "completion", func() (*mcp.Completion, error) {
		if uri != helpURI || argument.Name != "command" {
			return &mcp.Completion{}, nil
		}
		return complete(argument.Value, allowlist.Names()), nil
	})
}

// CompletePromptArgument completes the argument of a prompt.
func (c completer) CompletePromptArgument(_ context.Context, name string, argument mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return guarded(c.Log, "completion", func() (*mcp.Completion, error) {
		p, err := prompts.Find(name)
		if err != nil {
			return &mcp.Completion{}, nil
		}
		for _, a := range p.Arguments(c.Gateway.VaultNames()) {
			if values := a.Suggestions(c.clock()); a.Name == argument.Name && values != nil {
				return complete(argument.Value, values), nil
			}
		}
		return &mcp.Completion{}, nil
	})
}

// complete returns the words that begin with the typed text, then those that contain it
// elsewhere, each in the given order.
func complete(typed string, words []string) *mcp.Completion {
	typed = strings.ToLower(typed)
	var prefixed, containing []string
	for _, word := range words {
		switch folded := strings.ToLower(word); {
		case strings.HasPrefix(folded, typed):
			prefixed = append(prefixed, word)
		case strings.Contains(folded, typed):
			containing = append(containing, word)
		}
	}
	all := slices.Concat(prefixed, containing)
	shown := all[:min(len(all), maxCompletions)]
	return &mcp.Completion{Values: shown, Total: len(all), HasMore: len(all) > len(shown)}
}
