package page

import (
	"fmt"
	"net/url"
	osexec "os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// granted returns a program with an agent that may add to and create notes without asking.
func granted(t *testing.T) (r *harness.Program, id string) {
	t.Helper()
	r = newProgram(t)
	r.Set("confirm", `"writes"`)
	r.Tables = "[agents.nightly]\ntier = \"v1\"\nallow-mutations = true\n"
	r.Save()
	program := osexec.Command(harness.Binary, "grant", "--agent", "nightly", "--commands", "append,create", "--in", "Work/",
		"--notes", "100", "--changes", "200", "--for", "2h")
	program.Env = []string{"HOME=" + r.Home, "PATH=", "TERM=xterm"}
	shown, err := harness.AtTerminal(t, program, "yes\n")
	require.That(t, err == nil, "%v\n%s", err, shown)
	list := r.Must("grants")
	return r, regexp.MustCompile(`g-[a-z2-7]{10}`).FindString(list)
}

// What was changed under grants is one difference a note, on the page; each change is taken back by itself, and what the
// owner has looked at is not shown again.
func TestANightIsReviewedOnThePage(t *testing.T) {
	r, id := granted(t)
	v := open(r)
	lacks(t, v.See(""), "Review what was changed")
	has(t, v.See("review"), "Nothing that is in effect was changed under a grant")
	by := []string{"run", "--agent", "nightly"}
	r.Must(append(by, "append", "path=Work/Plan.md", "content=<b>three</b>")...)
	r.Must(append(by, "append", "path=Work/Plan.md", "content=four")...)
	r.Must(append(by, "create", "path=Work/New & old.md", "content=made at night")...)
	has(t, v.See(""), "Review what was changed under your grants in Notes", "3 changes since the last review")
	has(t, v.See("agents"), "Review what nightly changed under grants in Notes", "3 changes since the last review", "review?grant="+id)
	view := v.See("review")
	has(t, view, "3 changes of 2 notes", "&lt;b&gt;three&lt;/b&gt;", "four", "Work/New &amp; old.md", "made at night", "by nightly", id, "Take back all 2")
	lacks(t, view, "<b>three", "New & old")
	assert.Equal(t, strings.Count(view, `<section class="file"`), 2, "one difference a note")
	for _, other := range []string{"review?who=nightly", "review?grant=" + id} {
		has(t, v.See(other), "3 changes of 2 notes")
	}
	lacks(t, v.See("review?who=nightly"), "I have looked at these")
	has(t, v.See("review?who=another"), "Nothing that is in effect")
	body := v.undo(view, "create of Work")
	has(t, body, "Undone.", "2 changes of 1 note")
	assert.Equal(t, r.Read("Work/New & old.md"), "", "the note that was made is gone")
	body = v.undo(v.See("review"), "Take back<span class=\"hidden\"> append of Work/Plan.md")
	has(t, body, "1 change of 1 note")
	assert.Equal(t, r.Read("Work/Plan.md"), "one\ntwo\n<b>three</b>", "the last of them is taken back")
	view = v.See("review")
	status, refused := v.send(view, "review/seen", url.Values{"until": {"2999-01-01T00:00:00Z"}})
	assert.Equal(t, status, 422)
	has(t, refused, "the view is of another time")
	status, _ = v.send(view, "review/seen", url.Values{"token": {"forged"}})
	assert.Equal(t, status, 403)
	r.Must(append(by, "append", "path=Work/Plan.md", "content=later")...)
	_, body = v.send(view, "review/seen", nil)
	has(t, body, "Reviewed. The next review begins here.", "1 change of 1 note", "later")
	assert.Contains(t, r.Must("review"), "later", "the terminal begins there, too")
	has(t, v.See("review?grant="+id), "2 changes of 1 note")
}

// A night of many notes is read in parts, and the last of them ends the review.
func TestALongReviewIsReadInParts(t *testing.T) {
	r, _ := granted(t)
	v := open(r)
	var operations []string
	for i := range 45 {
		operations = append(operations, fmt.Sprintf("create path=Work/N%02d.md content=text-%02d", i, i))
	}
	for _, line := range operations {
		r.Must(append([]string{"run", "--agent", "nightly"}, strings.Fields(line)...)...)
	}
	first := v.See("review")
	has(t, first, "45 changes of 45 notes", "text-00", "text-19", "part=2")
	lacks(t, first, "text-20", "I have looked at these")
	last := v.See("review?part=3")
	has(t, last, "text-40", "text-44", "part=2", "I have looked at these")
	lacks(t, last, "text-39", "part=4")
}
