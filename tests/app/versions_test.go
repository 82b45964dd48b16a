package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// restores are the commands that restore a version from a history of the app, with the command that reads it.
var restores = []struct{ restore, read, of string }{
	{"history:restore", "history:read", "of the file history of the app"},
	{"sync:restore", "sync:read", "of the history of Obsidian Sync"},
}

const ofTheApp, inJournal = "# The app's version\nmilk\n", "# Ours\n"

// versionedVault has a note of which the app keeps versions, and the journal another one.
func versionedVault(t *testing.T, flags ...string) *appVault {
	t.Helper()
	a := newAppVault(t, map[string]string{"Plan.md": inJournal})
	a.history = map[string][]string{"Plan.md": {"newest\n", ofTheApp}}
	a.sync = a.history
	a.tell(false)
	a.serve(howNamed[0].settings, append([]string{"--tier=v3"}, flags...)...)
	a.do("create", "path", "Plan.md", "content", "now\n", "overwrite", "true") // which a user is asked about in some tests
	return a
}

// A version of the app is restored from the history of the app: what is written is its text, the journal has what was
// there before, and undo brings it back. The app itself writes nothing.
func TestAVersionOfTheAppIsRestored(t *testing.T) {
	t.Parallel()
	for i, r := range restores {
		t.Run(r.restore, func(t *testing.T) {
			t.Parallel()
			a := versionedVault(t)
			a.heads = i == 1 // which is none of the text
			a.tell(false)
			got := a.do(r.restore, "path", "Plan.md", "version", "2")
			require.That(t, got.OK, "%+v, %+v", got, got.Error)
			require.That(t, got.Change != nil, "%+v, %+v", got, got.Error)
			assert.Equal(t, a.get("Plan.md"), ofTheApp, "the note")
			assert.Equal(t, got.Backend, "obsidian", "the backend")
			assert.Equal(t, got.Path, "Plan.md", "the path")
			assert.Contains(t, strings.Join(got.Notices, "\n"), "version 2 "+r.of, "the notices")
			assert.That(t, got.Hash == got.Change.After, "hash %s, change %+v", got.Hash, got.Change)
			called := a.called()
			assert.That(t, slices.Contains(called, r.read+" path=Plan.md version=2"), "the app got %q", called)
			assert.That(t, !strings.Contains(strings.Join(called, "\n"), "restore"), "the app got %q", called)
			back := a.do("undo", "id", got.Change.ID)
			assert.That(t, back.OK, "undo: %+v", back.Error)
			assert.Equal(t, a.get("Plan.md"), "now\n", "the note, undone")
		})
	}
}

// A head tells the text of a version from a sentence of the app, and which version it is.
func TestAVersionWithAHead(t *testing.T) {
	t.Parallel()
	const odd = "Error: is all that it says\n"
	for _, r := range restores {
		t.Run(r.restore, func(t *testing.T) {
			t.Parallel()
			a := versionedVault(t)
			a.heads = true
			a.history["Plan.md"] = []string{odd, ofTheApp}
			a.tell(false)
			read := a.do(r.read, "path", "Plan.md", "version", "1")
			assert.That(t, read.OK, "read: %+v, %+v", read, read.Error)
			assert.Equal(t, read.Stdout, odd, "read: %+v, %+v", read, read.Error)
			assert.Contains(t, strings.Join(read.Notices, "\n"), "the app answered with Plan.md (version 1, ", "the notices")
			got := a.do(r.restore, "path", "Plan.md", "version", "1")
			assert.That(t, got.OK, "restored: %+v, %+v, the note is %q", got, got.Error, a.get("Plan.md"))
			assert.Equal(t, a.get("Plan.md"), odd,
				"restored: %+v, %+v, the note is %q", got, got.Error, a.get("Plan.md"))
			before := a.get("Plan.md")
			for _, other := range []string{"Plan.md (version 1, today)", "Other.md (version 2, today)"} {
				a.tell(false, appFault{Command: r.read, Kind: "says", Text: other + "\n---\ntext\n"})
				got := a.do(r.restore, "path", "Plan.md", "version", "2")
				assert.Equal(t, harness.CodeOf(got), "cli_error", "%s: %+v, the note is %q", other, got, a.get("Plan.md"))
				assert.Equal(t, a.get("Plan.md"), before, "%s: %+v, the note is %q", other, got, a.get("Plan.md"))
			}
			a.tell(false)
		})
	}
}

// What the app does not have is not restored, whatever the journal has; what looks like a sentence of the app is no text.
func TestAVersionThatTheAppDoesNotHave(t *testing.T) {
	t.Parallel()
	for _, r := range restores {
		t.Run(r.restore, func(t *testing.T) {
			t.Parallel()
			a := versionedVault(t)
			for _, test := range []struct{ name, version, says, code string }{
				{"there is none of this number", "3", "", "not_found"},
				{"an error of a form that was never recorded", "1", "Error: Something about versions\n", "not_found"},
				{"a sentence", "1", "No versions available.\n", "not_found"},
				{"an exception", "1", "TypeError: Cannot read properties of undefined\n", "not_found"},
				{"nothing", "1", " ", "empty_output"},
			} {
				if test.says != "" {
					a.tell(false, appFault{Command: r.read, Kind: "says", Text: strings.TrimSpace(test.says)})
				}
				got := a.do(r.restore, "path", "Plan.md", "version", test.version)
				assert.Equal(t, harness.CodeOf(got), test.code, "%s: %+v", test.name, got)
				assert.Equal(t, a.get("Plan.md"), "now\n", "%s: the note", test.name)
			}
			a.tell(false)
			same := a.do(r.restore, "path", "Plan.md", "version", "2")
			require.That(t, same.OK, "%+v", same.Error)
			again := a.do(r.restore, "path", "Plan.md", "version", "2")
			require.That(t, again.OK, "what is there already: %+v, %+v", again, again.Error)
			require.That(t, again.Changed != nil, "what is there already: %+v, %+v", again, again.Error)
			assert.Equal(t, *again.Changed, 0, "what is there already: %+v, %+v", again, again.Error)
		})
	}
}

// A dry run shows the change that a run makes, and a user is asked about that: the text of the version that the app has.
func TestARestoredVersionIsShown(t *testing.T) {
	t.Parallel()
	a := versionedVault(t, "--confirm=destructive")
	a.put("Plan.md", "now\n")
	for _, r := range restores {
		a.ask("obsidianCli", r.restore, "path", "Plan.md", "version", "2", "-dryRun", "true")
		var plan gateway.DryRun
		unmarshalResult(t, a.receive(), &plan)
		assert.Equal(t, plan.Decision, "ask", "the decision about %s", r.restore)
		assert.Contains(t, plan.Diff, "-now", "the difference of %s", r.restore)
		assert.Contains(t, plan.Diff, "+milk", "the difference of %s", r.restore)
		assert.Contains(t, strings.Join(plan.Notices, "\n"), "restores version 2 "+r.of, "the notices of %s", r.restore)
		got := a.do(r.restore, "path", "Plan.md", "version", "2")
		require.Equal(t, harness.CodeOf(got), "unconfirmed", "%+v", got.Error)
		assert.Equal(t, a.get("Plan.md"), "now\n", "the note")
	}
}

// A note that does not end with a line break gets none: the app prints one at the end of every text.
func TestTheEndOfARestoredVersion(t *testing.T) {
	t.Parallel()
	a := versionedVault(t)
	a.history = map[string][]string{"Plan.md": {"old text"}, "Gone.md": {"gone"}}
	a.tell(false)
	a.put("Plan.md", "no end")
	got := a.do("history:restore", "path", "Plan.md", "version", "1")
	require.That(t, got.OK, "%+v", got.Error)
	assert.Equal(t, a.get("Plan.md"), "old text", "the note")
}

// Where the folder of the vault is not known the app restores the version by itself, and the note is looked at before and
// after.
func TestARestoredVersionWhereTheFolderIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		faults []appFault
		code   string
	}{
		"as it should":               {nil, ""},
		"it does nothing":            {[]appFault{{Command: "history:restore", Kind: "says", Text: ""}}, "not_applied"},
		"it restores something else": {[]appFault{{Command: "history:restore", Kind: "does something else", Text: "other\n"}}, "outcome_unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAppVault(t, map[string]string{"Plan.md": "now\n"})
			a.history = map[string][]string{"Plan.md": {ofTheApp}}
			a.tell(false, append([]appFault{{Command: "vault", Kind: "says", Text: "/nowhere/at/all\n"}}, test.faults...)...)
			a.serve("private-property = []\nprivate-tags = []\n# %q\n")
			got := a.do("history:restore", "path", "Plan.md", "version", "1")
			require.Equal(t, harness.CodeOf(got), test.code, "%+v", got)
			if test.code == "" {
				assert.Equal(t, a.get("Plan.md"), ofTheApp, "the note")
				assert.Contains(t, strings.Join(got.Notices, "\n"), "undo cannot take it back", "the notices")
			}
		})
	}
}
