package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/allowlist"
)

// The names of toolsets. Each of the others but setAll is that of a group of
// typed tools, see [typedTools].
const (
	setCLI   = "cli"   // obsidianCli and what belongs to it, which are always there
	setBatch = "batch" // obsidianBatch, also where nothing can be changed
	setAll   = "all"
)

var toolsetNames = [...]string{setCLI, setBatch, "daily", "search", "notes", "tasks", "bases", setAll}

// ToolsetNames returns the names that [Config.Toolsets] may hold.
func ToolsetNames() []string { return slices.Clone(toolsetNames[:]) }

// addToolsets adds what the toolsets of the settings hold to a server, as far as
// the policy opens it.
func (h handler) addToolsets(s *server.MCPServer, o offer) error {
	for _, name := range h.Toolsets {
		if !slices.Contains(toolsetNames[:], name) {
			return fmt.Errorf("%q is no toolset, want %s%s", clip(name), strings.Join(toolsetNames[:], ", "), didYouMean(name, toolsetNames[:]))
		}
	}
	mutates := o.worst.Mutates()
	if mutates {
		s.AddTool(readTool(), h.read)
	}
	if mutates || h.wants(setBatch) {
		s.AddTool(batchTool(o), h.batch)
	}
	for i := range typedTools {
		t := &typedTools[i]
		if !h.wants(t.toolset) {
			continue
		}
		if described, open := t.describe(h.Gateway); open {
			s.AddTool(described, h.typed(t, *described.Annotations.ReadOnlyHint))
		}
	}
	return nil
}

func (h handler) wants(toolset string) bool {
	return slices.Contains(h.Toolsets, toolset) || slices.Contains(h.Toolsets, setAll)
}

// changesBy reports whether a call of a tool would change something: then it
// keeps its place among the calls that do.
func (h handler) changesBy(tool string, arguments json.RawMessage) bool {
	if tool == readName {
		return false
	}
	t := typedNamed(tool)
	if t == nil {
		return h.changes(arguments)
	}
	call, refused := t.decode(arguments)
	return refused == nil && !call.dryRun && h.Gateway.Changes(call.request)
}

// didYouMean ends a sentence about a word that is none of names.
func didYouMean(word string, names []string) string {
	if near := allowlist.Nearest(word, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
