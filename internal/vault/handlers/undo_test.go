package handlers_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestUndo(t *testing.T) {
	for _, test := range []struct{ name, call, said string }{
		{"what was made is removed", "create path=n/new.md content=x", "create n/new.md"},
		{"what was changed is as it was", "append path=a.md content=x", "append a.md"},
		{"what was replaced too", "create path=a.md content=x overwrite", "create a.md"},
		{"what was moved is moved back", "move path=a.md to=x/y.md", "move a.md and 1 more"},
		{"with the links that followed", "rename path=linked.md name=other", "rename linked.md and 1 more"},
		{"what was deleted comes back", "delete path=a.md", "delete a.md"},
		{"for good or not", "delete path=sub/b.md permanent", "delete sub/b.md"},
		{"today's note goes", "daily:append content=x", "daily:append 2026-11-21.md"},
		{"bookmarks are settings", "bookmark file=a.md", "bookmark .obsidian/bookmarks.json"},
		{"and the file of them stays", "bookmark search=a.md", "bookmark .obsidian/bookmarks.json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{"a.md": "text\r\n", "sub/b.md": "", "linked.md": "[[a]] [[linked]]",
				"l.md": "[[linked]]", ".obsidian/app.json": embedded.FollowLinks})
			if strings.Contains(test.call, "search") {
				h.Put(".obsidian/bookmarks.json", "{}")
			}
			before := h.Tree()
			h.Does(strings.Fields(test.call)...)
			after := h.Tree()
			first := h.Changes()[0]
			for range 3 {
				h.Expect(answer.ExitDone, "Undone: "+first+" "+test.said+"\n", "undo", first)
				got := h.Tree()
				require.That(t, got == before, "undone, the vault is\n%s, was\n%s", got, before)
				h.Expect(answer.ExitFailed, "Error: Change "+first+" is already undone.\n", "undo", "id="+first)
				h.Expect(answer.ExitFailed, "Error: Nothing to undo.\n", "undo")
				ids := h.Changes()
				h.Does("undo", ids[len(ids)-1])
				got = h.Tree()
				require.That(t, got == after, "done again, the vault is\n%s, was\n%s", got, after)
				ids = h.Changes()
				_, more, _ := strings.Cut(test.said, " and ")
				first, test.said = ids[len(ids)-1], "undo "+redone(t, h, ids[len(ids)-1])
				if more != "" {
					test.said += " and " + more
				}
			}
		})
	}
}

// redone returns the note that taking a change back is about.
func redone(t *testing.T, h *embedded.Vault, id string) string {
	t.Helper()
	return require.Value(h.Journal().Entry(h.T.Context(), id))(t).Steps[0].Source()
}

func TestUndoRefusesWhatSomebodyElseChanged(t *testing.T) {
	const refused = " Nothing was undone.\n"
	for _, test := range []struct {
		name, call string
		meanwhile  func(h *embedded.Vault)
		want       string
	}{
		{
			"a note that was edited", "append path=a.md content=mine",
			func(h *embedded.Vault) { h.Put("a.md", "text\nmine\ntheirs\n") },
			"Error: Conflict: \"a.md\" was changed since." + refused +
				"--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,3 @@\n text\n-mine\n\\ No newline at end of file\n+mine\n+theirs\n",
		},
		{
			"a note that is gone", "append path=a.md content=mine", func(h *embedded.Vault) { h.Remove("a.md") },
			"Error: Conflict: \"a.md\" was changed since." + refused +
				"--- a/a.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-text\n-mine\n\\ No newline at end of file\n",
		},
		{
			"a note that is there again", "delete path=a.md", func(h *embedded.Vault) { h.Put("a.md", "theirs\n") },
			"Error: Conflict: \"a.md\" was changed since." + refused + "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+theirs\n",
		},
		{
			"another note where one was", "move path=a.md to=b.md", func(h *embedded.Vault) { h.Put("a.md", "theirs") },
			"Error: Conflict: there is another file at \"a.md\"." + refused,
		},
		{
			"a note that was moved on", "move path=a.md to=b.md", func(h *embedded.Vault) { h.Remove("b.md"); h.Put("c.md", "text\n") },
			"Error: Conflict: \"b.md\" was changed since." + refused + "The text that the change wrote is not kept.\n",
		},
		{
			"a long difference is cut", "append path=a.md content=mine", func(h *embedded.Vault) { h.Put("a.md", strings.Repeat("line\n", 10_000)) },
			"",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{"a.md": "text\n", "l.md": "[[a]]"})
			h.Does(strings.Fields(test.call)...)
			test.meanwhile(h)
			before := h.Tree()
			if test.want != "" {
				h.Expect(answer.ExitFailed, test.want, "undo")
			} else if status, out, _ := h.Run("undo"); status != answer.ExitFailed || len(out) > 16<<10+200 ||
				!strings.Contains(out, " more lines added, 0 removed; not shown\n") {
				t.Errorf("status %d, %d bytes, end %q", status, len(out), out[len(out)-50:])
			}
			after := h.Tree()
			assert.That(t, after == before, "the vault is\n%s, was\n%s", after, before)
		})
	}
}

func TestOneConflictStopsTheWholeUndo(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "", "b.md": "[[a]]", "c.md": "[[a]]", ".obsidian/app.json": embedded.FollowLinks})
	h.Run("rename", "path=a.md", "name=z")
	h.Put("b.md", "theirs [[z]]")
	before := h.Tree()
	status, out, _ := h.Run("undo")
	assert.Equal(t, status, answer.ExitFailed, "status %d", status)
	assert.That(t, strings.HasPrefix(out, "Error: Conflict: \"b.md\" was changed since."), "status %d, %q", status, out)
	assert.Equal(t, h.Tree(), before, "status %d", status)
}

func TestWrongIDs(t *testing.T) {
	h := embedded.New(t, nil)
	const id = "20260101T000000.000000000Z-abcd"
	h.Steps([]embedded.Turn{
		{"nothing was changed yet", "undo", answer.ExitFailed, "Error: Nothing to undo.\n"},
		{"an id that is none", "undo 7", answer.ExitMisuse, "Error: Invalid value for id: \"7\"\n"},
		{"a change that is not kept", "undo " + id, answer.ExitFailed, "Error: Change \"" + id + "\" not found.\n"},
		{"two ids", "undo " + id + " id=" + id, answer.ExitMisuse, "Error: Parameter given twice: id\n"},
	})
	h.Put("a.md", "x")
	h.Env["XDG_STATE_HOME"] = ""
	h.ExpectPrefix(answer.ExitFailed, "Error: Nothing can be changed: the journal needs a folder", "undo")
}

// A remark on a change that was broken off is printed, whatever else there is to remark on the answer.
func TestAnUnfinishedChangeIsToldWithAnyAnswer(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "old"})
	id := broken(h, journal.Step{Path: "a.md", Before: journal.ImageOf([]byte("old")), After: journal.ImageOf([]byte("new"))})
	require.NoError(t, h.Journal().Mark().Set(id))
	h.ReadOnly = true
	for _, call := range []string{"tags", "files"} { // the answer about tags has a remark of its own
		_, out, stderr := h.Run(call)
		assert.HasPrefix(t, stderr, "a change was broken off", "%s: %s", call, out)
	}
}

// broken writes an entry for a change that was broken off.
func broken(h *embedded.Vault, steps ...journal.Step) string {
	now := time.Now()
	e := journal.Entry{ID: journal.NewID(now), Time: now, Command: "move", Steps: steps}
	content := func(s journal.Step) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte("old"))), nil }
	require.NoError(h.T, h.Journal().Begin(e, content))
	return e.ID
}

func TestUndoOfAChangeThatWasBrokenOff(t *testing.T) {
	old, other := journal.ImageOf([]byte("old")), journal.ImageOf([]byte("new"))
	for _, test := range []struct {
		name  string
		found map[string]string
		step  journal.Step
		want  map[string]string
	}{
		{"nothing was done yet", map[string]string{"a.md": "old"}, journal.Step{Path: "a.md", Before: old, After: other}, map[string]string{"a.md": "old"}},
		{"all was done", map[string]string{"a.md": "new"}, journal.Step{Path: "a.md", Before: old, After: other}, map[string]string{"a.md": "old"}},
		{"it was not made yet", nil, journal.Step{Path: "a.md", After: other}, map[string]string{"a.md": "(missing)"}},
		{"it was made", map[string]string{"a.md": "new"}, journal.Step{Path: "a.md", After: other}, map[string]string{"a.md": "(missing)"}},
		{"it was not moved yet", map[string]string{"a.md": "old"},
			journal.Step{Path: "b.md", From: "a.md", Before: old, After: other},
			map[string]string{"a.md": "old", "b.md": "(missing)"}},
		{"it had both names", map[string]string{"a.md": "old", "b.md": "old"},
			journal.Step{Path: "b.md", From: "a.md", Before: old, After: old},
			map[string]string{"a.md": "old", "b.md": "(missing)"}},
		{"an empty file had taken the second name", map[string]string{"a.md": "old", "b.md": ""},
			journal.Step{Path: "b.md", From: "a.md", Before: old, After: old},
			map[string]string{"a.md": "old", "b.md": "(missing)"}},
		{"it was moved", map[string]string{"b.md": "old"},
			journal.Step{Path: "b.md", From: "a.md", Before: old, After: old},
			map[string]string{"a.md": "old", "b.md": "(missing)"}},
		{"it was moved and changed", map[string]string{"b.md": "new"},
			journal.Step{Path: "b.md", From: "a.md", Before: old, After: other},
			map[string]string{"a.md": "old", "b.md": "(missing)"}},
		{"it was moved and not changed yet", map[string]string{"b.md": "old"},
			journal.Step{Path: "b.md", From: "a.md", Before: old, After: other},
			map[string]string{"a.md": "old", "b.md": "(missing)"}},
	} {
		for _, named := range []bool{true, false} {
			h := embedded.New(t, test.found)
			args := []string{"undo", broken(h, test.step)}
			if !named {
				args = args[:1]
			}
			changed := h.Get("a.md") != test.want["a.md"] || test.want["b.md"] != "" && h.Get("b.md") != test.want["b.md"]
			status, out, _ := h.Run(args...)
			assert.That(t, (status == answer.ExitDone) == (named || changed), "%s: status %d, %q", test.name, status, out)
			for path, text := range test.want {
				assert.Equal(t, h.Get(path), text, "%s: %s", test.name, path)
			}
			status, _, _ = h.Run("undo", "id="+h.Changes()[0])
			assert.That(t, !named || status == answer.ExitFailed, "%s: it can be undone twice", test.name)
		}
	}
}

func TestAPathOfTheJournalIsJudged(t *testing.T) {
	for _, path := range []string{"../a.md", ".obsidian/app.json", "/etc/passwd", ".trash/a.md"} {
		h := embedded.New(t, map[string]string{".obsidian/app.json": "{}", ".trash/a.md": ""})
		id := broken(h, journal.Step{Path: path, After: journal.ImageOf([]byte("{}"))})
		h.ExpectPrefix(answer.ExitFailed, "Error: Change "+id+" cannot be undone: path ", "undo", id)
	}
}

func TestUndoCanBePlannedAndExpected(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "text"})
	h.Run("delete", "path=a.md")
	paths := h.Plan("undo").Paths()
	require.Equal(t, len(paths), 1, "the plan lists %q", paths)
	require.Equal(t, paths[0], "a.md", "the plan lists %q", paths)
	assert.Equal(t, h.Get("a.md"), "(missing)", "the plan lists %q", paths)
	h.Expect(answer.ExitFailed, "Error: Conflict: \"a.md\" has the hash none, not 0123456789abcdef.\n", "--expect", "0123456789abcdef", "undo")
	h.Expect(answer.ExitFailed, "Error: Conflict: \"a.md\" has the hash none, not 0123456789abcdef.\n", "--plan", "--expect", "0123456789abcdef", "undo")
	_, _, facts := h.Run("--facts", "undo")
	want := `{"path":"a.md","hash":"982d9e3eb996f559","before":"","change":"ID","added":1}`
	assert.That(t, embedded.EntryID.ReplaceAllString(facts, "ID") == "vaultwicket-facts: "+want+"\n", "facts %q", facts)
}

// oldTimes are those of changes, which are made by the machine's clock.
var oldTimes = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// written is a vault in which a note has three versions.
func written(t *testing.T) *embedded.Vault {
	h := embedded.New(t, map[string]string{"a.md": "one\n", "b.md": "", "c.md": "c"})
	for _, call := range []string{
		"append path=a.md content=two", "move path=a.md to=n/a.md", "create path=n/a.md content=three overwrite", "delete path=n/a.md",
		"append path=b.md content=x", "create path=new.md content=x", "move path=c.md to=d.md", "bookmark search=x",
	} {
		h.Does(strings.Fields(call)...)
	}
	return h
}

func TestHistory(t *testing.T) {
	h := written(t)
	const list = "1\tTIME\t5\tdelete\t-\n2\tTIME\t7\tcreate\t-\n3\tTIME\t4\tappend\t-\ta.md\n"
	for _, typed := range []string{"history", "diff", "diff filter=local"} {
		status, out, _ := h.Run(append(strings.Fields(typed), "path=n/a.md")...)
		out = oldTimes.ReplaceAllString(out, "TIME")
		assert.Equal(t, status, answer.ExitDone, "%s: status %d", typed, status)
		assert.Equal(t, out, list, "%s: status %d", typed, status)
	}
	h.Steps([]embedded.Turn{
		{"the notes that have versions, by their present names", "history:list", answer.ExitDone, "b.md\nn/a.md\n"},
		{"a version has the bytes of then", "history:read path=n/a.md version=3", answer.ExitDone, "one\n"},
		{"the newest is the default", "history:read path=n/a.md", answer.ExitDone, "three\n"},
		{"a note that was only moved has none", "history path=d.md", answer.ExitDone, ""},
		{"nor has one that was made", "history file=new", answer.ExitDone, ""},
		{"a note that was never there", "history path=none.md", answer.ExitFailed, "Error: File \"none.md\" not found.\n"},
		{"a version that is not there", "history:read path=n/a.md version=4", answer.ExitFailed, "Error: Version \"4\" of \"n/a.md\" not found.\n"},
		{"a version that is no number", "history:read path=n/a.md version=x", answer.ExitMisuse, "Error: Invalid number: x\n"},
		{"no version at all", "history:restore path=n/a.md", answer.ExitMisuse,
			"Error: Missing required parameter: version=<n>\nUsage: history:restore [file=<name>] [path=<path>] version=<n>\n"},
		{"no note", "history", answer.ExitFailed, "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"},
		{"a version and another", "diff path=n/a.md from=3 to=2", answer.ExitDone,
			"--- n/a.md (version 3)\n+++ n/a.md (version 2)\n@@ -1 +1,2 @@\n one\n+two\n\\ No newline at end of file\n"},
		{"a version and a note that is gone", "diff path=n/a.md from=3", answer.ExitDone, "--- n/a.md (version 3)\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"},
		{"a version and the note", "diff path=b.md from=1", answer.ExitDone,
			"--- b.md (version 1)\n+++ b.md\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"},
		{"a version and itself", "diff path=n/a.md from=2 to=2", answer.ExitDone, ""},
		{"a version that is not there to compare", "diff path=n/a.md from=2 to=9", answer.ExitFailed, "Error: Version \"9\" of \"n/a.md\" not found.\n"},
		{"nothing to start from", "diff path=n/a.md to=9", answer.ExitMisuse, "Error: Use to=<n> with from=<n>.\n"},
		{"what only the app has", "diff path=n/a.md filter=sync", answer.ExitFailed, "Error: \"diff filter=sync\" needs the Obsidian app.\n"},
		{"a note is restored", "history:restore path=b.md version=1", answer.ExitDone, "Restored: b.md from version 1 of the journal of vaultwicket\n"},
		{"one that is gone too", "history:restore path=n/a.md version=2", answer.ExitDone, "Restored: n/a.md from version 2 of the journal of vaultwicket\n"},
	})
	assert.Equal(t, h.Get("b.md"), "", "the notes are %q and %q", h.Get("b.md"), h.Get("n/a.md"))
	assert.Equal(t, h.Get("n/a.md"), "one\ntwo", "the notes are %q and %q", h.Get("b.md"), h.Get("n/a.md"))
	h.Run("undo")
	h.Run("undo")
	assert.Equal(t, h.Get("b.md"), "x", "undone, the notes are %q and %q", h.Get("b.md"), h.Get("n/a.md"))
	assert.Equal(t, h.Get("n/a.md"), "(missing)", "undone, the notes are %q and %q", h.Get("b.md"), h.Get("n/a.md"))
	left, _, _ := h.Run("history:restore", "path=b.md", "version=1")
	assert.Equal(t, left, answer.ExitDone, "it cannot be restored again")
}

// The list of histories is that of the latest changes, however long the journal is, and says so.
func TestTheListOfHistoriesHasALimit(t *testing.T) {
	const most = 10_000
	h := embedded.New(t, map[string]string{"old.md": "x"})
	h.Does("append", "path=old.md", "content=more")
	old := []byte("before\n")
	kept := func(journal.Step) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(old)), nil }
	begin := func(steps int) {
		entry := journal.Entry{ID: journal.NewID(time.Now()), Time: time.Now(), Command: "append", Backend: "embedded"}
		for i := range steps {
			path := fmt.Sprintf("many/%d.md", i)
			entry.Steps = append(entry.Steps, journal.Step{Path: path, Before: journal.ImageOf(old), After: journal.ImageOf([]byte("after\n"))})
		}
		j := h.Journal()
		require.NoError(t, j.Begin(entry, kept))
		require.NoError(t, j.End(entry.ID, journal.Outcome{State: journal.Done}))
	}
	begin(2)
	h.Expect(answer.ExitDone, "many/0.md\nmany/1.md\nold.md\n", "history:list")
	begin(most)
	status, out, _ := h.Run("--facts", "history:list")
	assert.Equal(t, status, answer.ExitDone, "status %d: all of the journal is read", status)
	assert.That(t, !strings.Contains(out, "old.md"), "status %d: all of the journal is read", status)
	assert.That(t, strings.Count(out, "\n") == most, "%d notes", strings.Count(out, "\n"))
	_, _, facts := h.Run("--facts", "history:list")
	assert.That(t, strings.Contains(facts, "history path="), "nothing says that older notes are left out: %s", facts)
}

func TestHistoryOfAVaultThatWasNeverChanged(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "x"})
	h.Steps([]embedded.Turn{
		{"no notes", "history:list", answer.ExitDone, ""},
		{"no versions", "history path=a.md", answer.ExitDone, ""},
		{"nothing to read", "history:read path=a.md", answer.ExitFailed, "Error: Version \"1\" of \"a.md\" not found.\n"},
	})
}

// While something is hidden, what is known of a note that the owner took from its place is
// not told: it may be hidden now. What was deleted through this program can be brought back.
func TestHistoryDoesNotOutliveHiding(t *testing.T) {
	h := embedded.New(t, map[string]string{"Secret/x.md": "x", "plan.md": "one", "other.md": "o"})
	h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "Secret": "none"}).String()
	for _, call := range []string{"append path=plan.md content=two", "append path=other.md content=more", "delete path=other.md"} {
		h.Does(strings.Fields(call)...)
	}
	h.Steps([]embedded.Turn{{"both are there or were deleted here", "history:list", answer.ExitDone, "other.md\nplan.md\n"}})
	require.NoError(t, os.Rename(h.File("plan.md"), h.File("Secret/plan.md")))
	h.Steps([]embedded.Turn{
		{"the list", "history:list", answer.ExitDone, "other.md\n"},
		{"the versions", "history path=plan.md", answer.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"a version", "history:read path=plan.md version=1", answer.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"a difference", "diff path=plan.md from=1", answer.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"a plan to restore", "--plan history:restore path=plan.md version=1", answer.ExitFailed, "Error: File \"plan.md\" not found.\n"},
		{"one that was deleted here", "history:read path=other.md", answer.ExitDone, "o\nmore\n"},
	})
	status, out, _ := h.Run("undo", h.Changes()[0])
	assert.That(t, status != answer.ExitDone, "undo tells %q", out)
	assert.That(t, !strings.Contains(out, "two"), "undo tells %q", out)
}

// An agent takes back what it has done in another session, and a batch by the id that the list of changes shows.
func TestUndoReachesEarlierSessions(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "a\n"})
	h.Does("--caller", "robot/1", "--batch", "b1", "append", "path=a.md", "content=1")
	h.Does("--caller", "robot/1", "--batch", "b1", "append", "path=a.md", "content=2")
	h.Does("--caller", "robot/2", "undo", "batch=b1")
	assert.Equal(t, h.Get("a.md"), "a\n", "undone by the batch")
	h.Does("--caller", "robot/1", "append", "path=a.md", "content=3")
	h.Does("--caller", "robot/2", "undo")
	assert.Equal(t, h.Get("a.md"), "a\n", "undone by another session")
	h.Does("--caller", "robot/1", "append", "path=a.md", "content=4")
	h.Expect(answer.ExitFailed, "Error: Nothing to undo.\n", "--caller", "other/1", "undo")
}

// keepChange puts a change of one note into the journal, as if it was made.
func keepChange(t *testing.T, j *journal.Journal, path, before, after string, keeps bool) {
	t.Helper()
	old := journal.ImageOf([]byte(before))
	e := journal.Entry{ID: journal.NewID(time.Now()), Time: time.Now(), Session: "many", Command: "append",
		Backend: "embedded", Steps: []journal.Step{{Path: path, Before: old, After: journal.ImageOf([]byte(after))}}}
	if !keeps { // a move keeps no text
		e.Steps[0] = journal.Step{Path: path, From: path, Before: old, After: old}
	}
	content := func(journal.Step) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(before)), nil }
	require.NoError(t, j.Begin(e, content))
	o := journal.Outcome{State: journal.Done}
	if !keeps {
		o.After = []journal.Image{journal.ImageOf([]byte(after))}
	}
	require.NoError(t, j.End(e.ID, o))
}

// More changes than are taken back together are taken back in portions, each of which says how many are left; one that was
// changed since, or whose text is not kept any more, is left out of them and counted.
func TestManyChangesAreUndoneInPortions(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "", "changed.md": "of another program", "unkept.md": "after"})
	h.Does("version")
	j := h.Journal()
	const all = 1100
	text := func(n int) string { return fmt.Sprintf("%0*d", n%7+1, n) }
	for n := range all {
		keepChange(t, j, "a.md", text(n), text(n+1), true)
	}
	keepChange(t, j, "changed.md", "old", "new", true)
	keepChange(t, j, "unkept.md", "before", "after", false)
	h.Put("a.md", text(all))
	id := h.Changes()[0]
	status, out, notice := h.Run("--facts", "undo", "session="+id)
	require.Equal(t, status, answer.ExitDone, "%.300s", out)
	const want = "1000 of 1102 changes are undone; 1 are left as they are, because their notes were changed since; " +
		"1 are left as they are, because their texts are no longer kept; 100 older ones are left, which the same call takes back next"
	assert.That(t, strings.Contains(notice, want), "%s", notice)
	assert.Equal(t, h.Get("a.md"), text(all-1000))
	status, out, notice = h.Run("--facts", "undo", "session="+id)
	require.Equal(t, status, answer.ExitDone, "%.300s", out)
	assert.Contains(t, notice, "100 of 102 changes are undone; 1 are left")
	assert.That(t, !strings.Contains(notice, "older ones"), "%s", notice)
	assert.Equal(t, h.Get("a.md"), text(0))
	assert.Equal(t, h.Get("changed.md")+h.Get("unkept.md"), "of another programafter")
}
