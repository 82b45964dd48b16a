package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// differsEachTime is what of an answer no two calls have in common.
var differsEachTime = regexp.MustCompile(`"durationMs":\d+|"cursor":"[^"]*"|"id":"[^"]*"|\d{8}T\d{6}\.\d+Z-[0-9a-f]{4}`)

// pairs are calls of typed tools and the same calls of obsidianCli.
var pairs = []struct{ tool, typed, cli string }{
	{"daily_note", `{}`, `{"command":"daily:read"}`},
	{"daily_note", `{"offset":"-1"}`, `{"command":"daily:read","params":{"offset":-1}}`},
	{"daily_note", `{"date":"2026-11-19"}`, `{"command":"daily:read","params":{"date":"2026-11-19"}}`},
	{"daily_note", `{"from":"2026-11-19"}`, `{"command":"daily:range","params":{"from":"2026-11-19"}}`},
	{"daily_note", `{"content":"milk"}`, `{"command":"daily:append","params":{"content":"milk"}}`},
	{"daily_note", `{"content":"milk","heading":"Today"}`, `{"command":"daily:append","params":{"content":"milk","heading":"Today"}}`},
	{"daily_note", `{"content":"milk","dryRun":true}`, `{"command":"daily:append","params":{"content":"milk"},"dryRun":true}`},
	{"daily_note", `{"content":""}`, `{"command":"daily:append","params":{"content":""}}`},
	{"random_notes", `{"seed":1,"count":"2"}`, `{"command":"random:read","params":{"seed":1,"count":2}}`},
	{"random_notes", `{"count":21}`, `{"command":"random:read","params":{"count":21}}`},
	{"search_notes", `{"query":"milk"}`, `{"command":"search","params":{"query":"milk"}}`},
	{"search_notes", `{"query":"milk","context":"true","path":"Inbox"}`, `{"command":"search:context","params":{"query":"milk","path":"Inbox"}}`},
	{"search_notes", `{"query":"mlik","budget":100}`, `{"command":"find","params":{"query":"mlik","budget":100}}`},
	{"search_notes", `{}`, `{"command":"search"}`},
	{"recent_notes", `{"limit":2}`, `{"command":"recent","params":{"limit":2}}`},
	{"read_note", `{"file":"Plan"}`, `{"command":"read","params":{"file":"Plan"}}`},
	{"read_note", `{"path":"Inbox/Long.md"}`, `{"command":"read","params":{"path":"Inbox/Long.md"}}`},
	{"read_note", `{"path":"Inbox/Plan.md","outline":true}`, `{"command":"outline","params":{"path":"Inbox/Plan.md"}}`},
	{"read_note", `{"path":"Inbox/Plan.md","heading":"Log"}`, `{"command":"note:section","params":{"path":"Inbox/Plan.md","heading":"Log"}}`},
	{"read_note", `{"path":"Inbox/Plan.md","heading":"Log","lines":"1"}`,
		`{"command":"note:section","params":{"path":"Inbox/Plan.md","heading":"Log","lines":"1"}}`},
	{"read_note", `{"path":"None.md"}`, `{"command":"read","params":{"path":"None.md"}}`},
	{"read_note", `{"path":"../x.md"}`, `{"command":"read","params":{"path":"../x.md"}}`},
	{"edit_note", `{"action":"create","path":"New.md","content":"x"}`, `{"command":"create","params":{"path":"New.md","content":"x"}}`},
	{"edit_note", `{"action":"create","path":"Other.md","content":"x"}`, `{"command":"create","params":{"path":"Other.md","content":"x"}}`},
	{"edit_note", `{"action":"append","path":"Other.md","content":"x"}`, `{"command":"append","params":{"path":"Other.md","content":"x"}}`},
	{"edit_note", `{"action":"append","path":"Other.md","content":"x","expectHash":"0000000000000000"}`,
		`{"command":"append","params":{"path":"Other.md","content":"x"},"expectHash":"0000000000000000"}`},
	{"edit_note", `{"action":"prepend","file":"Other","content":"x"}`, `{"command":"prepend","params":{"file":"Other","content":"x"}}`},
	{"edit_note", `{"action":"replace","path":"Other.md","old":"milk","new":"bread"}`,
		`{"command":"note:replace","params":{"path":"Other.md","old":"milk","new":"bread"}}`},
	{"edit_note", `{"action":"insert","path":"Inbox/Plan.md","block":"one","position":"after","content":"second"}`,
		`{"command":"note:insert","params":{"path":"Inbox/Plan.md","block":"one","position":"after","content":"second"}}`},
	{"edit_note", `{"action":"set-section","daily":true,"heading":"Today","content":"x\n"}`,
		`{"command":"note:set-section","params":{"daily":true,"heading":"Today","content":"x\n"}}`},
	{"edit_note", `{"action":"append","content":"x"}`, `{"command":"append","params":{"content":"x"}}`},
	{"tasks", `{}`, `{"command":"tasks","params":{"verbose":true}}`},
	{"tasks", `{"state":"done","path":"Inbox/Plan.md"}`, `{"command":"tasks","params":{"verbose":true,"done":true,"path":"Inbox/Plan.md"}}`},
	{"tasks", `{"ref":"Inbox/Plan.md:3"}`, `{"command":"task","params":{"ref":"Inbox/Plan.md:3"}}`},
	{"tasks", `{"ref":"Inbox/Plan.md:3","set":"done"}`, `{"command":"task","params":{"ref":"Inbox/Plan.md:3","done":true}}`},
	{"tasks", `{"ref":"Inbox/Plan.md:3","set":"done","dryRun":"true"}`, `{"command":"task","params":{"ref":"Inbox/Plan.md:3","done":true},"dryRun":true}`},
	{"tasks", `{"ref":"Inbox/Plan.md:1","set":"toggle"}`, `{"command":"task","params":{"ref":"Inbox/Plan.md:1","toggle":true}}`},
	{"bases", `{}`, `{"command":"bases"}`},
	{"bases", `{"file":"Books"}`, `{"command":"base:views","params":{"file":"Books"}}`},
	{"bases", `{"path":"Books.base","view":"All"}`, `{"command":"base:query","params":{"path":"Books.base","view":"All"}}`},
	{"bases", `{"path":"Books.base","where":"file.name == \"Plan\"","select":"file.name"}`,
		`{"command":"base:query","params":{"path":"Books.base","where":"file.name == \"Plan\"","select":"file.name"}}`},
	{"bases", `{"path":"Books.base","view":"None"}`, `{"command":"base:query","params":{"path":"Books.base","view":"None"}}`},
	{"bases", `{"file":"Books","check":true}`, `{"command":"base:check","params":{"file":"Books"}}`},
	{"query_notes", `{"where":"file.name == \"Plan\""}`, `{"command":"query","params":{"where":"file.name == \"Plan\""}}`},
	{"query_notes", `{"where":"file.name =="}`, `{"command":"query","params":{"where":"file.name =="}}`},
	{"query_notes", `{"summaries":true,"limit":1}`, `{"command":"query","params":{"groups":true,"summaries":true,"limit":1}}`},
	{"obsidianRead", `{"command":"read","params":{"path":"Other.md"}}`, `{"command":"read","params":{"path":"Other.md"}}`},
	{"obsidianRead", `{"command":"task","params":"{\"ref\":\"Inbox/Plan.md:3\"}"}`, `{"command":"task","params":{"ref":"Inbox/Plan.md:3"}}`},
	{"obsidianRead", `{"command":"eval"}`, `{"command":"eval"}`},
	{"obsidianRead", `{"command":"reed"}`, `{"command":"reed"}`},
}

// TestATypedToolAnswersAsObsidianCliDoes: the answers are the same byte by byte,
// and so is the vault after them.
func TestATypedToolAnswersAsObsidianCliDoes(t *testing.T) {
	for _, marks := range []bool{false, true} {
		s := newTypedServer(t, policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever}, marks)
		schemas := s.schemas()
		stable := func(m message) string {
			text := differsEachTime.ReplaceAllString(m.Result.Content[0].Text, "")
			if marks {
				text = randomMark.ReplaceAllString(text, "")
			}
			return text
		}
		good := 0
		for _, pair := range pairs {
			s.fill()
			cli := s.call("obsidianCli", pair.cli)
			after := s.notes()
			s.fill()
			typed := s.call(pair.tool, pair.typed)
			got, want := stable(withoutRows(t, typed)), stable(cli)
			assert.Equal(t, got, want, "%s %s:\n%s\nobsidianCli:\n%s", pair.tool, pair.typed, got, want)
			assert.Equal(t, typed.Result.IsError, cli.Result.IsError,
				"%s %s:\n%s\nobsidianCli:\n%s", pair.tool, pair.typed, got, want)
			assert.That(t, s.notes() == after, "%s %s: the vault is another one", pair.tool, pair.typed)
			s.fits(schemas[pair.tool], typed)
			if !typed.Result.IsError {
				good++
			}
		}
		assert.That(t, good >= 28, "only %d of %d calls were good", good, len(pairs))
	}
}

// withoutRows returns the answer with the rows as the text that obsidianCli has in their
// place.
func withoutRows(t *testing.T, m message) message {
	t.Helper()
	var content map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(m.Result.StructuredContent, &content))
	if content["rows"] == nil {
		return m
	}
	output := content["rows"]
	if content["total"] != nil {
		output = append([]byte(`{"rows":`), output...)
		for _, key := range []string{"total", "groups", "summaries", "explain"} {
			if content[key] != nil {
				output = append(fmt.Appendf(output, ",%q:", key), content[key]...)
			}
		}
		output = append(output, '}')
	}
	var result gateway.Result
	if json.Unmarshal(m.Result.StructuredContent, &result) != nil {
		t.Fatalf("no result: %s", m.Result.StructuredContent)
	}
	result.Stdout = string(output)
	m.Result.Content = slices.Clone(m.Result.Content)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(result))
	m.Result.Content[0].Text = text.String()
	return m
}

// randomMark is in the lines around the text of an answer where it is marked.
var randomMark = regexp.MustCompile(`[0-9a-f]{16,}`)

// obsidianRead keeps its promise whatever is open, for a dry run as well, and
// names the tool that takes the call.
func TestObsidianReadOnlyReads(t *testing.T) {
	s := newTypedServer(t, policy.Policy{Ceiling: tiers.V3, Mutations: true, Publish: true, Confirm: policy.ConfirmNever}, false)
	before := s.notes()
	for _, arguments := range []string{
		`{"command":"daily:append","params":{"content":"x"}}`, `{"command":"task","params":{"ref":"Inbox/Plan.md:3","toggle":true}}`,
		`{"command":"delete","params":{"path":"Other.md"}}`, `{"command":"create","params":{"path":"Other.md","content":"x","overwrite":true}}`,
		`{"command":"daily"}`, `{"command":"random"}`, `{"command":"web","params":{"url":"https://example.org/"}}`, `{"command":"undo"}`,
	} {
		for _, arguments := range []string{arguments, strings.TrimSuffix(arguments, "}") + `,"dryRun":true}`} {
			r := resultOf(t, s.call("obsidianRead", arguments))
			require.Equal(t, harness.CodeOf(r), "bad_request", "%s: %+v", arguments, r)
			assert.Contains(t, r.Error.Hint, "obsidianCli", "%s: %+v", arguments, r)
		}
	}
	assert.That(t, s.notes() == before, "the vault is another one")
}

// A person is asked before a change by a typed tool as before any other, once,
// and not before a read.
func TestThePersonIsAskedAboutTypedTools(t *testing.T) {
	s := newTypedServer(t, policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmWrites}, false)
	for _, test := range []struct {
		tool, arguments string
		asked           int
	}{
		{"read_note", `{"path":"Other.md"}`, 0},
		{"tasks", `{"ref":"Inbox/Plan.md:3"}`, 0},
		{"tasks", `{"ref":"Inbox/Plan.md:3","set":"done"}`, 1},
		{"daily_note", `{"content":"x","dryRun":true}`, 0},
		{"daily_note", `{"content":"x","idempotencyKey":"k"}`, 1},
		{"daily_note", `{"content":"x","idempotencyKey":"k"}`, 0}, // the first answer again
		{"edit_note", `{"action":"replace","path":"Other.md","old":"milk","new":"bread"}`, 1},
	} {
		s.asked = 0
		if m := s.call(test.tool, test.arguments); m.Result.IsError || s.asked != test.asked {
			t.Errorf("%s %s: asked %d times, %s", test.tool, test.arguments, s.asked, m.Result.StructuredContent)
		}
	}
	got, _ := os.ReadFile(filepath.Join(s.vault, "2026-11-21.md"))
	assert.That(t, string(got) == notesTyped["2026-11-21.md"]+"x", "the daily note is %q", got)
}

// Changes are made in the order in which they came, whatever tool they came by,
// though no one waits for an answer in between.
func TestChangesByDifferentToolsKeepTheirOrder(t *testing.T) {
	s := newTypedServer(t, policy.Policy{Ceiling: tiers.V1, Mutations: true, Confirm: policy.ConfirmNever}, false)
	const rounds = 10
	var want strings.Builder
	want.WriteString(notesTyped["Other.md"])
	for i := range rounds {
		for j, call := range []string{
			`"edit_note","arguments":{"action":"append","path":"Other.md","content":"%s\n"}`,
			`"obsidianCli","arguments":{"command":"append","params":{"path":"Other.md","content":"%s\n"}}`,
			`"obsidianBatch","arguments":{"operations":[{"clientId":"a","command":"append","params":{"path":"Other.md","content":"%s\n"}}]}`,
		} {
			line := fmt.Sprintf("%d-%d", i, j)
			s.ids++
			s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":`+call+`}}`, s.ids, line))
			want.WriteString(line + "\n")
		}
		s.ids++
		s.Send(harness.ToolCall(s.ids, `{"command":"random:read"}`)) // which may be answered before the changes
	}
	for range 4 * rounds {
		m := s.next()
		assert.That(t, !m.Result.IsError, "%+v", m)
	}
	got, _ := os.ReadFile(filepath.Join(s.vault, "Other.md"))
	assert.That(t, string(got) == want.String(), "the note is %q, want %q", got, want.String())
}

// What is read in parts has the hash of the whole note, and a change can be tied
// to it.
func TestAChangeCanBeTiedToAPart(t *testing.T) {
	s := newTypedServer(t, policy.Policy{Ceiling: tiers.V2, Mutations: true, Confirm: policy.ConfirmNever}, false)
	whole := resultOf(t, s.call("read_note", `{"path":"Inbox/Plan.md"}`))
	for _, part := range []string{`"outline":true`, `"heading":"Log"`, `"lines":"2"`, `"block":"one"`} {
		r := resultOf(t, s.call("read_note", `{"file":"Plan",`+part+`}`))
		assert.Equal(t, r.Hash, whole.Hash, "%s: %+v", part, r)
		assert.That(t, r.Hash != "", "%s: %+v", part, r)
		assert.Equal(t, r.Path, "Inbox/Plan.md", "%s: %+v", part, r)
	}
	edit := `{"action":"set-section","path":"Inbox/Plan.md","heading":"Log","content":"second\n","expectHash":"` + whole.Hash + `"}`
	r := resultOf(t, s.call("edit_note", edit))
	assert.That(t, r.OK, "%+v", r)
	assert.That(t, r.Hash != whole.Hash, "%+v", r)
	assert.Equal(t, harness.CodeOf(resultOf(t, s.call("edit_note", edit))), "conflict")
}

// A long answer goes on with its cursor, alone or with the same arguments. With
// other ones it is refused: a change that was asked for is not left out in
// silence.
func TestTypedToolsGoOnWithACursor(t *testing.T) {
	s := newTypedServer(t, policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever}, false)
	for _, arguments := range []string{`"cursor":%q`, `"path":"Inbox/Long.md","cursor":%q`} {
		r := resultOf(t, s.call("read_note", `{"path":"Inbox/Long.md"}`))
		whole := r.Stdout
		for r.Truncated != nil && r.Truncated.Cursor != "" && len(whole) < 1<<20 {
			r = resultOf(t, s.call("read_note", "{"+fmt.Sprintf(arguments, r.Truncated.Cursor)+"}"))
			whole += r.Stdout
		}
		assert.That(t, whole == notesTyped["Inbox/Long.md"], "%s: %d bytes, %+v", arguments, len(whole), r)
	}
	first := resultOf(t, s.call("search_notes", `{"query":"a","limit":"1"}`))
	require.That(t, first.Truncated != nil, "%+v", first)
	require.Equal(t, strings.Count(first.Stdout, "\n"), 1, "%+v", first)
	before := s.notes()
	for _, call := range []struct{ tool, arguments string }{
		{"search_notes", `{"query":"b","cursor":%q}`}, {"search_notes", `{"query":"a","context":true,"cursor":%q}`},
		{"daily_note", `{"content":"x","cursor":%q}`}, {"tasks", `{"ref":"Inbox/Plan.md:3","set":"done","cursor":%q}`},
	} {
		assert.Equal(t, harness.CodeOf(resultOf(t, s.call(call.tool, fmt.Sprintf(call.arguments, first.Truncated.Cursor)))),
			"bad_request", "%s %s", call.tool, call.arguments)
	}
	assert.That(t, s.notes() == before, "the vault is another one")
	r := resultOf(t, s.call("search_notes", fmt.Sprintf(`{"cursor":%q,"limit":1}`, first.Truncated.Cursor)))
	assert.That(t, r.OK, "%+v", r)
	assert.Equal(t, r.Command, "search", "%+v", r)
	assert.That(t, r.Stdout != first.Stdout, "%+v", r)
}
