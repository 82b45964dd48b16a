package page

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// auditLines are the lines of the audit log about a command.
func auditLines(r *harness.Program, command string) (lines []audit.Line) {
	r.T.Helper()
	require.NoError(r.T, json.Unmarshal([]byte(r.Must("audit", "list", "--json", "--command", command)), &lines))
	return lines
}

func TestApproveOnThePage(t *testing.T) {
	r, v, client := begin(t)
	call := harness.Calling("delete", "path=Bread.md")
	require.Equal(t, harness.CodeOf(client.Do(call)), "unconfirmed")
	view := v.See("approvals")
	has(t, view, "<b>Delete &#34;Bread.md&#34; (vault &#34;Notes&#34;): −3 lines</b>",
		"Asked by a client that calls itself &#34;t&#34;.", `<span class="chip grave">−3 lines</span>`, ">1 note<",
		"flour</span>", "salt</span>")
	if _, body := v.send(view, "approvals/approve", nil); !strings.Contains(body, "Approved here, for one call") {
		t.Fatalf("approved: %s", body)
	}
	got := client.Do(call)
	assert.That(t, got.OK, "the approved call: %+v", got)
	assert.Equal(t, r.Read("Bread.md"), "", "the approved call: %+v", got)
	change := auditLines(r, "delete")[0].Change
	for _, line := range auditLines(r, "delete") {
		change = cmp.Or(change, line.Change)
	}
	has(t, v.See("approvals"), "Nothing is waiting", "Done, ", "changes/one/"+change+"?vault=Notes\">see the change</a>")
	by := map[string]string{}
	for _, line := range auditLines(r, "delete") {
		by[line.Kind+" "+line.Decision] = line.By
	}
	assert.Equal(t, by["approval approve"], "page", "the audit log says %v", by)
	assert.Equal(t, by["decision reply"], "page", "the audit log says %v", by)
	_, body := v.send(view, "approvals/approve", nil)
	assert.That(t, strings.Contains(body, "no approval has the code"), "a second time: %s", body)
}

func TestDenyOnThePage(t *testing.T) {
	r, v, client := begin(t)
	call := harness.Calling("delete", "path=Bread.md")
	client.Do(call)
	view := v.See("approvals")
	v.send(view, "approvals/deny", nil)
	got := client.Do(call)
	require.That(t, got.Error != nil, "the denied call: %+v", got)
	assert.Contains(t, got.Error.Message, "declined", "the denied call: %+v", got)
	assert.That(t, r.Read("Bread.md") != "", "the denied call: %+v", got)
	_, body := v.send(view, "approvals/approve", nil)
	assert.That(t, strings.Contains(body, "already answered: denied"), "approved after that: %s", body)
}

// What is confirmed is what was shown: a note that has changed since is shown again.
func TestUndoOnThePage(t *testing.T) {
	t.Parallel()
	r, v, client := begin(t)
	change := client.Do(harness.Calling("append", "path=Bread.md", "content=<i>yeast</i>")).Change
	path := "changes/one/" + change.ID + "?vault=Notes"
	view := v.See(path)
	has(t, view, "&lt;i&gt;yeast&lt;/i&gt;", "Undo this change")
	lacks(t, view, "<i>")
	asked := v.undo(view, `id="undo"`)
	has(t, asked, "Undone.")
	assert.Equal(t, r.Read("Bread.md"), "flour\nwater\nsalt\n", "the note")
	lacks(t, v.See(path), "Undo this change")
	for _, line := range auditLines(r, "undo") {
		assert.Equal(t, line.Client, "page", "%+v", line)
		assert.Equal(t, line.Surface, "page", "%+v", line)
	}

	// One that removes a note requires approval.
	created := client.Do(harness.Calling("create", "path=New.md", "content=hello")).Change
	_, asked = v.send(v.See("changes/one/"+created.ID+"?vault=Notes"), "changes/undo", nil, `id="undo"`)
	has(t, asked, "Undo this?", `New.md <span class="faint">deleted</span>`, "hello<span")
	_, wrong := v.send(asked, "changes/undo", url.Values{"confirm": {strings.Repeat("0", 64)}}, `name="confirm"`)
	assert.That(t, r.Read("New.md") != "", "undone without the right confirmation: %s", wrong)
	assert.Contains(t, wrong, `name="confirm"`, "undone without the right confirmation")
	_, done := v.send(asked, "changes/undo", nil, `name="confirm"`)
	has(t, done, "Undone.")
	assert.That(t, r.Read("New.md") == "", "the note exists")
}

func TestUndoABatchAndASession(t *testing.T) {
	t.Parallel()
	r, v, client := begin(t)
	batch := client.Batch(harness.Calling("append", "path=Bread.md", "content=a"), harness.Calling("append", "path=Work/Plan.md", "content=b"))
	require.That(t, batch.OK, "%+v", batch)
	first := regexp.MustCompile(`changes/one/[^"]+`)
	for _, what := range []string{"Undo the whole batch", "Undo all of this session"} {
		view := v.See(strings.ReplaceAll(first.FindString(v.See("changes")), "&amp;", "&"))
		body := v.undo(view, what)
		has(t, body, "2 changes undone.")
		assert.That(t, r.Read("Bread.md")+r.Read("Work/Plan.md") == "flour\nwater\nsalt\none\ntwo\n",
			"%s leaves %q and %q", what, r.Read("Bread.md"), r.Read("Work/Plan.md"))
		client.Do(harness.Calling("append", "path=Bread.md", "content=c"))
		client.Do(harness.Calling("append", "path=Bread.md", "content=d"))
	}
}

func TestUndoIsRefusedWhereChangesAreOff(t *testing.T) {
	r := newProgram(t)
	change := r.Stdio(false, "").Do(harness.Calling("append", "path=Bread.md", "content=a")).Change
	r.Set("allow-mutations", "false")
	v := open(r)
	_, body := v.send(v.See("changes/one/"+change.ID+"?vault=Notes"), "changes/undo", nil, `id="undo"`)
	has(t, body, "changes are disabled")
	assert.That(t, strings.HasSuffix(strings.TrimSpace(r.Read("Bread.md")), "a"), "it is undone")
}

// A note that was changed again keeps a change from being undone: the page names the later changes,
// and undoes them together. That works while agents are paused.
func TestLaterChangesOfANoteAreUndoneTogether(t *testing.T) {
	t.Parallel()
	r, v, client := begin(t)
	var first string
	for i, text := range []string{"a", "b", "c"} {
		change := client.Do(harness.Calling("append", "path=Bread.md", "content="+text)).Change
		if i == 0 {
			first = "changes/one/" + change.ID + "?vault=Notes"
		}
	}
	v.send(v.See(""), "pause/pause", nil)
	view := v.See(first)
	has(t, view, "<h1>Bread</h1>", "2 later changes touch this note:", "Undo all 3", "obsidian://open?vault=Notes&amp;file=Bread")
	_, refused := v.send(view, "changes/undo", nil, `id="undo"`)
	has(t, refused, "was changed since", "2 later changes touch this note:", "Undo all 3")
	done := v.undo(refused, "Undo all 3")
	has(t, done, "3 changes undone.", "Do it again")
	assert.Equal(t, r.Read("Bread.md"), "flour\nwater\nsalt\n", "the note")
	has(t, v.See(first+"&as=rendered"), "<p>flour")
}

// What was changed since is skipped by the undo of a session, and named.
func TestTheUndoOfASessionSkipsWhatWasChanged(t *testing.T) {
	r, v, client := begin(t)
	client.Do(harness.Calling("append", "path=Bread.md", "content=a"))
	change := client.Do(harness.Calling("append", "path=Work/Plan.md", "content=b")).Change
	r.Write("Bread.md", "by hand\n")
	done := v.undo(v.See("changes/one/"+change.ID+"?vault=Notes"), "Undo all of this session")
	has(t, done, "Undone. Not undone, because changed since: Bread.md.")
	assert.Equal(t, r.Read("Work/Plan.md"), "one\ntwo\n",
		"the notes are %q and %q", r.Read("Work/Plan.md"), r.Read("Bread.md"))
	assert.Equal(t, r.Read("Bread.md"), "by hand\n",
		"the notes are %q and %q", r.Read("Work/Plan.md"), r.Read("Bread.md"))
}

// Each agent is shown with its rights and what it did, and is paused and revoked there.
func TestAgentsOnThePage(t *testing.T) {
	r := newProgram(t)
	r.Tables = "[agents.cursor]\ntier = \"v1\"\nallow-mutations = true\n[agents.default]\ntier = \"v0\"\nallow-mutations = false\n"
	v := open(r)
	r.Flags = append(r.Flags, "--agent", "cursor")
	client := r.Stdio(false, "")
	client.Do(harness.Calling("append", "path=Bread.md", "content=a"))
	client.Do(harness.Calling("read", "path=Work/Plan.md"))
	view := v.See("agents")
	has(t, view, ">cursor <", "May call the commands of tier v1 and change notes",
		"May call the commands of tier v0 and may not change notes", "Client: t.", "Undo today’s changes in Notes",
		"<dt>Notes read</dt><dd>1</dd>", "<dt>Notes changed</dt><dd>1</dd>")
	code := func() string { return harness.CodeOf(client.Do(harness.Calling("read", "path=Bread.md"))) }
	_, view = v.send(view, "agents/pause", nil, `value="cursor"`)
	has(t, view, "cursor is paused.", `<span class="outcome paused">paused</span>`)
	assert.Equal(t, code(), "paused", "while it is paused")
	_, view = v.send(view, "agents/resume", nil, `value="cursor"`)
	assert.Equal(t, code(), "", "after that")
	view = v.undo(view, "Undo today’s changes")
	has(t, view, "Undone.", "<h1>Agents</h1>")
	assert.Equal(t, r.Read("Bread.md"), "flour\nwater\nsalt\n", "the note")
	_, view = v.send(view, "agents/revoke", nil, `value="cursor"`)
	has(t, view, "cursor is revoked")
	assert.Equal(t, code(), "agent_denied", "revoked")
	_, other := v.send(v.See("agents"), "agents/revoke", url.Values{"agent": {"../x"}})
	assert.That(t, strings.Contains(other, "no such agent"), "another name: %s", mainOf(other))
}

func TestPauseAndResumeOnThePage(t *testing.T) {
	r, v, client := begin(t)
	code := func() string { return harness.CodeOf(client.Do(harness.Calling("read", "path=Bread.md"))) }
	require.That(t, code() == "", "is paused before")
	client.Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	_, body := v.send(v.See("activity"), "pause/pause", nil)
	has(t, body, ">Paused <", "Every running server denies", "Resume")
	assert.That(t, code() == "paused", "a call is let through")
	body = v.undo(v.See(""), "")
	if has(t, body, "Undone.", ">Paused <"); r.Read("Bread.md") != "flour\nwater\nsalt\n" {
		t.Errorf("while paused a change is not undone: %q", r.Read("Bread.md"))
	}
	v.send(v.See(""), "pause/resume", nil)
	assert.That(t, code() == "", "is still paused")
}
