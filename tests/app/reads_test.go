package app

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func unmarshalResult(t *testing.T, answer harness.Answer, into any) {
	t.Helper()
	if err := json.Unmarshal(answer.Result.StructuredContent, into); err != nil {
		t.Fatalf("%v: %s, %+v", err, answer.Result.StructuredContent, answer.Error)
	}
}

// The app searches notes with their secrets: by its answers parts of one could be found.
func TestTheAppIsNotAskedWhichNotesMatch(t *testing.T) {
	t.Parallel()
	a := newAppVault(t, map[string]string{"Key.md": "key ghp_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6\n", "All.base": "views:\n  - type: table\n    name: All\n"})
	a.serve(howNamed[0].settings, "--backend=auto")
	for _, words := range [][]string{{"search", "query", "R8dk2L"}, {"search:context", "query", "R8dk2L"}, {"base:query", "path", "All.base"}} {
		got := a.do(words[0], words[1:]...)
		assert.That(t, got.OK, "%q: %+v", words, got)
		assert.Equal(t, got.Backend, "embedded", "%q: %+v", words, got)
		assert.Equal(t, strings.Contains(got.Stdout, "Key.md"), words[0] == "base:query", "%q: %+v", words, got)
	}
	a.End()
	a.serve(howNamed[0].settings, "--backend=auto", "--secrets=allow")
	got := a.do("search", "query", "R8dk2L")
	assert.That(t, got.OK, "%+v", got)
	assert.Equal(t, got.Backend, "obsidian", "%+v", got)
	assert.Contains(t, got.Stdout, "Key.md", "%+v", got)
}

const hidesPrivately = "[[vaults]]\nname = \"Work\"\nfolder = %q\n[vaults.access]\n\"/\" = \"rwd\"\n\"Private\" = \"none\"\n"

// With a rule that hides a folder the app is still of use: names are resolved
// where the rules are known.
func TestTheAppUnderRules(t *testing.T) {
	t.Parallel()
	notes := map[string]string{"Private/Secret.md": "hidden", "Private/Plan.md": "hidden", "Private/Daily.md": "hidden", appToday + ".md": "today\n"}
	for path, text := range appNotes {
		notes[path] = text
	}
	a := newAppVault(t, notes)
	a.name = "Work"
	a.tell(false)
	a.serve(hidesPrivately)

	for _, ok := range []struct {
		command string
		pairs   []string
		stdout  string
	}{
		{"daily:read", nil, "today\n"},
		{"read", []string{"file", "Plain"}, "text without an end\n"},
		{"read", []string{"file", "Plan"}, appNotes["Plan.md"]},
		{"append", []string{"file", "Plain", "content", "x"}, "Appended to: Plain.md\n"},
		{"create", []string{"name", "New", "content", "x"}, "Created: Inbox/New.md\n"},
	} {
		got := a.do(ok.command, ok.pairs...)
		assert.That(t, got.OK, "%s %v: %+v, %+v", ok.command, ok.pairs, got, got.Error)
		assert.Equal(t, got.Stdout, ok.stdout, "%s %v: %+v, %+v", ok.command, ok.pairs, got, got.Error)
		assert.Equal(t, got.Backend, "obsidian", "%s %v: %+v, %+v", ok.command, ok.pairs, got, got.Error)
	}
	for _, call := range a.called() {
		assert.NotContains(t, call, "file=", "the app was asked %q", call)
		assert.NotContains(t, call, "Private", "the app was asked %q", call)
		assert.That(t, !strings.HasPrefix(call, "daily"), "the app was asked %q", call)
	}

	// A hidden note is missing, by its path and by its name, as if there was none.
	same := func(a, b gateway.Result, hidden, missing string) {
		t.Helper()
		x, _ := json.Marshal([]any{a.OK, a.Error, a.Stdout, a.Stderr, a.Notices, a.ExitCode, a.Backend})
		y, _ := json.Marshal([]any{b.OK, b.Error, b.Stdout, b.Stderr, b.Notices, b.ExitCode, b.Backend})
		assert.Equal(t, strings.ReplaceAll(string(x), hidden, "NAME"), strings.ReplaceAll(string(y), missing, "NAME"),
			"hidden: %s\nmissing: %s", x, y)
		assert.That(t, !a.OK, "hidden: %s\nmissing: %s", x, y)
	}
	same(a.do("read", "file", "Secret"), a.do("read", "file", "Nobody"), "Secret", "Nobody")
	same(a.do("append", "file", "Secret", "content", "x"), a.do("append", "file", "Nobody", "content", "x"), "Secret", "Nobody")
	for _, call := range [][]string{
		{"read", "path", "Private/Secret.md"}, {"append", "path", "Private/Secret.md", "content", "x"}, {"file", "path", "Private/Secret.md"},
		{"property:set", "path", "Private/Secret.md", "name", "x", "value", "y"},
		{"delete", "path", "Private/Secret.md"}, {"properties", "path", "Private/Secret.md"},
	} {
		hidden := a.do(call[0], call[1:]...)
		for _, missing := range []string{"Private/Nobody.md", "Nobody.md"} {
			other := slices.Clone(call)
			other[2] = missing
			same(hidden, a.do(other[0], other[1:]...), "Private/Secret.md", missing)
		}
	}

	got := a.do("backlinks", "path", "Plan.md")
	require.Equal(t, harness.CodeOf(got), "access_denied", "what reaches other notes: %+v", got.Error)
	assert.Contains(t, got.Error.Hint, "set backend to auto", "what reaches other notes: %+v", got.Error)
	assert.That(t, a.get("Private/Secret.md") == "hidden", "the hidden note was changed")
}

// TestTheAppsMissingNamesHaveNearOnes: by the embedded program, which is asked for nothing
// else, and for no change.
func TestTheAppsMissingNamesHaveNearOnes(t *testing.T) {
	t.Parallel()
	a := newAppVault(t, appNotes)
	a.tell(false)
	a.serve(howNamed[0].settings)
	for _, test := range []struct {
		command     string
		pairs       []string
		hint, other string
	}{
		{"read", []string{"path", "Plian.md"}, `did you mean "Plan.md"`, ""},
		{"read", []string{"file", "Plainn"}, `did you mean "Plain.md"`, ""},
		{"read", []string{"path", "Zebra.md"}, "names are case-sensitive", ""},
		{"append", []string{"path", "Plian.md", "content", "x"}, "", "Plian.md"},
	} {
		got := a.do(test.command, test.pairs...)
		if harness.CodeOf(got) != "not_found" || got.Backend != "obsidian" || !strings.HasPrefix(got.Error.Hint, test.hint) {
			t.Errorf("%s %v: %+v, %+v", test.command, test.pairs, got, got.Error)
		}
		assert.That(t, test.other == "" || a.get(test.other) == "(missing)", "%s was made", test.other)
	}
}

// TestARandomNoteHasItsPath: of a vault whose folder is known, or that the app names, the note is drawn by the embedded CLI,
// and the answer is the same whether the app is there or not. Elsewhere the app answers, and nothing is no answer.
func TestARandomNoteHasItsPath(t *testing.T) {
	t.Parallel()
	notes := map[string]string{"R/One.md": "one\n", ".obsidian/app.json": "{}"}
	for name, settings := range map[string]string{"known": howNamed[0].settings, "named by the app": "private-property = []\nprivate-tags = []\n# %q\n"} {
		a := newAppVault(t, notes)
		a.serve(settings)
		got := a.do("random:read", "folder", "R")
		assert.That(t, got.OK, "%s: %+v, %+v", name, got, got.Error)
		assert.Equal(t, got.Path, "R/One.md", "%s: %+v, %+v", name, got, got.Error)
		assert.Equal(t, got.Stdout, "R/One.md\none\n", "%s: %+v, %+v", name, got, got.Error)
		assert.That(t, got.Hash != "", "%s: %+v, %+v", name, got, got.Error)
		missing := a.do("random:read", "folder", "Nowhere")
		assert.Equal(t, harness.CodeOf(missing), "not_found", "%s: %+v", name, missing)
		several := a.do("random:read", "count", "2")
		assert.That(t, several.OK, "%s: %+v", name, several.Error)
	}
	elsewhere := newAppVault(t, notes)
	elsewhere.tell(false, appFault{Command: "vault", Kind: "says", Text: "/nowhere/at/all\n"}, appFault{Command: "random:read", Kind: "says"},
		appFault{Command: "random:read", Kind: "says", Text: "No markdown files found.\n"})
	elsewhere.serve("private-property = []\nprivate-tags = []\n# %q\n")
	for _, code := range []string{"empty_output", "not_found", ""} {
		got := elsewhere.do("random:read", "folder", "R")
		assert.Equal(t, harness.CodeOf(got), code, "%+v", got)
	}
}

// TestTheFolderIsAskedForWhenItIsNeeded: the first call is answered as every later one, whatever was called before.
func TestTheFolderIsAskedForWhenItIsNeeded(t *testing.T) {
	t.Parallel()
	for _, private := range []string{"", "private-property = []\nprivate-tags = []\n"} {
		a := newAppVault(t, map[string]string{".obsidian/app.json": "{}"})
		a.serve(private+"[[vaults]]\nname = \"My Notes\"\n# %q\n", "--backend=auto")
		for range 2 {
			a.ask("obsidianCli", "daily:append", "content", `C:\new`, "-dryRun", "true")
			var plan gateway.DryRun
			unmarshalResult(t, a.receive(), &plan)
			assert.That(t, plan.OK, "the dry run: %+v", plan.Error)
			got := a.do("daily:append", "content", `C:\new`)
			assert.That(t, got.OK, "%+v, %+v", got, got.Error)
			assert.Equal(t, got.Backend, "embedded", "%+v, %+v", got, got.Error)
		}
		assert.Contains(t, a.get(appToday+".md"), `C:\new`, "the note")
	}
}
