package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver/transport"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// listed returns the tools that a server lists, by name.
func listed(t *testing.T, gw *gateway.Gateway, toolsets ...string) map[string]mcp.Tool {
	t.Helper()
	return listedBy(t, Config{Gateway: gw, Toolsets: toolsets})
}

func listedBy(t *testing.T, c Config) map[string]mcp.Tool {
	t.Helper()
	s := require.Value(newServer(c))(t)
	tools := map[string]mcp.Tool{}
	for _, tool := range s.ListTools(newClient()) {
		tools[tool.Name] = tool
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
			delete(tools, toolName) // has a golden file of its own
			seen[name] = []mcp.Tool{}
			for _, n := range slices.Sorted(maps.Keys(tools)) {
				seen[name] = append(seen[name], tools[n])
			}
		}
		got := require.Value(json.MarshalIndent(seen, "", "  "))(t)
		testenv.GoldenFile(t, filepath.Join("testdata", "toolset-"+toolset+".json"), string(got)+"\n")
	}
}

// everyPolicy calls do for all that a person can open, with and without single
// commands.
func everyPolicy(do func(name string, p policy.Policy)) {
	for tier := tiers.None; tier <= tiers.V3; tier++ {
		for set := range 4 {
			for _, disable := range [][]string{nil, {"daily:read", "search", "tasks", "append", "bases", "read"}} {
				p := policy.Policy{Ceiling: tier, Mutations: set&1 != 0, Publish: set&2 != 0, UI: true, Disable: disable, Confirm: policy.ConfirmDestructive}
				do(fmt.Sprintf("%v, mutations %v, publish %v, disabled %v", tier, p.Mutations, p.Publish, disable), p)
			}
		}
	}
}

func TestEverySchemaIsPlain(t *testing.T) {
	tools, seen := 0, map[string]bool{}
	everyPolicy(func(name string, p policy.Policy) {
		gw := gatewayWith(t, p)
		for _, toolset := range ToolsetNames() {
			for _, tool := range listed(t, gw, toolset) {
				where := name + ", " + tool.Name
				tools++
				if tool.Description == "" || len(tool.Name) > 64 || strings.Trim(tool.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
					t.Fatalf("%s: name or description", where)
				}
				key := tool.Name + string(tool.RawInputSchema) + string(tool.RawOutputSchema)
				if seen[key] {
					continue
				}
				seen[key] = true
				plain(t, where, tool.RawInputSchema, tool.Name != batchName && tool.Name != readName) // theirs are in one sentence
				plain(t, where+", output", tool.RawOutputSchema, false)
			}
		}
	})
	assert.That(t, tools >= 500, "only %d tools", tools)
}

// plain checks that a schema says nothing but what drafts 07 and 2020-12 read
// alike, and every client understands.
func plain(t *testing.T, where string, raw json.RawMessage, described bool) {
	t.Helper()
	var s map[string]any
	err := json.Unmarshal(raw, &s)
	require.That(t, err == nil, "%s: %v", where, err)
	require.Equal(t, s["type"], "object", "%s: the root", where)
	schema(t, raw) // is one, by the newest draft
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema(t, transport.Encode(s))
	delete(s, "$schema")
	plainPart(t, where, s, described, true)
}

func plainPart(t *testing.T, where string, s map[string]any, described, root bool) {
	t.Helper()
	for keyword := range s {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "items", "enum", "description"}, keyword) {
			t.Fatalf("%s: keyword %q", where, keyword)
		}
	}
	require.That(t, !described || root || s["description"] != nil, "%s: no description", where)
	if s["enum"] != nil {
		values, isList := s["enum"].([]any)
		require.That(t, isList, "%s: enum %v", where, s["enum"])
		require.That(t, len(values) != 0, "%s: an empty enum", where)
		require.Equal(t, s["type"], "string", "%s: enum %v", where, values)
	}
	if s["type"] == "object" {
		require.That(t, s["additionalProperties"] != nil || strings.HasSuffix(where, ", output"), "%s: additionalProperties are not said", where)
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			require.That(t, properties[name.(string)] != nil, "%s: %v is required and not there", where, name)
		}
		for name, property := range properties {
			plainPart(t, where+"."+name, property.(map[string]any), described, false)
		}
	}
	if s["type"] == "array" {
		plainPart(t, where+"[]", s["items"].(map[string]any), false, false)
	}
}

// TestTypedToolsFollowThePolicy states independently which tool is there when,
// and what its hints are.
func TestTypedToolsFollowThePolicy(t *testing.T) {
	type statement struct {
		since   tiers.Tier // the ceiling from which on it is there
		changes bool       // some of its calls change notes, where mutations are on
		only    bool       // all of them do
	}
	statements := map[string]statement{
		"daily_note": {since: tiers.V0, changes: true}, "random_notes": {since: tiers.V0},
		"search_notes": {since: tiers.V1}, "recent_notes": {since: tiers.V1}, "read_note": {since: tiers.V1},
		"edit_note": {since: tiers.V1, changes: true, only: true}, "tasks": {since: tiers.V1, changes: true},
		"bases": {since: tiers.V2}, "query_notes": {since: tiers.V1},
	}
	toolsetOf := map[string]string{"daily_note": "daily", "random_notes": "daily", "search_notes": "search", "recent_notes": "search",
		"read_note": "notes", "edit_note": "notes", "tasks": "tasks", "bases": "bases", "query_notes": "bases"}
	everyPolicy(func(name string, p policy.Policy) {
		gw := gatewayWith(t, p)
		mutates := gateway.WorstEffect(gw.Listing()).Mutates()
		for _, toolset := range ToolsetNames() {
			tools := listed(t, gw, toolset)
			want := map[string]bool{toolName: true}
			if mutates {
				want[readName] = true
			}
			if mutates || toolset == setBatch || toolset == setAll {
				want[batchName] = true
			}
			for tool, s := range statements {
				if (toolset == toolsetOf[tool] || toolset == setAll) && p.Ceiling >= s.since && (p.Mutations || !s.only) {
					want[tool] = true
				}
			}
			got := slices.Sorted(maps.Keys(tools))
			require.That(t, slices.Equal(got, slices.Sorted(maps.Keys(want))), "%s, %s: %v, want %v", name, toolset, got, slices.Sorted(maps.Keys(want)))
			for tool, s := range statements {
				if described, ok := tools[tool]; ok {
					hinted(t, name+", "+tool, described.Annotations, s.changes && p.Mutations, false, false)
				}
			}
			if read, ok := tools[readName]; ok {
				hinted(t, name+", "+readName, read.Annotations, false, false, false)
			}
			if batch, ok := tools[batchName]; ok {
				hinted(t, name+", "+batchName, batch.Annotations, mutates, *tools[toolName].Annotations.DestructiveHint,
					*tools[toolName].Annotations.OpenWorldHint)
			}
		}
	})
}

func hinted(t *testing.T, where string, a mcp.ToolAnnotation, changes, destroys, sends bool) {
	t.Helper()
	if a.Title == "" || a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
		t.Fatalf("%s: a title or a hint is left to the client", where)
	}
	if *a.ReadOnlyHint == changes || *a.IdempotentHint == changes || *a.DestructiveHint != destroys || *a.OpenWorldHint != sends {
		t.Fatalf("%s: read-only %v, idempotent %v, destructive %v, open world %v", where, *a.ReadOnlyHint,
			*a.IdempotentHint, *a.DestructiveHint, *a.OpenWorldHint)
	}
}

// TestTypedToolsNameOnlyWhatIsOpen: an argument, a value and a sentence are there
// only with what they lead to.
func TestTypedToolsNameOnlyWhatIsOpen(t *testing.T) {
	on := func(tier tiers.Tier, disable ...string) policy.Policy {
		return policy.Policy{Ceiling: tier, Mutations: true, Disable: disable}
	}
	for _, test := range []struct {
		tool        string
		policy      policy.Policy
		want        string // the arguments; values in brackets, ! for what is required
		Description string // a part of the description
		silent      string // no part of it
	}{
		{"daily_note", policy.Policy{Ceiling: tiers.V0}, "cursor date from offset to", "Reads", "content"},
		{"daily_note", on(tiers.V0),
			"content create-heading cursor date dryRun expectHash from heading idempotencyKey offset to",
			"content is appended", "edit"},
		{"daily_note", on(tiers.V0, "daily:range", "daily:read"),
			"content! create-heading cursor dryRun expectHash heading idempotencyKey", "content is appended", "Reads"},
		{"daily_note", on(tiers.V0, "daily:append"), "cursor date from offset to", "Reads", "content"},
		{"search_notes", policy.Policy{Ceiling: tiers.V1}, "budget case context cursor limit path query!", "context returns", "tasks"},
		{"search_notes", policy.Policy{Ceiling: tiers.V1, Disable: []string{"search:context", "find"}}, "case cursor limit path query!", "Lists", "context"},
		{"read_note", policy.Policy{Ceiling: tiers.V1}, "block cursor file heading lines path", "heading, block or lines", "outline"},
		{"read_note", policy.Policy{Ceiling: tiers.V2}, "block cursor file heading lines outline path", "outline lists", "edit"},
		{"edit_note", on(tiers.V1),
			"action[create append prepend replace insert set-section]! block content create-heading daily dryRun expectHash file heading idempotencyKey lines new old path position[before after]",
			"create creates", "delete"},
		{"edit_note", on(tiers.V1, "create", "append", "prepend", "note:insert", "note:set-section"),
			"action[replace]! daily dryRun expectHash file idempotencyKey new! old! path", "replace replaces",
			"insert"},
		{"tasks", policy.Policy{Ceiling: tiers.V1}, "cursor daily due-before file limit overdue path ref state[todo done]", "Lists tasks", "set"},
		{"tasks", on(tiers.V1),
			"cursor daily dryRun due-before expectHash file idempotencyKey limit overdue path ref set[done todo toggle] state[todo done]",
			"ref", "delete"},
		{"tasks", on(tiers.V1, "tasks"), "cursor dryRun expectHash idempotencyKey limit ref set[done todo toggle]", "ref", "Lists"},
		{"bases", policy.Policy{Ceiling: tiers.V2},
			"check cursor explain fields file group limit offset path select sort summaries values[text typed] view where",
			"rows", "edit"},
		{"bases", policy.Policy{Ceiling: tiers.V2, Disable: []string{"base:query"}}, "check cursor fields file limit path", "views", "rows"},
		{"query_notes", policy.Policy{Ceiling: tiers.V1},
			"all cursor explain fields group limit offset select sort summaries values[text typed] where", "rows",
			"base:"},
	} {
		described, open := typedToolNamed(test.tool).describe(gatewayWith(t, test.policy))
		got := argumentsOf(t, described)
		require.That(t, open, "%s under %+v: %v, %s\nwant %s", test.tool, test.policy, open, got, test.want)
		assert.Equal(t, got, test.want, "%s under %+v: %v, %s\nwant %s", test.tool, test.policy, open, got, test.want)
		if !strings.Contains(described.Description, test.Description) || strings.Contains(described.Description, test.silent) {
			t.Errorf("%s under %+v says %q", test.tool, test.policy, described.Description)
		}
	}
}

func argumentsOf(t *testing.T, tool mcp.Tool) string {
	t.Helper()
	var s struct {
		Properties map[string]struct{ Enum []string }
		Required   []string
	}
	require.NoError(t, json.Unmarshal(tool.RawInputSchema, &s))
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		text := name
		if enum := s.Properties[name].Enum; enum != nil {
			text += "[" + strings.Join(enum, " ") + "]"
		}
		if slices.Contains(s.Required, name) {
			text += "!"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// Where there are several vaults, each call may name one, and the hints are those
// of the most open one.
func TestTypedToolsOnSeveralVaults(t *testing.T) {
	served := func(name string, p policy.Policy) gateway.Served {
		p.MinVersion = tiers.DefaultMinimum
		return gateway.Served{Vault: gateway.Vault{Name: name}, Policy: p}
	}
	gw := gateway.New(gateway.Config{Runner: exec.New(exec.Config{}), Vaults: []gateway.Served{
		served("Closed", policy.Policy{Ceiling: tiers.V0}), served("Open", policy.Policy{Ceiling: tiers.V1, Mutations: true}),
	}})
	tools := listed(t, gw, setAll)
	for _, name := range []string{"daily_note", "edit_note", "tasks", "read_note"} {
		assert.Contains(t, argumentsOf(t, tools[name]), "vault[Closed Open]", "%s", name)
	}
	hinted(t, "daily_note", tools["daily_note"].Annotations, true, false, false)
	hinted(t, "read_note", tools["read_note"].Annotations, false, false, false)
	c, refused := typedToolNamed("read_note").decode(json.RawMessage(`{"path":"A.md","vault":"Open"}`))
	require.That(t, refused == nil, "%+v, %v", c, refused)
	assert.Equal(t, c.Request.Vault, "Open")
}

// TestToolsetsFitTheirBudget bounds what every conversation pays for what models
// are shown: name, description and input. Four bytes count as a token.
func TestToolsetsFitTheirBudget(t *testing.T) {
	total := 0
	for name, tool := range listed(t, gatewayWith(t, everything), setAll) {
		tokens, limit := (len(name)+len(tool.Description)+len(tool.RawInputSchema))/4, 350
		switch name {
		case toolName, batchName:
			continue // have tests of their own
		case readName:
			limit = 80
		default:
			total += tokens
		}
		assert.That(t, tokens <= limit, "%s: about %d tokens", name, tokens)
	}
	assert.That(t, total <= 1950, "the typed tools together: about %d tokens", total)
}
