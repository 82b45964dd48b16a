package app

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// appNotes are the notes of a vault before each change.
var appNotes = map[string]string{
	"Plan.md":            "---\n# what is left to do\ntitle: 'The plan'\ntags: [a, \"b\"] # both\nn: 012\n---\n# Plan\nfirst\n- [ ] task\n",
	"Plain.md":           "text without an end",
	"A/Note.md":          "one\n",
	"C/Note.md":          "two\n",
	"Links.md":           "[[A/Note]] and [[C/Note|two]] and [[Plan]]\n",
	".obsidian/app.json": `{"alwaysUpdateLinks":true,"newFileLocation":"folder","newFileFolderPath":"Inbox"}`,
}

const planProperties = "---\ntitle: The plan\ntags:\n  - a\n  - b\nn: 12\n"

// appWrites are changes with what the app makes of them. It writes properties
// anew and adds line breaks where the embedded CLI does not.
var appWrites = []struct {
	name, command string
	pairs         []string
	path, want    string // a note afterwards
	gone          string
	style         string // part of a notice, "" for none about the style
}{
	{name: "a property", command: "property:set",
		pairs: []string{"path", "Plan.md", "name", "due", "value", "2026-12-01"}, path: "Plan.md",
		want: planProperties + "due: 2026-12-01\n---\n# Plan\nfirst\n- [ ] task\n", style: "properties anew"},
	{name: "a list", command: "property:set",
		pairs: []string{"path", "Plan.md", "name", "who", "value", "x, y", "type", "list"}, path: "Plan.md",
		want: planProperties + "who:\n  - x\n  - y\n---\n# Plan\nfirst\n- [ ] task\n", style: "properties anew"},
	{name: "a text that looks like a number", command: "property:set",
		pairs: []string{"path", "Plan.md", "name", "id", "value", "007", "type", "text"}, path: "Plan.md",
		want: planProperties + "id: \"007\"\n---\n# Plan\nfirst\n- [ ] task\n", style: "properties anew"},
	{name: "a removed property", command: "property:remove", pairs: []string{"path", "Plan.md", "name", "n"},
		path: "Plan.md", want: strings.Replace(planProperties, "n: 12\n", "", 1) + "---\n# Plan\nfirst\n- [ ] task\n",
		style: "properties anew"},
	{name: "text at the end of a line", command: "append", pairs: []string{"path", "Plain.md", "content", "new"},
		path: "Plain.md", want: "text without an end\nnew"},
	{name: "text behind a line break", command: "append", pairs: []string{"path", "Plan.md", "content", "new"},
		path: "Plan.md", want: appNotes["Plan.md"] + "\nnew", style: "line breaks"},
	{name: "text by the name of the note", command: "append", pairs: []string{"file", "Plain", "content", "new"},
		path: "Plain.md", want: "text without an end\nnew"},
	{name: "text before the body", command: "prepend", pairs: []string{"path", "Plan.md", "content", "new"},
		path: "Plan.md", want: strings.Replace(appNotes["Plan.md"], "# Plan", "new\n# Plan", 1)},
	{name: "text in a new daily note", command: "daily:append", pairs: []string{"content", "new"}, path: appToday + ".md", want: "\nnew", style: "line breaks"},
	{name: "a new note at a path", command: "create", pairs: []string{"path", "N/New.md", "content", "text"}, path: "N/New.md", want: "text"},
	{name: "a new note by its name, which others have", command: "create",
		pairs: []string{"name", "Note", "content", "text"}, path: "Inbox/Note.md", want: "text"},
	{name: "a replaced note", command: "create", pairs: []string{"path", "Plain.md", "content", "text", "overwrite", "true"}, path: "Plain.md", want: "text"},
	{name: "a task", command: "task", pairs: []string{"path", "Plan.md", "line", "9", "done", "true"}, path: "Plan.md",
		want: strings.Replace(appNotes["Plan.md"], "[ ]", "[x]", 1)},
	{name: "a deletion", command: "delete", pairs: []string{"path", "Plain.md"}, path: "Plain.md", want: "(missing)", gone: "Plain.md"},
}

func TestWritesThroughTheApp(t *testing.T) {
	t.Parallel()
	for _, named := range howNamed {
		t.Run("the vault is known "+named.name, func(t *testing.T) {
			t.Parallel()
			a := newAppVault(t, appNotes)
			a.name = named.app
			a.tell(false)
			a.serve(named.settings)
			for _, w := range appWrites {
				got := a.do(w.command, w.pairs...)
				if !got.OK || got.Backend != "obsidian" || got.Change == nil {
					t.Errorf("%s: %+v, %+v", w.name, got, got.Error)
					continue
				}
				assert.Equal(t, a.get(w.path), w.want, "%s: %s", w.name, w.path)
				assert.Equal(t, got.Path, w.path, "%s: the path in the answer", w.name)
				if said := strings.Join(got.Notices, "\n"); strings.Contains(said,
					"properties anew") != (w.style == "properties anew") ||
					strings.Contains(said, "line breaks") != (w.style == "line breaks") {
					t.Errorf("%s: the notices are %q", w.name, said)
				}
				assert.That(t, w.gone == "" || a.get(w.gone) == "(missing)", "%s: %s is still there", w.name, w.gone)
				assert.That(t, got.Hash == "" || w.gone != "" || got.Change.After == got.Hash, "%s: hash %s, change %+v", w.name, got.Hash, got.Change)
				back := a.do("undo", "id", got.Change.ID)
				assert.That(t, back.OK, "%s: undo: %+v", w.name, back.Error)
				a.isAsBefore(w.name)
			}
		})
	}
}

// isAsBefore checks all notes, and that no other is left.
func (a *appVault) isAsBefore(when string) {
	a.t.Helper()
	for path, text := range appNotes {
		assert.Equal(a.t, a.get(path), text, "%s, undone: %s", when, path)
	}
	for _, made := range []string{appToday + ".md", "N/New.md", "Inbox/Note.md", "Inbox/Note 1.md", "Note.md", "B/Note.md", "Goal.md"} {
		assert.That(a.t, a.get(made) == "(missing)", "%s, undone: %s is still there", when, made)
	}
}

// wrongWrites are answers of an app that did not do what it says, or that does not
// say what it did.
var wrongWrites = []struct {
	name, command string
	pairs         []string
	fault         appFault
	code          string // "" where the change is made all the same
	changed       bool   // whether the answer names a change that can be taken back
	notice        string
}{
	{"nothing is done and nothing answered", "append", []string{"path", "Plain.md", "content", "new"},
		appFault{Kind: "hangs"}, "outcome_unknown", false, "the note was as before"},
	{"nothing is done", "append", []string{"path", "Plain.md", "content", "new"},
		appFault{Kind: "says", Text: "Appended to: Plain.md\n"}, "not_applied", false, ""},
	{"it is done twice", "append", []string{"path", "Plain.md", "content", "new"}, appFault{Kind: "does it twice"}, "outcome_unknown", true, ""},
	{"a part of the text is lost", "append", []string{"path", "Plain.md", "content", "new"},
		appFault{Kind: "does something else", Text: "text without an end\nne"}, "outcome_unknown", true, ""},
	{"the old text is lost", "append", []string{"path", "Plain.md", "content", "new"},
		appFault{Kind: "does something else", Text: "new"}, "outcome_unknown", true, ""},
	{"another value is set", "property:set", []string{"path", "Plan.md", "name", "due", "value", "x"},
		appFault{Kind: "does something else", Text: planProperties + "due: y\n---\n# Plan\nfirst\n- [ ] task\n"},
		"outcome_unknown", true, ""},
	{"a value of another type is set", "property:set",
		[]string{"path", "Plan.md", "name", "due", "value", "7", "type", "text"},
		appFault{Kind: "does something else", Text: planProperties + "due: 7\n---\n# Plan\nfirst\n- [ ] task\n"},
		"outcome_unknown", true, ""},
	{"another property is changed", "property:set", []string{"path", "Plan.md", "name", "due", "value", "x"},
		appFault{Kind: "does something else",
			Text: strings.Replace(planProperties, "- a", "- z", 1) + "due: x\n---\n# Plan\nfirst\n- [ ] task\n"}, "", true,
		"properties changed (\"tags\")"},
	{"the body is changed", "property:set", []string{"path", "Plan.md", "name", "due", "value", "x"},
		appFault{Kind: "does something else", Text: planProperties + "due: x\n---\n# Plan\nfirst\n"}, "", true,
		"1 line removed"},
	{"a plugin notes when a note was changed", "append", []string{"path", "Plan.md", "content", "new"},
		appFault{Kind: "does it, and a plugin touches it", Text: "updated: 2026-11-21"}, "", true,
		"properties changed (\"updated\")"},
	{"a plugin notes it in another note", "prepend", []string{"path", "Plan.md", "content", "new"},
		appFault{Kind: "does it, and a plugin touches it", Text: "updated: 2026-11-21"}, "", true,
		"properties changed (\"updated\")"},
	{"a plugin notes it beside a property", "property:set", []string{"path", "Plan.md", "name", "due", "value", "x"},
		appFault{Kind: "does it, and a plugin touches it", Text: "updated: 2026-11-21"}, "", true,
		"properties changed (\"updated\")"},
	{"a plugin notes it where one is removed", "property:remove", []string{"path", "Plan.md", "name", "n"},
		appFault{Kind: "does it, and a plugin touches it", Text: "updated: 2026-11-21"}, "", true,
		"properties changed (\"updated\")"},
	{"a plugin notes it beside a task", "task", []string{"path", "Plan.md", "line", "9", "done", "true"},
		appFault{Kind: "does it, and a plugin touches it", Text: "updated: 2026-11-21"}, "", true,
		"properties changed (\"updated\")"},
	{"a plugin notes it in a new note", "create", []string{"path", "N/New.md", "content", "text"},
		appFault{Kind: "does it, and a plugin touches it", Text: "created: 2026-11-21"}, "", true,
		"properties changed (\"created\")"},
	{"a plugin fills the new daily note", "daily:append", []string{"content", "new"},
		appFault{Kind: "does something else", Path: appToday + ".md", Text: "# Today\n\n## Log\nnew\n\n## Done\n"}, "",
		true, "3 lines added"},
	{"a plugin fills it with what is asked for twice", "daily:append", []string{"content", "new"},
		appFault{Kind: "does something else", Path: appToday + ".md", Text: "# new\nnew\n"}, "outcome_unknown", true,
		""},
	{"text is added in the middle", "append", []string{"path", "Plan.md", "content", "new"},
		appFault{Kind: "does something else", Text: strings.Replace(appNotes["Plan.md"], "first\n", "new\nfirst\n", 1)},
		"outcome_unknown", true, ""},
	{"the new note has another text", "create", []string{"path", "N/New.md", "content", "text"},
		appFault{Kind: "does something else", Text: "other"}, "outcome_unknown", true, ""},
	{"it is done and answered with an error", "append", []string{"path", "Plain.md", "content", "new"},
		appFault{Kind: "does it and says", Text: "Error: Something went wrong.\n"}, "", true, "the change is made"},
	{"it is done and not answered", "append", []string{"path", "Plan.md", "content", "new"},
		appFault{Kind: "does it and hangs"}, "", true, "the change is made"},
	{"it is done when the client is gone", "property:set", []string{"path", "Plan.md", "name", "due", "value", "x"},
		appFault{Kind: "does it when the client is gone"}, "", true, "the change is made"},
	{"it is done in two steps when the client is gone", "property:set",
		[]string{"path", "Plan.md", "name", "due", "value", "x"},
		appFault{Kind: "does it in two steps when the client is gone"}, "", true, "the change is made"},
	{"the client crashes behind it", "property:set", []string{"path", "Plan.md", "name", "due", "value", "x"}, appFault{Kind: "crashes"}, "", true, "died by"},
}

func TestAnAppThatDoesSomethingElse(t *testing.T) {
	t.Parallel()
	for _, w := range wrongWrites {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel() // some wait for the limit
			a := newAppVault(t, appNotes)
			a.name = howNamed[1].app
			a.serve(howNamed[1].settings, "--timeout=6s") // of which a slow machine needs one
			w.fault.Command = w.command
			a.tell(false, w.fault)
			got := a.do(w.command, w.pairs...)
			assert.Equal(t, harness.CodeOf(got), w.code, "%+v, %+v", got, got.Error)
			assert.Equal(t, got.Change != nil, w.changed, "%+v, %+v, want %q", got, got.Error, w.code)
			assert.That(t, strings.Contains(strings.Join(got.Notices, "\n"), w.notice), "the notices are %q", got.Notices)
			if got.Change != nil {
				back := a.do("undo", "id", got.Change.ID)
				assert.That(t, back.OK, "undo: %+v", back.Error)
			}
			a.isAsBefore(w.name)
		})
	}
}

// A name that several notes have is resolved as the app does, with a notice that names them all; a change needs the path.
func TestANameThatSeveralNotesHave(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"obsidian", "embedded"} {
		a := newAppVault(t, appNotes)
		a.serve(howNamed[0].settings, "--backend="+backend)
		got := a.do("read", "file", "Note")
		assert.That(t, got.OK, "%+v, %+v", got, got.Error)
		assert.Equal(t, got.Backend, backend, "%+v, %+v", got, got.Error)
		assert.Contains(t, strings.Join(got.Notices, "\n"), `the name is that of 2 files: "A/Note.md", "C/Note.md"`, "the notices of %s", backend)
		for _, change := range [][]string{{"append", "content", "x"}, {"property:set", "name", "x", "value", "y"}, {"delete"}} {
			got := a.do(change[0], append([]string{"file", "Note"}, change[1:]...)...)
			assert.Equal(t, harness.CodeOf(got), "ambiguous", "%s by %s: %+v", change[0], backend, got.Error)
			assert.Contains(t, got.Error.Message, `"C/Note.md"`, "%s by %s", change[0], backend)
		}
		a.isAsBefore(backend)
		clear := a.do("append", "file", "A/Note", "content", "x")
		assert.That(t, clear.OK, "a name with its folder: %+v", clear.Error)
	}
}

// A write that runs into its limit is answered at the limit, and not at twice the limit. What the app does later is in the
// journal all the same, before anything else is changed.
func TestAWriteThatIsLate(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	a := newAppVault(t, appNotes)
	a.serve(howNamed[0].settings, "--timeout="+limit.String())
	require.That(t, a.do("read", "path", "Plain.md").OK, "the programs start")
	a.tell(false, appFault{Command: "append", Kind: "does it late", Text: "3800ms"})
	begun := time.Now()
	got := a.do("append", "path", "Plain.md", "content", "new")
	took := time.Since(begun)
	require.Equal(t, harness.CodeOf(got), "outcome_unknown", "%+v", got)
	assert.That(t, took < limit+500*time.Millisecond, "it took %v, with a limit of %v", took, limit)
	next := a.do("append", "path", "Plan.md", "content", "other")
	require.That(t, next.OK, "%+v", next.Error)
	assert.Equal(t, a.get("Plain.md"), "text without an end\nnew", "the note, by then")
	for range 2 {
		assert.That(t, a.do("undo").OK, "undo")
	}
	a.isAsBefore("late")
}

// An atomic batch through the app is made as a whole, or taken back. Keys, hashes and dry runs are
// in tests/access.
func TestBatchesThroughTheApp(t *testing.T) {
	t.Parallel()
	a := newAppVault(t, appNotes)
	a.name = howNamed[2].app
	a.tell(true)
	a.serve(howNamed[2].settings)

	operation := func(id, command string, params map[string]any) map[string]any {
		return map[string]any{"clientId": id, "command": command, "params": params}
	}
	a.askFor("obsidianBatch", map[string]any{"atomic": true, "operations": []any{
		operation("a", "append", map[string]any{"path": "Plain.md", "content": "one"}),
		operation("b", "property:set", map[string]any{"path": "Plain.md", "name": "x", "value": "y"}),
		operation("c", "append", map[string]any{"path": "Plain.md", "content": "two"}),
	}})
	var batch gateway.BatchResult
	unmarshalResult(t, a.receive(), &batch)
	want := "---\nx: y\n---\ntext without an end\none\n\ntwo\n"
	assert.That(t, batch.OK, "the batch: %+v; the note is %q, want %q", batch, a.get("Plain.md"), want)
	assert.Equal(t, a.get("Plain.md"), want, "the batch: %+v; the note is %q", batch, a.get("Plain.md"))

	// An atomic batch of which one operation fails is taken back.
	a.tell(true, appFault{Command: "property:remove", Kind: "says", Text: "Removed: x\n"})
	before := a.get("Plain.md")
	a.askFor("obsidianBatch", map[string]any{"atomic": true, "operations": []any{
		operation("a", "append", map[string]any{"path": "Plain.md", "content": "three"}),
		operation("b", "property:remove", map[string]any{"path": "Plain.md", "name": "x"}),
	}})
	unmarshalResult(t, a.receive(), &batch)
	assert.That(t, !batch.OK, "the batch: %+v; the note is %q, want %q", batch, a.get("Plain.md"), before)
	assert.Equal(t, a.get("Plain.md"), before, "the batch: %+v; the note is %q", batch, a.get("Plain.md"))
}
