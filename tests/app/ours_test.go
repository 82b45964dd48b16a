package app

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// A change of which the app would make a part only is made by the embedded CLI as a whole,
// and refused where only the app may be asked.
func TestAChangeThatTheAppMakesInPart(t *testing.T) {
	t.Parallel()
	const note = "- [ ] mow 🔁 every week 📅 2026-11-20\n- [ ] other\n"
	pairs := []string{"ref", "Tasks.md:1", "done", "true"}

	a := newAppVault(t, map[string]string{"Tasks.md": note})
	a.serve(howNamed[0].settings, "--backend=auto")
	got := a.do("task", pairs...)
	want := "- [ ] mow 🔁 every week 📅 2026-11-27\n- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21\n- [ ] other\n"
	if !got.OK || got.Backend != "embedded" || a.get("Tasks.md") != want ||
		!strings.Contains(strings.Join(got.Notices, "\n"), "answered by the embedded backend") {
		t.Errorf("got %+v, %+v, the note is %q", got, got.Error, a.get("Tasks.md"))
	}
	back := a.do("undo")
	assert.That(t, back.OK, "undo: %+v, the note is %q", back.Error, a.get("Tasks.md"))
	assert.Equal(t, a.get("Tasks.md"), note, "undo: %+v, the note is %q", back.Error, a.get("Tasks.md"))
	other := a.do("task", "ref", "Tasks.md:2", "done", "true")
	assert.That(t, other.OK, "a task that does not recur: %+v, %+v", other, other.Error)
	assert.Equal(t, other.Backend, "obsidian", "a task that does not recur: %+v, %+v", other, other.Error)

	alone := newAppVault(t, map[string]string{"Tasks.md": note})
	alone.serve(howNamed[0].settings)
	got = alone.do("task", pairs...)
	if got.OK || alone.get("Tasks.md") != note || !strings.Contains(got.Error.Hint, "the user can set backend to auto") {
		t.Errorf("got %+v, %+v, the note is %q", got, got.Error, alone.get("Tasks.md"))
	}
}

func TestTodayWhereADayBeginsLater(t *testing.T) {
	t.Parallel()
	a := newAppVault(t, map[string]string{"2026-11-20.md": "late\n", "2026-11-21.md": "early\n"})
	a.serve(howNamed[0].settings, "--day-start=12")
	if got := a.do("daily:read"); !got.OK || got.Backend != "embedded" || got.Path != "2026-11-20.md" {
		t.Errorf("got %+v, %+v", got, got.Error)
	}
	if got := a.do("daily:append", "content", "more"); !got.OK || got.Backend != "embedded" || a.get("2026-11-20.md") != "late\nmore" {
		t.Errorf("got %+v, %+v, the note is %q", got, got.Error, a.get("2026-11-20.md"))
	}
	b := newAppVault(t, map[string]string{"2026-11-21.md": "early\n"})
	b.serve(howNamed[0].settings, "--day-start=4")
	got := b.do("daily:read")
	assert.That(t, got.OK, "got %+v, %+v", got, got.Error)
	assert.Equal(t, got.Backend, "embedded", "got %+v, %+v", got, got.Error)
	assert.Equal(t, got.Path, "2026-11-21.md", "got %+v, %+v", got, got.Error)
}
