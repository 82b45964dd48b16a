package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/mcpserver"
	"vaultwicket/tests/require"
	"vaultwicket/tiers"
)

var update = flag.Bool("update", false, "write the generated pages")

const docs = "../../docs"

// pages are the generated pages of docs/, by name.
func pages(t *testing.T) map[string]string {
	return map[string]string{
		"cli.md":      cliPage(),
		"commands.md": commandsPage(t),
		"codes.md":    codesPage(),
		"prompts.md":  promptsPage(t),
		"mcp.md":      mcpPage(t),
	}
}

// TestDocsHoldWhatTheCodeKnows compares the pages with the tables of the code.
func TestDocsHoldWhatTheCodeKnows(t *testing.T) {
	for name, want := range pages(t) {
		file := filepath.Join(docs, name)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		}
		if got := page(t, name); got != want {
			t.Errorf("docs/%s is stale; go generate ./cmd/vaultwicket mends it", name)
		}
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(docs, name))
	require.NoError(t, err)
	return string(content)
}

// TestDocsNameEveryCommand reads the page of commands as a reader does: each
// command has a section with its signature and all of its parameters.
func TestDocsNameEveryCommand(t *testing.T) {
	content := page(t, "commands.md")
	for c := range allowlist.Commands() {
		_, section, found := strings.Cut(content, "\n### "+c.Name+"\n")
		section, _, _ = strings.Cut(section, "\n##")
		if !found || !strings.Contains(section, c.Summary) || !strings.Contains(section, "effect "+c.Effect.String()) {
			t.Errorf("%s has the section\n%s", c.Name, section)
		}
		for _, p := range c.Params {
			if row := "\n| `" + p.Name + "` | "; !strings.Contains(section, row) || !strings.Contains(section, p.Summary) {
				t.Errorf("%s: the parameter %s is missing in\n%s", c.Name, p.Name, section)
			}
			for _, choice := range p.Choices {
				if !strings.Contains(section, choice) {
					t.Errorf("%s: %s has the choice %s, which is missing in\n%s", c.Name, p.Name, choice, section)
				}
			}
		}
	}
}

// exampleLine is a line of the page of commands that can be pasted.
var exampleLine = regexp.MustCompile("(?m)^Example: `vaultwicket run (.*)`$")

// TestDocsExamplesParse: each command that can be opened has an example, and the
// table takes it.
func TestDocsExamplesParse(t *testing.T) {
	var shown []string
	for _, line := range exampleLine.FindAllStringSubmatch(page(t, "commands.md"), -1) {
		words := shellWords(t, line[1])
		if _, err := allowlist.ParseWords(words[0], words[1:]); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
		shown = append(shown, words[0])
	}
	var want []string
	for c := range allowlist.Commands() {
		if c.Tier != tiers.Restricted {
			want = append(want, c.Name)
		}
	}
	slices.Sort(shown)
	slices.Sort(want)
	if !slices.Equal(shown, want) {
		t.Errorf("there are examples of %q, want of %q", shown, want)
	}
}

// shellWords splits a line as a shell does that knows plain words and double
// quotes.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	if strings.ContainsAny(line, `$\'*?;&|<>`) {
		t.Fatalf("a shell would make something else of %s", line)
	}
	var words []string
	word, quoted := "", false
	for _, r := range line + " " {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			words, word = append(words, word), ""
		default:
			word += string(r)
		}
	}
	if quoted {
		t.Fatalf("a quote is open in %s", line)
	}
	return words
}

func TestDocsNameEveryCode(t *testing.T) {
	content := page(t, "codes.md")
	for _, c := range failure.Codes() {
		if want := fmt.Sprintf("\n| `%s` | %d | ", c.Name, terminal.StatusOfClass(c.Class)); strings.Count(content, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	if len(codeTexts) != len(failure.Codes()) {
		t.Errorf("%d codes are explained, there are %d", len(codeTexts), len(failure.Codes()))
	}
	for name, text := range codeTexts {
		if text.meaning == "" || text.mend == "" || failure.ClassOf(name) == failure.Bug && name != "internal" {
			t.Errorf("%s is explained as %+v", name, text)
		}
	}
}

// TestDocsNameEveryPartOfAResult compares the page of MCP with the fields that a result
// and a dry run can have.
func TestDocsNameEveryPartOfAResult(t *testing.T) {
	content := page(t, "mcp.md")
	cause := &failure.Error{Code: "x", Message: "x", Hint: "x", Rule: "x"}
	for _, value := range []any{
		gateway.Result{Backend: "x", Vault: "x", Path: "x", Hash: "x", Truncated: &gateway.Truncated{}, Notices: []string{"x"},
			Change: &gateway.Change{ID: "x", Before: "x", After: "x"}, Error: cause},
		gateway.DryRun{Tier: "x", Effect: "x", Backend: "x", Vault: "x", Program: "x", Argv: []string{"x"}, Stdin: &gateway.Stdin{}, Shell: "x",
			Rules: []gateway.Rule{{}}, Files: []consent.PlannedFile{{From: "x", Before: "x", After: "x"}}, Diff: "x", Notices: []string{"x"}, Error: cause},
	} {
		encoded, err := json.Marshal(value)
		require.NoError(t, err)
		for _, key := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(encoded), -1) {
			if !strings.Contains(content, "`"+key[1]+"`") {
				t.Errorf("docs/mcp.md does not name the field %s", key[1])
			}
		}
	}
	for _, name := range mcpserver.PromptNames() {
		if !strings.Contains(content, "| `"+name+"` |") || !strings.Contains(page(t, "prompts.md"), "\n## "+name+"\n") {
			t.Errorf("the prompt %s is missing", name)
		}
	}
}

// TestDocsLinkToWhatIsThere follows the links between the pages, and the README
// leads to each.
func TestDocsLinkToWhatIsThere(t *testing.T) {
	front, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for name := range pages(t) {
		if !strings.Contains(string(front), "(docs/"+name+")") {
			t.Errorf("README.md has no link to docs/%s", name)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(page(t, name), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(docs, link[1])); err != nil {
				t.Errorf("docs/%s: %v", name, err)
			}
		}
	}
}

// tableRow writes one row of a table of Markdown.
func tableRow(cells ...string) string {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cmp.Or(cell, "–"), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func tableHead(cells ...string) string {
	return "| " + strings.Join(cells, " | ") + " |\n|" + strings.Repeat("---|", len(cells)) + "\n"
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// generated is at the beginning of each page.
const generated = "<!-- Made by go generate ./cmd/vaultwicket; a test fails when it is stale. -->\n\n"

// sortedKeys returns the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
