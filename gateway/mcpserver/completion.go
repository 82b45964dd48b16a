package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/allowlist"
)

// maxCompletions is what the protocol lets one answer hold.
const maxCompletions = 100

// completer completes what a person types: the names of commands, and the
// arguments of prompts. It never completes the name of a note, of a folder or of
// anything in them, because some of them may be hidden.
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
		p, err := promptOf(name)
		if err != nil {
			return &mcp.Completion{}, nil
		}
		for _, a := range p.takes(c.Gateway.VaultNames()) {
			if a.name == argument.Name && a.offers != nil {
				return complete(argument.Value, a.offers(newDraft(c.Gateway, nil, c.clock()).today)), nil
			}
		}
		return &mcp.Completion{}, nil
	})
}

// complete returns the words that begin with what is typed, and behind them those
// that hold it elsewhere, in their order.
func complete(typed string, words []string) *mcp.Completion {
	typed = strings.ToLower(typed)
	var begin, hold []string
	for _, word := range words {
		switch folded := strings.ToLower(word); {
		case strings.HasPrefix(folded, typed):
			begin = append(begin, word)
		case strings.Contains(folded, typed):
			hold = append(hold, word)
		}
	}
	all := slices.Concat(begin, hold)
	shown := all[:min(len(all), maxCompletions)]
	return &mcp.Completion{Values: shown, Total: len(all), HasMore: len(all) > len(shown)}
}
