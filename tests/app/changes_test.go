package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/rig"
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
		assert.That(t, back.OK && a.get(c.path) == before, "%s: undo: %+v, the note is %q", c.command, back.Error, a.get(c.path))
		if c.writes != "app" {
			continue
		}
		a.tell(false, appFault{Command: c.command, Kind: "says", Text: c.says})
		idle := a.do(c.command, c.pairs...)
		assert.Equal(t, rig.CodeOf(idle), "not_applied", "%s, by an app that does nothing: %+v", c.command, idle)
		assert.That(t, idle.Change == nil && a.get(c.path) == before, "%s, by an app that does nothing: %+v", c.command, idle.Change)
		a.tell(false)
	}
	// The minute may pass between the plan and the app, whose new note has another name then.
	a.tell(false, appFault{Command: "unique", Kind: "says", Text: "Created: Inbox/202611211043.md\n"})
	other := a.do("unique", "content", "text")
	assert.Equal(t, rig.CodeOf(other), "outcome_unknown", "another name: %+v", other)
	assert.Contains(t, other.Error.Message, "Inbox/202611211043.md", "the message")
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
