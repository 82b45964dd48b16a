package mcpserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/arguments"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// listed returns the tools that a server lists, by name.
func listed(t *testing.T, gw *gateway.Gateway, toolsets ...string) map[string]mcp.Tool {
	t.Helper()
	s, err := newServer(Config{Gateway: gw, Toolsets: toolsets})
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]mcp.Tool{}
	for name, tool := range s.MCP.ListTools() {
		tools[name] = tool.Tool
	}
	return tools
}

// readEverything opens all that changes nothing.
var readEverything = policy.Policy{Ceiling: tiers.V3, UI: true, Confirm: policy.ConfirmDestructive}

// TestToolsetsAsClientsSeeThem compares what each toolset adds to obsidianCli
// with a golden file.
func TestToolsetsAsClientsSeeThem(t *testing.T) {
	for _, toolset := range ToolsetNames() {
		seen := map[string][]mcp.Tool{}
		for name, p := range map[string]policy.Policy{"read-only": readEverything, "everything": everything} {
			tools := listed(t, gatewayWith(t, p), toolset)
			delete(tools, arguments.ToolName) // has a golden file of its own
			names := []string{}
			for name := range tools {
				names = append(names, name)
			}
			slices.Sort(names)
			seen[name] = []mcp.Tool{}
			for _, n := range names {
				seen[name] = append(seen[name], tools[n])
			}
		}
		got, err := json.MarshalIndent(seen, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "toolset-"+toolset+".json")
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != string(got)+"\n" {
			t.Errorf("%s differs (%v); -update writes\n%s", golden, err, got)
		}
	}
}
