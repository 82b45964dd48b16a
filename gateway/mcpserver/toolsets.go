package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/typed"
	"vaultwicket/gateway/mcpserver/wire"
)

// The names of toolsets besides those of [typed.Toolsets].
const (
	setCLI   = "cli"   // obsidianCli, and obsidianRead and obsidianBatch with mutations on: always listed
	setBatch = "batch" // obsidianBatch, also with mutations off
	setAll   = "all"
)

// ToolsetNames returns the valid names for [Config.Toolsets].
func ToolsetNames() []string {
	return slices.Concat([]string{setCLI, setBatch}, typed.Toolsets(), []string{setAll})
}

// addToolsets adds the tools of the configured toolsets, as far as the policy enables them.
func (h handler) addToolsets(tools toolbox, view toolView) error {
	names := ToolsetNames()
	for _, name := range h.Toolsets {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unknown toolset %q (use %s)%s", wire.Clip(name), strings.Join(names, ", "), quote.DidYouMean(name, names))
		}
	}
	mutates := view.worst.Mutates()
	if mutates {
		read, err := h.unstructured(readTool(), nil)
		if err != nil {
			return err
		}
		tools.add(read, h.read)
	}
	if mutates || h.wants(setBatch) {
		tools.add(batchTool(view), h.batch)
	}
	for _, t := range typed.Tools() {
		if !h.wants(t.Toolset) {
			continue
		}
		if described, ok := t.Describe(h.Gateway); ok {
			tools.add(described, h.typed(t, *described.Annotations.ReadOnlyHint))
		}
	}
	return nil
}

func (h handler) wants(toolset string) bool {
	return slices.Contains(h.Toolsets, toolset) || slices.Contains(h.Toolsets, setAll)
}

// changesBy reports whether a call of a tool would change something: such calls keep
// their order.
func (h handler) changesBy(tool string, raw json.RawMessage) bool {
	if tool == readName {
		return false
	}
	t := typed.Named(tool)
	if t == nil {
		return h.changes(raw)
	}
	call, refused := t.Decode(raw)
	return refused == nil && !call.DryRun && h.Gateway.Changes(call.Request)
}

// typed handles calls of a typed tool. readsOnly is what its hints promise.
func (h handler) typed(t *typed.Tool, readsOnly bool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call, refused := t.Decode(req.Params.RawArguments)
		if refused != nil {
			return answer(gateway.Reject(t.Name, refused))
		}
		call.Request.ReadsOnly = readsOnly
		return h.run(ctx, req, call.Request, call.DryRun, func(r gateway.Result) (*mcp.CallToolResult, error) { return reply(t.Content(r), !r.OK) })
	}
}
