package page

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// notesOf is a vault with some notes that have one line each.
func notesOf(count int) map[string]string {
	notes := map[string]string{}
	for i := range count {
		notes[fmt.Sprintf("Note %03d.md", i)] = "one\n"
	}
	return notes
}

// appendTo appends a line to the notes of [notesOf] from one up to another, in batches.
func appendTo(t *testing.T, client *harness.Client, from, to int) {
	t.Helper()
	const atOnce = 20 // more of them are destructive
	for ; from < to; from += atOnce {
		var calls []harness.Call
		for i := from; i < min(to, from+atOnce); i++ {
			calls = append(calls, harness.Calling("append", fmt.Sprintf("path=Note %03d.md", i), "content=two"))
		}
		require.That(t, client.Batch(calls...).OK, "the batch from %d on", from)
	}
}

// changedNotes counts the notes of [notesOf] that are not as they were.
func changedNotes(r *harness.Program, count int) (changed int) {
	for i := range count {
		if r.Read(fmt.Sprintf("Note %03d.md", i)) != "one\n" {
			changed++
		}
	}
	return changed
}

// The figures, the sentence and the undo are about all changes of a day, and lists have the rest on further pages.
func TestAllChangesOfADayCount(t *testing.T) {
	t.Parallel()
	const notes = 68
	r := harness.New(t, notesOf(notes))
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(false, "")
	appendTo(t, client, 0, notes)
	view := v.See("")
	has(t, view, "t changed 68 notes.", "Undo all 68", "and 48 more")
	assert.Equal(t, strings.Count(view, `class="note-link"`), 20, "changes that are listed")
	has(t, v.See("agents"), "<dt>Notes changed</dt><dd>68</dd>")
	further := regexp.MustCompile(`changes\?[^"]*day=[^"]*`).FindString(view)
	first := v.See(strings.ReplaceAll(further, "&amp;", "&"))
	older := regexp.MustCompile(`changes\?[^"]*before=[^"]*`).FindString(first)
	second := v.See(strings.ReplaceAll(older, "&amp;", "&"))
	assert.Equal(t, strings.Count(first, `id="g-`)+strings.Count(second, `id="g-`), notes, "changes on two pages")

	r.Write("Note 007.md", "by hand\n")
	done := v.undo(view, "Undo all 68")
	has(t, done, "67 changes undone.", "Not undone, because changed since: Note 007.md.", "t changed 1 note.", "Redo all 67")
	assert.Equal(t, changedNotes(r, notes), 1, "notes that are not as they were")
	again := v.undo(done, "redo-day")
	has(t, again, "67 changes done again.", "t changed 68 notes.", "Undo all 68")
	assert.Equal(t, changedNotes(r, notes), notes, "notes that are changed again")
}

// What was changed since by hand is named in both directions, and an undo of nothing does not say that anything was undone.
func TestAnUndoOfManySaysWhatItLeaves(t *testing.T) {
	t.Parallel()
	r := harness.New(t, notesOf(3))
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(false, "")
	appendTo(t, client, 0, 3)
	undone := v.undo(v.See(""), "Undo all 3")
	has(t, undone, "3 changes undone.")
	r.Write("Note 001.md", "by hand\n")
	none := v.undo(undone, "redo-day")
	lacks(t, none, "done again.", "Nothing was undone")
	has(t, none, "Note 001.md", "was changed since", "Nothing was done again", "what was undone together is done again together")
	r.Write("Note 001.md", "one\n")
	has(t, v.undo(v.See(""), "redo-day"), "3 changes done again.")
	for i := range 3 {
		r.Write(fmt.Sprintf("Note %03d.md", i), "by hand\n")
	}
	none = v.undo(v.See(""), "Undo all 3")
	lacks(t, none, ">Undone.", "changes undone.")
	has(t, none, "was changed since", "Nothing was undone", "change the note yourself in Obsidian")
	assert.Equal(t, changedNotes(r, 3), 3, "notes that were changed by hand")
}

// What was undone together is done again together, and the buttons of each of the changes say so.
func TestAToggleOfSeveralChangesSaysSo(t *testing.T) {
	t.Parallel()
	r := harness.New(t, notesOf(4))
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(false, "")
	appendTo(t, client, 0, 3)
	view := v.undo(v.See(""), "Undo all 3")
	assert.Equal(t, strings.Count(view, ">Redo with 2 others<"), 3, "buttons that say what they do")
	again := v.undo(view, ">Redo with 2 others<")
	has(t, again, "3 changes done again.")
	assert.Equal(t, strings.Count(again, ">Undo with 2 others<"), 3, "buttons that say what they do")
	one := regexp.MustCompile(`changes/one/[^"]*`).FindString(again)
	has(t, v.See(strings.ReplaceAll(one, "&amp;", "&")), "Undo this change with 2 others")
	has(t, v.undo(again, ">Undo with 2 others<"), "3 changes undone.")
	client.Do(harness.Calling("append", "path=Note 003.md", "content=x"))
	has(t, v.See(""), ">Undo<")
}

// More changes than one undo takes back are taken back by several, and each says how many it was about and how many are
// left.
func TestAnUndoOfMoreThanOneTakesBack(t *testing.T) {
	t.Parallel()
	testenv.OnlyLong(t)
	const notes = 1030
	r := harness.New(t, notesOf(notes))
	r.Zone = harness.ZoneAtNoon()
	r.Set("rate", "0")
	r.Set("rate-mutations", "0")
	r.Set("rate-mutations-hour", "0")
	v, client := open(r), r.Stdio(false, "")
	appendTo(t, client, 0, notes)
	view := v.See("")
	has(t, view, "t changed 1030 notes.", "Undo all 1030")
	view = v.undo(view, "Undo all 1030")
	has(t, view, "1000 changes undone.", "30 more are left: undo again.", "t changed 30 notes.")
	assert.Equal(t, changedNotes(r, notes), 30, "notes that are not as they were")
	has(t, v.undo(view, "Undo all 30"), "30 changes undone.")
	assert.Equal(t, changedNotes(r, notes), 0, "notes that are not as they were after the second undo")
}

// A batch of which the overview does not list all changes is told with all of them, and undone as one.
func TestABatchIsUndoneWhole(t *testing.T) {
	t.Parallel()
	const notes = 30
	r := harness.New(t, notesOf(notes))
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(false, "")
	appendTo(t, client, 0, notes) // batches of 20 and of 10, of which 20 changes are listed
	view := v.See("")
	has(t, view, "one batch of 20<", "one batch of 10<", "and 10 more")
	has(t, v.undo(view, "of 20 changes"), "20 changes undone.", "t changed 10 notes.")
	assert.Equal(t, changedNotes(r, notes), 10, "notes that are changed after the undo of the batch of 20")
}

// What is changed after a view was shown is not taken back by its form.
func TestTheUndoOfADayEndsWithTheView(t *testing.T) {
	t.Parallel()
	r := harness.New(t, notesOf(3))
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(false, "")
	appendTo(t, client, 0, 2)
	view := v.See("")
	appendTo(t, client, 2, 3)
	has(t, v.undo(view, "Undo all 2"), "2 changes undone.", "t changed 1 note.")
	assert.Equal(t, r.Read("Note 002.md"), "one\ntwo", "the note that was changed later")
	status, body := v.Fetch(http.MethodGet, v.Base+"changes?day=x&who=t", nil)
	assert.Equal(t, status, http.StatusOK, "a day that is none")
	assert.That(t, strings.Count(body, `id="g-`) >= 3, "a day that is none")
}

// One change of many files has its lines as any other.
func TestAChangeOfManyFilesHasItsLines(t *testing.T) {
	t.Parallel()
	const notes = 25
	all := notesOf(notes)
	for name := range all {
		all[name] = "about #old\n"
	}
	r := harness.New(t, all)
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(true, "")
	r.Set("confirm", `"never"`)
	renamed := client.Do(harness.Calling("tag:rename", "name=old", "to=new"))
	if !renamed.OK {
		v.send(v.See("approvals"), "approvals/approve", nil)
		renamed = client.Do(harness.Calling("tag:rename", "name=old", "to=new"))
	}
	require.That(t, renamed.OK, "%+v", renamed)
	has(t, v.See(""), "and 24 more", "+25", "−25")
	has(t, v.See("changes"), "+25", "−25")
	has(t, v.See("changes/one/"+renamed.Change.ID+"?vault=Notes"), "+25", "−25")
}

// Whatever a client calls itself, its changes are found under the name of its calls.
func TestChangesAreUnderTheNameOfTheClient(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("long ", 30) + "end", "two  blanks", `a\b`, "line\nbreak", "\u202eother"} {
		r := harness.New(t, notesOf(2))
		r.Zone = harness.ZoneAtNoon()
		r.Client = name
		v, client := open(r), r.Stdio(false, "")
		appendTo(t, client, 0, 2)
		view := v.See("")
		has(t, view, " changed 2 notes.", "Undo all 2")
		has(t, v.See("agents"), "<dt>Notes changed</dt><dd>2</dd>")
		has(t, v.undo(view, "Undo all 2"), "2 changes undone.")
		assert.Equal(t, changedNotes(r, 2), 0, "%q: notes that are not as they were", name)
	}
}

// The calls of a process have different ids, whichever part of it has sent them.
func TestEachCallHasItsID(t *testing.T) {
	t.Parallel()
	r, v, client := begin(t)
	client.Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	v.undo(v.See(""), "Undo")
	v.check()
	ids := map[string]string{}
	for _, line := range auditLines(r, "") {
		if line.Call == "" {
			continue
		}
		other, known := ids[line.Call]
		assert.That(t, !known || other == line.Command, "%s is the id of %s and of %s", line.Call, other, line.Command)
		ids[line.Call] = line.Command
	}
	has(t, v.See("activity"), ">undid a change<")
}

// The calls of all agents of a server count to its line.
func TestTheCallsOfAgentsCountToTheirServer(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Tables = "[agents.ann]\ntier = \"v1\"\nallow-mutations = true\n[agents.bob]\ntier = \"v1\"\n"
	r.Save()
	tokens := map[string]string{}
	for _, name := range []string{"ann", "bob"} {
		tokens[name] = strings.TrimSpace(r.Must("agent", "add", name))
	}
	v, server := open(r), r.OverHTTP()
	for _, name := range []string{"bob", "ann", "ann"} {
		r.Session(server, tokens[name]).Do(harness.Calling("read", "path=Bread.md"))
	}
	has(t, v.See(""), ">ann</a> (", ", 3 calls in the last minute)")
	lacks(t, v.See(""), "no call yet")
}

// shownCounts are the numbers of a view that follow a text.
func shownCount(t *testing.T, view, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(view)
	require.That(t, found != nil, "%q is not in %s", pattern, mainOf(view))
	return found[1]
}

// A batch that was approved and failed has each of its operations once: what ran, what failed, and what did not run.
func TestABatchIsToldOnce(t *testing.T) {
	t.Parallel()
	r := harness.New(t, notesOf(4))
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(false, "")
	calls := []harness.Call{
		harness.Calling("read", "path=Note 000.md"),
		harness.Calling("delete", "path=Note 001.md"),
		harness.Calling("read", "path=Missing.md"),
		harness.Calling("delete", "path=Note 002.md"),
		harness.Calling("read", "path=Note 003.md"),
	}
	atomic := func() gateway.BatchResult {
		arguments, result := harness.BatchOf(calls...), gateway.BatchResult{}
		arguments["atomic"] = true
		client.Tool("obsidianBatch", arguments, &result)
		return result
	}
	atomic()
	v.send(v.See("approvals"), "approvals/approve", nil)
	result := atomic()
	require.That(t, result.Summary.Skipped >= 2, "%+v", result.Summary)
	has(t, v.See("activity?command=delete"), ">delete <b>Note 002.md</b><", `<span class="outcome skipped">skipped</span>`)
	lacks(t, v.See("activity?command=delete"), ">deleted <b>Note 002.md</b><")
	has(t, v.See("activity?outcome=skipped"), "Note 002.md", "Note 003.md", ">2 calls<")
	has(t, v.See("agents"), "<dt>Notes read</dt><dd>1</dd>")
	shown := v.See("activity")
	assert.Equal(t, shownCount(t, shown, `<figcaption>(\d+) calls`), shownCount(t, shown, `<p class="faint">(\d+) calls`), "calls in the chart and in the list")
	has(t, shown, ">You", "approved a call of t: run several calls", "about approvals and the log itself")
	began := map[string]int{}
	for _, line := range auditLines(r, "") {
		if line.Decision == "ask" && line.Code == "unconfirmed" {
			began[line.Call]++
		}
	}
	assert.Equal(t, len(began), 4, "calls that asked: two operations, twice")
}

// What the owner decides is theirs, and a call that repeats what they declined was denied.
func TestWhatTheOwnerDeclinesIsDenied(t *testing.T) {
	t.Parallel()
	r, v, client := begin(t)
	call := harness.Calling("delete", "path=Bread.md")
	client.Do(call)
	has(t, v.See("activity"), `<span class="outcome asked">asked</span>`)
	v.send(v.See("approvals"), "approvals/deny", nil)
	client.Do(call)
	shown := v.See("activity")
	has(t, shown, "declined a call of t: delete", `<span class="outcome declined">declined</span>`, ">2 calls; 1 line about approvals and the log itself<")
	has(t, v.See("activity?outcome=denied"), ">1 call<", `<span class="outcome denied">denied</span>`)
	lacks(t, v.See("activity?who=t"), "declined a call")
	assert.That(t, r.Read("Bread.md") != "", "the note is gone")
}

// An agent that was revoked has no rights in its card, and revoking is confirmed where it says what ends.
func TestARevokedAgentMayDoNothing(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Tables = twoAgents
	r.Save()
	r.Must("agent", "add", "cursor")
	v := open(r)
	view := v.See("agents")
	has(t, view, `<summary id="revoke-title-cursor">Revoke`,
		"This ends the token of cursor, its sign-ins over HTTP, and its questions and approvals that wait.",
		"May call the commands of tier v1 and change notes")
	_, view = v.send(view, "agents/revoke", nil, `value="cursor"`)
	has(t, view, "cursor is revoked", "May do nothing")
	lacks(t, view, "May call the commands of tier v1")
}

// What waits is before what was answered, and many questions are folded to what they do.
func TestManyQuestionsAreFolded(t *testing.T) {
	t.Parallel()
	r := harness.New(t, notesOf(8))
	r.Zone = harness.ZoneAtNoon()
	v, client := open(r), r.Stdio(false, "")
	ask := func(from, to int) {
		for i := from; i < to; i++ {
			client.Do(harness.Calling("delete", fmt.Sprintf("path=Note %03d.md", i)))
		}
	}
	ask(0, 1)
	v.send(v.See("approvals"), "approvals/approve", nil)
	ask(1, 2)
	few := v.See("approvals")
	assert.That(t, strings.Index(few, "Note 001.md") < strings.Index(few, "Approved here, for one call"),
		"what was answered is before what waits: %s", mainOf(few))
	lacks(t, few, ">What changes<")
	ask(2, 5)
	many := v.See("approvals")
	assert.Equal(t, strings.Count(many, ">What changes<"), 4, "questions that are folded")
	assert.That(t, strings.Index(many, `id="many"`) < strings.Index(many, "Approved here, for one call"), "the bar for several is behind what was answered")
	lacks(t, many, "affects 1 note<")
	assert.Equal(t, strings.Count(many, "“t” asked "), 4, "questions that say who asks while they are folded")
	lacks(t, v.See(""), `id="waiting-rest"`)
	ask(5, 8)
	overview := v.See("")
	has(t, overview, `Waiting <span class="count">7</span>`, ">and 2 more<", "7 questions wait for you.")
	assert.Equal(t, strings.Count(overview, `id="w-`), 7, "questions of the overview")
}

// On a first run nothing speaks of filters, and the steps can be followed as they are.
func TestAFirstRun(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	v := open(r)
	has(t, v.See("activity"), "No agent has called yet.")
	lacks(t, v.See("activity"), "fewer filters")
	step := shownCount(t, v.See(""), `Run <code>vaultwicket (install [^<]*)</code>`)
	_, said, status := r.Run(strings.Fields(step)...)
	assert.That(t, status != 2, "%s: %d, %s", step, status, said)
	assert.NotContains(t, said, "no client given", "%s: %d", step, status)
}
