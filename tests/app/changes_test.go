package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

type changeOfApp struct {
	command string
	pairs   []string
	path    string // of the note that is changed
	writes  string // "app", "embedded", or "" where the call is refused
	says    string // what an app prints that does nothing
}

// changesOfApp are the commands of the app that change notes, as docs/vault.md has them. Who writes is the app, and what
// proves the change is that the notes are read back; or it is the embedded CLI, and nothing is asked of the app but what the
// last column of that table says.
var changesOfApp = []changeOfApp{
	{"daily", nil, appToday + ".md", "app", ""},
	{"daily:append", []string{"content", "new"}, appToday + ".md", "app", "Added to: " + appToday + ".md\n"},
	{"daily:prepend", []string{"content", "new"}, appToday + ".md", "app", "Added to: " + appToday + ".md\n"},
	{"create", []string{"path", "N/New.md", "content", "text"}, "N/New.md", "app", "Created: N/New.md\n"},
	{"append", []string{"path", "Plain.md", "content", "new"}, "Plain.md", "app", "Appended to: Plain.md\n"},
	{"prepend", []string{"path", "Plain.md", "content", "new"}, "Plain.md", "app", "Prepended to: Plain.md\n"},
	{"delete", []string{"path", "Plain.md"}, "Plain.md", "app", "Moved to trash: Plain.md\n"},
	{"property:set", []string{"path", "Plan.md", "name", "due", "value", "x"}, "Plan.md", "app", "Set due: x\n"},
	{"property:remove", []string{"path", "Plan.md", "name", "n"}, "Plan.md", "app", "Removed: n\n"},
	{"task", []string{"path", "Plan.md", "line", "9", "done", "true"}, "Plan.md", "app", "- [x] task\n"},
	{"base:create", []string{"path", "B.base", "name", "In base", "content", "text"}, "In base.md", "app", "Created: In base.md\n"},
	{"unique", []string{"content", "text"}, "Inbox/202611211042.md", "app", "Created: Inbox/202611211042.md\n"},
	{"bookmark", []string{"file", "Plain.md"}, ".obsidian/bookmarks.json", "app", ""},
	{"move", []string{"path", "Plain.md", "to", "N/Plain.md"}, "N/Plain.md", "embedded", ""},
	{"rename", []string{"path", "Plain.md", "name", "Goal"}, "Goal.md", "embedded", ""},
	{"history:restore", []string{"path", "Plain.md", "version", "1"}, "Plain.md", "embedded", ""},
	{"sync:restore", []string{"path", "Plain.md", "version", "1"}, "Plain.md", "embedded", ""},
	{"template:insert", []string{"name", "T"}, "", "", ""},
	{"workspace:delete", []string{"name", "Layout"}, "", "", ""}, // of the settings of the app
}

func vaultOfChanges(t *testing.T) *appVault {
	t.Helper()
	a := newAppVault(t, appNotes)
	a.put("B.base", "views:\n  - type: table\n    name: All\n")
	a.history = map[string][]string{"Plain.md": {"an older text\n"}}
	a.sync = a.history
	a.tell(false)
	return a.serve(howNamed[0].settings, "--tier=v3")
}

// Every change of the app is journaled before and compared after: the change is named, undo brings back what was there, and
// an app that does nothing and says that it did is not believed.
func TestEveryChangeOfTheApp(t *testing.T) {
	t.Parallel()
	a := vaultOfChanges(t)
	for _, c := range changesOfApp {
		if c.writes == "" {
			continue
		}
		before := a.get(c.path)
		calls := len(a.called())
		got := a.do(c.command, c.pairs...)
		if !got.OK || got.Change == nil {
			t.Errorf("%s: %+v, %+v", c.command, got, got.Error)
			continue
		}
		assert.That(t, a.get(c.path) != before, "%s changes nothing of %s", c.command, c.path)
		isSettings := strings.HasPrefix(c.path, ".")
		assert.That(t, got.Path == c.path || isSettings, "%s: the path is %q, want %q", c.command, got.Path, c.path)
		wrote := slices.ContainsFunc(a.called()[calls:], func(call string) bool { return strings.HasPrefix(call, c.command) })
		assert.Equal(t, wrote, c.writes == "app", "%s: whether the app was asked to do it", c.command)
		back := a.do("undo", "id", got.Change.ID)
		assert.That(t, back.OK, "%s: undo: %+v, the note is %q", c.command, back.Error, a.get(c.path))
		assert.Equal(t, a.get(c.path), before, "%s: undo: %+v, the note is %q", c.command, back.Error, a.get(c.path))
		if c.writes != "app" {
			continue
		}
		a.tell(false, appFault{Command: c.command, Kind: "says", Text: c.says})
		idle := a.do(c.command, c.pairs...)
		assert.Equal(t, harness.CodeOf(idle), "not_applied", "%s, by an app that does nothing: %+v", c.command, idle)
		assert.That(t, idle.Change == nil, "%s, by an app that does nothing: %+v", c.command, idle.Change)
		assert.Equal(t, a.get(c.path), before, "%s, by an app that does nothing: %+v", c.command, idle.Change)
		a.tell(false)
	}
}

// TestTheMinuteOfAUniqueNotePasses: between the plan and the app, whose new note has another name then. It is looked for under
// that name, too.
func TestTheMinuteOfAUniqueNotePasses(t *testing.T) {
	t.Parallel()
	const planned, later = "Inbox/202611211042.md", "Inbox/202611211043.md"
	for _, test := range []struct {
		name  string
		pairs []string
		text  string // of the note
		fault appFault
	}{
		{"with a text", []string{"content", "text"}, "text", appFault{}},
		{"without a text", nil, "", appFault{}},
		{"which the app does not confirm", []string{"content", "text"}, "text", appFault{Kind: "does it and says", Text: "Done.\n"}},
		{"whose client dies", []string{"content", "text"}, "text", appFault{Kind: "crashes"}},
		{"whose client is gone", []string{"content", "text"}, "text", appFault{Kind: "does it when the client is gone"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newAppVault(t, appNotes)
			a.minute = "1043"
			var faults []appFault
			if test.fault.Kind != "" {
				test.fault.Command = "unique"
				faults = append(faults, test.fault)
			}
			a.tell(false, faults...)
			a.serve(howNamed[0].settings, "--tier=v3", "--timeout=6s")
			got := a.do("unique", test.pairs...)
			require.That(t, got.OK, "%+v, %+v", got, got.Error)
			require.That(t, got.Change != nil, "%+v, %+v", got, got.Error)
			assert.Equal(t, got.Path, later, "the path")
			assert.Equal(t, a.get(later), test.text, "the note")
			assert.Equal(t, a.get(planned), "(missing)", "the planned note")
			assert.Contains(t, strings.Join(got.Notices, "\n"), `the note is `+later+` and not `+planned, "the notices")
			listed := a.do("undo:list")
			assert.Contains(t, listed.Stdout, "unique\t"+later+"\n", "the changes that can be undone")
			back := a.do("undo", "id", got.Change.ID)
			assert.That(t, back.OK, "undo: %+v", back.Error)
			assert.Equal(t, a.get(later), "(missing)", "undo: %+v", back.Error)
		})
	}
}

// TestANoteOfTheNextMinuteThatIsNotOurs: one that was there before, or has another text, is not taken for the new one.
func TestANoteOfTheNextMinuteThatIsNotOurs(t *testing.T) {
	t.Parallel()
	const later = "Inbox/202611211043.md"
	for name, text := range map[string]string{"one from before": "text", "another text": "something else\n"} {
		a := newAppVault(t, appNotes)
		a.put(later, text)
		hourAgo := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(a.dir, later), hourAgo, hourAgo))
		fault := appFault{Command: "unique", Kind: "says", Text: "Created: " + later + "\n"}
		if name == "another text" {
			fault = appFault{Command: "unique", Kind: "does something else", Path: later, Text: text}
		}
		a.minute = "1043"
		a.tell(false, fault)
		a.serve(howNamed[0].settings, "--tier=v3")
		got := a.do("unique", "content", "text")
		assert.Equal(t, harness.CodeOf(got), "outcome_unknown", "%s: %+v", name, got)
		assert.That(t, got.Change == nil, "%s: %+v, the note is %q", name, got.Change, a.get(later))
		assert.Equal(t, a.get(later), text, "%s: %+v, the note is %q", name, got.Change, a.get(later))
	}
}

// The table has every command of the app that can change a note, here and in the documentation.
func TestTheTableOfChangesIsWhole(t *testing.T) {
	t.Parallel()
	text := string(require.Value(os.ReadFile("../../docs/vault.md"))(t))
	_, section, _ := strings.Cut(text, "## Changes through the app")
	for c := range allowlist.Commands() {
		changes := c.Worst == tiers.Writes || c.Worst == tiers.Destroys
		if !changes || c.EmbeddedOnly || c.Tier == tiers.Restricted {
			continue
		}
		isListed := false
		for _, row := range changesOfApp {
			isListed = isListed || row.command == c.Name
		}
		assert.That(t, isListed, "%s is in no row", c.Name)
		assert.Contains(t, section, "`"+c.Name+"`", "the section of docs/vault.md")
	}
}
