package page

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/tests/rig"
)

// auditLines are the lines of the audit log about a command.
func auditLines(r *rig.Rig, command string) (lines []audit.Line) {
	r.T.Helper()
	if err := json.Unmarshal([]byte(r.Must("audit", "list", "--json", "--command", command)), &lines); err != nil {
		r.T.Fatal(err)
	}
	return lines
}

func TestApproveOnThePage(t *testing.T) {
	r := newRig(t)
	v := open(r)
	client := r.Stdio(false, "")
	call := rig.Calling("delete", "path=Bread.md")
	if got := client.Do(call); got.Error == nil || got.Error.Code != "unconfirmed" {
		t.Fatalf("%+v", got)
	}
	view := v.see("approvals")
	has(t, view, "t wants to <b>delete</b> Bread.md", `<span class="chip grave">−3 lines</span>`, ">1 note<", "flour</span>", "salt</span>")
	if _, body := v.send(view, "approvals/approve", nil); !strings.Contains(body, "Approved, for one call") {
		t.Fatalf("approved: %s", body)
	}
	if got := client.Do(call); !got.OK || r.Read("Bread.md") != "" {
		t.Errorf("the approved call: %+v", got)
	}
	change := auditLines(r, "delete")[0].Change
	for _, line := range auditLines(r, "delete") {
		change = cmp.Or(change, line.Change)
	}
	has(t, v.see("approvals"), "Nothing is waiting", "Done, ", "changes/one/"+change+"?vault=Notes\">see the change</a>")
	by := map[string]string{}
	for _, line := range auditLines(r, "delete") {
		by[line.Kind+" "+line.Decision] = line.By
	}
	if by["approval approve"] != "page" || by["decision reply"] != "page" {
		t.Errorf("the audit log says %v", by)
	}
	if _, body := v.send(view, "approvals/approve", nil); !strings.Contains(body, "no approval has the code") {
		t.Errorf("a second time: %s", body)
	}
}

func TestDenyOnThePage(t *testing.T) {
	r := newRig(t)
	v := open(r)
	client := r.Stdio(false, "")
	call := rig.Calling("delete", "path=Bread.md")
	client.Do(call)
	view := v.see("approvals")
	v.send(view, "approvals/deny", nil)
	if got := client.Do(call); got.Error == nil || !strings.Contains(got.Error.Message, "declined") || r.Read("Bread.md") == "" {
		t.Errorf("the denied call: %+v", got)
	}
	if _, body := v.send(view, "approvals/approve", nil); !strings.Contains(body, "already answered: denied") {
		t.Errorf("approved behind that: %s", body)
	}
}

// What is confirmed is what was shown: a note that has changed since is shown again.
func TestUndoOnThePage(t *testing.T) {
	r := newRig(t)
	v := open(r)
	client := r.Stdio(false, "")
	change := client.Do(rig.Calling("append", "path=Bread.md", "content=<i>yeast</i>")).Change
	path := "changes/one/" + change.ID + "?vault=Notes"
	view := v.see(path)
	has(t, view, "&lt;i&gt;yeast&lt;/i&gt;", "Undo this change")
	lacks(t, view, "<i>")
	_, asked := v.send(view, "changes/undo", nil, `id="undo"`)
	if strings.Contains(asked, "Undo this?") {
		_, asked = v.send(asked, "changes/undo", nil, `name="confirm"`)
	}
	has(t, asked, "Undone.")
	if r.Read("Bread.md") != "flour\nwater\nsalt\n" {
		t.Errorf("the note is %q", r.Read("Bread.md"))
	}
	lacks(t, v.see(path), "Undo this change")
	for _, line := range auditLines(r, "undo") {
		if line.Client != "page" || line.Surface != "page" {
			t.Errorf("%+v", line)
		}
	}

	// One that removes a note requires approval.
	created := client.Do(rig.Calling("create", "path=New.md", "content=hello")).Change
	_, asked = v.send(v.see("changes/one/"+created.ID+"?vault=Notes"), "changes/undo", nil, `id="undo"`)
	has(t, asked, "Undo this?", `New.md <span class="faint">deleted</span>`, "hello</span>")
	if _, wrong := v.send(asked, "changes/undo", url.Values{"confirm": {strings.Repeat("0", 64)}}, `name="confirm"`); r.Read("New.md") == "" || !strings.Contains(wrong, "Undo this?") {
		t.Errorf("undone without the right confirmation: %s", wrong)
	}
	_, done := v.send(asked, "changes/undo", nil, `name="confirm"`)
	has(t, done, "Undone.")
	if r.Read("New.md") != "" {
		t.Error("the note exists")
	}
}

func TestUndoABatchAndASession(t *testing.T) {
	r := newRig(t)
	v := open(r)
	client := r.Stdio(false, "")
	batch := client.Batch(rig.Calling("append", "path=Bread.md", "content=a"), rig.Calling("append", "path=Work/Plan.md", "content=b"))
	if !batch.OK {
		t.Fatalf("%+v", batch)
	}
	first := regexp.MustCompile(`changes/one/[^"]+`)
	for _, what := range []string{"undo-batch", "undo-session"} {
		view := v.see(strings.ReplaceAll(first.FindString(v.see("changes")), "&amp;", "&"))
		_, body := v.send(view, "changes/undo", nil, `id="`+what+`"`)
		if strings.Contains(body, "Undo this?") {
			_, body = v.send(body, "changes/undo", nil, `name="confirm"`)
		}
		has(t, body, "2 changes undone.")
		if r.Read("Bread.md")+r.Read("Work/Plan.md") != "flour\nwater\nsalt\none\ntwo\n" {
			t.Errorf("%s leaves %q and %q", what, r.Read("Bread.md"), r.Read("Work/Plan.md"))
		}
		client.Do(rig.Calling("append", "path=Bread.md", "content=c"))
		client.Do(rig.Calling("append", "path=Bread.md", "content=d"))
	}
}

// The page refuses what the terminal refuses.
func TestUndoIsRefusedWhereChangesAreOff(t *testing.T) {
	r := newRig(t)
	change := r.Stdio(false, "").Do(rig.Calling("append", "path=Bread.md", "content=a")).Change
	r.Set("allow-mutations", "false")
	v := open(r)
	_, body := v.send(v.see("changes/one/"+change.ID+"?vault=Notes"), "changes/undo", nil, `id="undo"`)
	has(t, body, "changes are disabled")
	if !strings.HasSuffix(strings.TrimSpace(r.Read("Bread.md")), "a") {
		t.Error("it is undone")
	}
}

func TestPauseAndResumeOnThePage(t *testing.T) {
	r := newRig(t)
	v := open(r)
	client := r.Stdio(false, "")
	code := func() string {
		got := client.Do(rig.Calling("read", "path=Bread.md"))
		if got.Error == nil {
			return ""
		}
		return got.Error.Code
	}
	if code() != "" {
		t.Fatal("is paused before")
	}
	_, body := v.send(v.see("activity"), "pause/pause", nil)
	has(t, body, "Paused. Every running server", "Resume")
	if code() != "paused" {
		t.Error("a call is let through")
	}
	v.send(v.see(""), "pause/resume", nil)
	if code() != "" {
		t.Error("is still paused")
	}
}
