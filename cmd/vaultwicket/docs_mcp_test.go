package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// docsDay is today in the examples of prompts.
var docsDay = time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)

func gatewayOf(t *testing.T, p policy.Policy) *gateway.Gateway {
	p.MinVersion = tiers.DefaultMinimum
	return gateway.New(gateway.Config{Policy: p, Vault: gateway.Vault{Name: "Notes"},
		Runner: exec.New(exec.Config{CLI: filepath.Join(t.TempDir(), "obsidian"), Self: "/nowhere/vaultwicket"})})
}

// listedItem is a tool, resource, template or prompt as clients are told of it.
type listedItem struct {
	Name, Description, URI, URITemplate, MIMEType string
	Arguments                                     []struct{ Name, Description string }
	InputSchema                                   struct {
		Properties map[string]struct {
			Type        any
			Description string
		}
		Required []string
	}
}

// served is what a server with a policy tells a client.
type servedLists struct {
	instructions                         string
	tools, resources, templates, prompts []listedItem
}

// serverLists asks a server what it has, as a client does.
func serverLists(t *testing.T, p policy.Policy, toolsets ...string) servedLists {
	t.Helper()
	methods := []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"}
	requests := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"docs","version":"1"}}}` +
		"\n"
	for i, method := range methods {
		requests += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s"}`+"\n", i+1, method)
	}
	var out strings.Builder
	config := mcpserver.Config{Gateway: gatewayOf(t, p), Version: "0", Toolsets: toolsets, MaxOutput: 1 << 10, Grace: time.Minute}
	require.NoError(t, mcpserver.ServeStdio(context.Background(), config, strings.NewReader(requests), &out))
	answers := make([]struct {
		Instructions                                 string
		Tools, Resources, ResourceTemplates, Prompts []listedItem
	}, len(methods)+1)
	for line := range strings.Lines(out.String()) {
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(line), &answer))
		err := json.Unmarshal(answer.Result, &answers[answer.ID])
		require.That(t, err == nil, "%s: %v", line, err)
	}
	return servedLists{answers[0].Instructions, answers[1].Tools, answers[2].Resources, answers[3].ResourceTemplates, answers[4].Prompts}
}

func promptsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Prompts\n\n" + generated)
	b.WriteString("Six workflows that you can start as MCP prompts. The text depends on the policy in force: disabled calls are left\n" +
		"out, and if changes are off, the model shows its text instead of writing it. The text contains no notes; the model reads them with the\n" +
		"tool.\n\nIn a client without prompts, paste what the terminal prints, or any text below:\n\n" +
		"```sh\nvaultwicket prompt --vault ~/Notes morning-review days=3\n```\n\n" +
		"The texts below are for tier `v2` with `allow-mutations`, on 21 November 2026.\n")
	work := policy.Policy{Ceiling: tiers.V2, Mutations: true, UI: true}
	byName := map[string]listedItem{}
	for _, p := range serverLists(t, work).prompts {
		byName[p.Name] = p
	}
	for _, name := range mcpserver.PromptNames() {
		p := byName[name]
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n%s", name, p.Description, testenv.TableHead("argument", ""))
		for _, a := range p.Arguments {
			b.WriteString(testenv.TableRow(testenv.TableCode(a.Name), a.Description))
		}
		b.WriteString("\n" + promptBlock(t, work, name))
	}
	b.WriteString("\n## With default settings\n\n`evening-journal` in tier `v0` without changes:\n\n" +
		promptBlock(t, policy.Policy{Ceiling: tiers.V0, UI: true}, "evening-journal"))
	return b.String()
}

func promptBlock(t *testing.T, p policy.Policy, name string) string {
	t.Helper()
	text := require.Value(mcpserver.PromptText(gatewayOf(t, p), name, nil, docsDay))(t)
	return "```text\n" + text + "\n```\n"
}

// mcpPage is the page as it is, with the tables that the server knows between its
// markers.
func mcpPage(t *testing.T) string {
	reading := serverLists(t, policy.Policy{Ceiling: tiers.V0, UI: true})
	writing := serverLists(t, openPolicy)
	content := page(t, "mcp.md")
	content = testenv.PageBetween(t, content, "instructions", "> "+writing.instructions+"\n")
	content = testenv.PageBetween(t, content, "tools", toolTables(t, reading.tools, writing.tools))
	content = testenv.PageBetween(t, content, "toolsets", toolsetTables(t, writing.tools))
	content = testenv.PageBetween(t, content, "resources", resourceTable(writing))
	return testenv.PageBetween(t, content, "prompts", promptTable(writing.prompts))
}

// toolTables describes the arguments of each tool. The tools of the second list
// that the first has not are there with changes alone.
func toolTables(t *testing.T, always, all []listedItem) string {
	t.Helper()
	there := map[string]bool{}
	for _, tool := range always {
		there[tool.Name] = true
	}
	var b strings.Builder
	for _, tool := range all {
		when := ""
		if !there[tool.Name] {
			when = ", where changes are allowed"
		}
		fmt.Fprintf(&b, "### %s%s\n\n%s\n", tool.Name, when, argumentTable(tool))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func argumentTable(tool listedItem) string {
	table := testenv.TableHead("argument", "type", "")
	for _, name := range sortedKeys(tool.InputSchema.Properties) {
		p := tool.InputSchema.Properties[name]
		about := p.Description
		if slices.Contains(tool.InputSchema.Required, name) {
			about = strings.TrimPrefix(about+"; required", "; ")
		}
		table += testenv.TableRow(testenv.TableCode(name), strings.Trim(fmt.Sprint(p.Type), "[]"), about)
	}
	return table
}

// toolsetTables describes what each toolset of typed tools adds to the tools that
// are there without.
func toolsetTables(t *testing.T, without []listedItem) string {
	t.Helper()
	known := map[string]bool{}
	for _, tool := range without {
		known[tool.Name] = true
	}
	var b strings.Builder
	for _, name := range mcpserver.ToolsetNames() {
		if name == "all" {
			continue
		}
		var added []listedItem
		for _, tool := range serverLists(t, openPolicy, name).tools {
			if !known[tool.Name] {
				added = append(added, tool)
			}
		}
		if len(added) == 0 {
			continue // it names what is there anyway
		}
		fmt.Fprintf(&b, "### %s\n\n", name)
		for _, tool := range added {
			fmt.Fprintf(&b, "`%s`: %s\n\n", tool.Name, tool.Description)
			b.WriteString(argumentTable(tool) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func resourceTable(s servedLists) string {
	out := testenv.TableHead("address", "form", "")
	for _, r := range append(s.resources, s.templates...) {
		out += testenv.TableRow(testenv.TableCode(r.URI+r.URITemplate), r.MIMEType, r.Description)
	}
	return out
}

func promptTable(prompts []listedItem) string {
	out := testenv.TableHead("prompt", "arguments", "")
	for _, p := range prompts {
		var names []string
		for _, a := range p.Arguments {
			names = append(names, testenv.TableCode(a.Name))
		}
		out += testenv.TableRow(testenv.TableCode(p.Name), strings.Join(names, ", "), p.Description)
	}
	return out
}

func TestDocsTellEveryFieldOfABatch(t *testing.T) {
	undone := true
	text := require.Value(json.Marshal(gateway.BatchResult{
		Results: []gateway.OperationResult{{Undone: &undone, Notice: "x", Result: &gateway.Answer{}}},
		Summary: gateway.Summary{Undone: 1, NotUndone: 1}, Notices: []string{"x"}, ClientID: "x", Command: "x", Error: &failure.Error{},
	}))(t)
	_, section, _ := strings.Cut(page(t, "mcp.md"), "\nA batch has other fields")
	section, _, _ = strings.Cut(section, "\nA call of `help`")
	var answer struct {
		Results []map[string]any
		Summary map[string]any
	}
	var whole map[string]any
	require.NoError(t, json.Unmarshal(text, &answer))
	require.NoError(t, json.Unmarshal(text, &whole))
	for _, fields := range []map[string]any{whole, answer.Results[0], answer.Summary} {
		for name := range fields {
			assert.That(t, strings.Contains(section, "`"+name+"`"), "%s is missing in\n%s", name, section)
		}
	}
}
