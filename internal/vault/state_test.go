package vault

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/resident"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// factsOf are the facts of the answer to a call that succeeded.
func factsOf(t *testing.T, s said) protocol.Facts {
	t.Helper()
	require.That(t, s.end.Status == answer.ExitDone, "%+v", s)
	_, facts, _ := cutReport(s.stderr)
	return facts
}

// A worker leaves an answer out while the index is in the state that the caller knows, and
// in no other.
func TestAnAnswerOfAKnownStateIsLeftOut(t *testing.T) {
	h := sample(t)
	w := h.worker()
	first := w.ask(nil, "--facts", "tags", "counts")
	state := factsOf(t, first).State
	if state == "" {
		t.Skip("the folder cannot be watched here")
	}
	again := w.ask(nil, "--unless", state, "--facts", "tags", "counts")
	facts := factsOf(t, again)
	assert.That(t, again.stdout == "" && facts.Unchanged && facts.State == state, "nothing has changed: %+v", again)
	h.put("New.md", "#new\n")
	var changed said
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if changed = w.ask(nil, "--unless", state, "--facts", "tags", "counts"); changed.stdout != "" {
			break
		}
	}
	facts = factsOf(t, changed)
	if facts.Unchanged || facts.State == state || facts.State == "" || !strings.Contains(changed.stdout, "#new") || changed.stdout == first.stdout {
		t.Errorf("a note was made: %+v", changed)
	}
	assert.Equal(t, w.ask(nil, "--unless", state, "--facts", "tags", "counts").stdout, changed.stdout, "of an old state")
	require.Equal(t, w.ask(nil, "append", "path=New.md", "content=#newer").end.Status, answer.ExitDone)
	own := w.ask(nil, "--unless", facts.State, "--facts", "tags", "counts")
	assert.That(t, strings.Contains(own.stdout, "#newer"), "after a change of its own: %+v", own)
}

// The files that there are have a state where the index is current, and no index is made for it.
func TestStateOfTheFiles(t *testing.T) {
	h := sample(t)
	w := h.worker()
	var first said
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if first = w.ask(nil, "--facts", "files"); factsOf(t, first).State != "" {
			break // the call before had the index made
		}
	}
	state := factsOf(t, first).State
	if state == "" {
		t.Skip("the folder cannot be watched here")
	}
	again := w.ask(nil, "--unless", state, "--facts", "files")
	assert.That(t, again.stdout == "" && factsOf(t, again).Unchanged, "nothing has changed: %+v", again)
	h.put("Newer.md", "")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if changed := w.ask(nil, "--unless", state, "--facts", "files"); strings.Contains(changed.stdout, "Newer.md") {
			return
		}
	}
	t.Error("a file was made, and the state is the same")
}

// What depends on more than the index has no state, and what has none is always answered.
func TestStateIsOfTheIndexAlone(t *testing.T) {
	h := sample(t)
	w := h.worker()
	state := strings.Repeat("0", 16)
	for _, line := range []string{"read path=Moon.md", "folders", "tags active", "tasks active", "tasks daily", "random:read folder=One", "daily:path", "vault"} {
		got := w.ask(nil, append([]string{"--unless", state, "--facts"}, strings.Fields(line)...)...)
		facts := factsOf(t, got)
		assert.That(t, facts.State == "" && !facts.Unchanged && got.stdout != "", "%s: %+v", line, got)
	}
	_, _, stderr := h.run("--facts", "tags", "total")
	assert.That(t, !strings.Contains(stderr, "state"), "a process for one call has a state: %s", stderr)
	for _, other := range []string{"x", state + "0", strings.Repeat("G", 16)} {
		assert.That(t, w.ask(nil, "--unless", other, "--facts", "tags").stdout != "", "nothing is answered from the state %q", other)
	}
}

// A process that is locked in still answers everything about its vault, and
// tells of the wall.
func TestStatus(t *testing.T) {
	h := build(t, map[string]string{"a.md": "a"})
	h.env["HOME"] = t.TempDir()
	h.env["LOCALAPPDATA"] = h.env["HOME"] // which Windows asks for
	h.expect(answer.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\t"+ownerfiles.CacheFolder(func(n string) string { return h.env[n] }, h.dir)+"\n", "--status")
	h.env["HOME"], h.env["LOCALAPPDATA"] = "", ""
	h.expect(answer.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\tnone: no place outside the vault\n", "--status")
	h.put(".vaultwicketignore", "secret.md\n")
	h.expect(answer.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\t"+filepath.Join(h.dir, ".vaultwicketignore")+"\ncache\tnone: no place outside the vault\n", "--status")
	h.expect(answer.ExitMisuse, "Error: --status must be the only argument after the folder.\n", "--status", "files")
	h.dir += "gone"
	h.expect(answer.ExitFailed, "Vault not found.\n", "--status")
}

// TestACallTellsHowFarItHasCome: a call of the gateway that takes long, and of what is hidden
// nothing is counted.
func TestACallTellsHowFarItHasCome(t *testing.T) {
	h := build(t, map[string]string{"a.md": "x #t", "b.md": "x", "c.md": "x", "Private/d.md": "x", "Private/e.md": "x", "Private/f.md": "x"})
	h.env[call.AccessVariable] = mustRules(t, map[string]string{"/": "r", "Private": "none"}).String()
	for _, call := range [][]string{{"tags"}, {"search", "query=x"}} {
		at := h.host()
		at.Now = func() time.Time {
			time.Sleep(time.Second) // the call takes this long
			return time.Now()
		}
		var told []protocol.Progress
		var reply protocol.Reply
		synctest.Test(t, func(t *testing.T) {
			tell := func(p protocol.Progress) { told = append(told, p) }
			reply = perform(at, h.dir, resident.Call{Ctx: t.Context(), Request: protocol.Request{Command: call[0], Args: call[1:]}, Output: io.Discard, Progress: tell})
		})
		want := protocol.Progress{Done: 1, Total: 3, Of: protocol.FilesRead}
		assert.That(t, reply.Status == answer.ExitDone && len(told) > 0 && told[0] == want, "%q: status %d, told %v", call, reply.Status, told)
		at.Close()
	}
}

// writingSamples are the arguments with which every command that writes gets as far as
// changing something.
var writingSamples = map[string]string{
	"append": "path=a.md content=x", "prepend": "path=a.md content=x", "create": "path=n.md", "delete": "path=a.md", "move": "path=a.md to=F/",
	"rename": "path=a.md name=b", "property:set": "path=a.md name=p value=1", "property:remove": "path=a.md name=p", "task": "ref=a.md:2 done",
	"daily": "", "daily:append": "content=x", "daily:prepend": "content=x", "bookmark": "file=a.md", "unique": "", "template:insert": "name=T path=a.md",
	"note:replace": "path=a.md old=- new=x", "note:insert": "path=a.md heading=H position=after content=x", "note:set-section": "path=a.md heading=H content=x",
	"task:add": "path=a.md content=x", "task:reschedule": "ref=a.md:2 due=today", "daily:ensure": "", "periodic:append": "period=week content=x",
	"base:create": "path=B.base name=n", "base:set": "path=B.base name=p value=1",
	"canvas:create": "path=C.canvas", "canvas:add": "path=C.canvas text=x", "canvas:set": "path=C.canvas id=x text=y", "canvas:connect": "path=C.canvas from=x to=y", "canvas:remove": "path=C.canvas id=x",
	"base:add-view": "path=B.base name=V", "base:set-view": "path=B.base view=V limit=1", "base:remove-view": "path=B.base view=V", "base:set-formula": "path=B.base name=f expr=1",
	"copy": "path=a.md to=b.md", "folder:create": "path=F", "folder:move": "path=F to=G/", "folder:rename": "path=F name=G", "folder:copy": "path=F to=G", "folder:delete": "path=F",
	"property:add": "path=a.md name=p value=1", "property:remove-item": "path=a.md name=p value=1",
	"note:merge": "path=a.md into=T.md", "note:extract": "path=a.md heading=H to=N.md", "note:split": "path=a.md level=1",
	"attachment:write": "path=x.bin data=eA==",
	"tag:rename":       "name=t to=u", "property:rename": "name=p to=q", "heading:rename": "path=a.md heading=H to=I", "vault:replace": "old=x new=y", "history:restore": "path=a.md version=1", "undo": "",
}

// Without --write no command changes a note or keeps anything in the journal, and
// nothing but the switch is what is missing; one that only shows something is
// answered.
func TestWithoutTheSwitchNothingIsChanged(t *testing.T) {
	h := build(t, map[string]string{"a.md": "# H\n- [ ] x\n", "T.md": "t"})
	h.readOnly = true
	writers := 0
	for _, row := range table() {
		if !row.Writes() {
			continue
		}
		writers++
		given, known := writingSamples[row.Name]
		assert.That(t, known, "%s: has no sample here", row.Name)
		for _, before := range []string{"", "--change 20261121T080507.000000000Z-00ff", "--begin --change 20261121T080507.000000000Z-00ff", "--end --change 20261121T080507.000000000Z-00ff"} {
			args := append(strings.Fields(before), append([]string{row.Name}, strings.Fields(given)...)...)
			status, out, _ := h.run(args...)
			want := "Error: " + row.Name + " changes the vault, and this program only reads. Put --write before the command.\n"
			assert.That(t, status == answer.ExitMisuse && out == want, "%q: status %d, %q", args, status, out)
		}
	}
	assert.That(t, writers >= 15, "only %d commands write", writers)
	h.expect(answer.ExitDone, "# H\n- [ ] x\n", "read", "path=a.md")
	journal := ownerfiles.StateFolder(func(name string) string { return h.env[name] }, h.dir)
	assert.That(t, !h.exists(journal), "there is a state folder")
	h.expect(answer.ExitDone, "status\t \ntext\t- [ ] x\nfile\ta.md\nline\t2\n", "task", "ref=a.md:2") // shows a task
	status, out, _ := h.run("--plan", "append", "path=a.md", "content=x")
	assert.That(t, status == answer.ExitDone && strings.Contains(out, `"sign":"+","new":3,"text":"x"`), "a plan: %d, %q", status, out)
	h.expect(answer.ExitMisuse, "Error: Unknown switch: --write\n", "read", "path=a.md", "--write")
	h.readOnly = false
	h.expect(answer.ExitDone, "Appended to: a.md\n", "append", "path=a.md", "content=x")
	assert.That(t, slices.Contains(strings.Split(h.get("a.md"), "\n"), "x"), "with the switch: %q", h.get("a.md"))
}

// A caller is told by which id a change can be undone, also one of several notes.
func TestEveryChangeIsNamed(t *testing.T) {
	done := 0
	for name, given := range writingSamples {
		h := build(t, map[string]string{
			"a.md": "---\np:\n  - 1\ntags: t\n---\n# H\n- [ ] x 📅 2026-11-25\n", "T.md": "t", "F/c.md": "x", "B.base": "views:\n  - type: table\n    name: V\n  - type: table\n    name: W\n",
			"C.canvas":                 `{"nodes":[{"id":"x","type":"text","text":"t","x":0,"y":0,"width":1,"height":1},{"id":"y","type":"text","text":"t","x":9,"y":0,"width":1,"height":1}],"edges":[]}`,
			".obsidian/templates.json": `{"folder":""}`,
		})
		before := h.tree()
		status, out, messages := h.run(append([]string{"--facts", name}, strings.Fields(given)...)...)
		_, facts, _ := cutReport(messages)
		if status == answer.ExitDone && h.tree() != before {
			done++
			assert.That(t, facts.Change != "", "%s %s: %q, with the facts %+v", name, given, out, facts)
		}
	}
	assert.That(t, done >= 40, "%d of %d commands changed something", done, len(writingSamples))
}

// What an agent can read does not show how this program is started.
func TestTheHelpOfTheGatewayShowsNoRawProgram(t *testing.T) {
	h := build(t, nil)
	for _, args := range [][]string{{"--facts", "help"}, {"--facts", "help", "append"}} {
		status, out, _ := h.run(args...)
		if status != answer.ExitDone || strings.Contains(out, "vaultwicket vault") || strings.Contains(out, "--") || !strings.Contains(out, "append") {
			t.Errorf("%q: %d, %q", args, status, out)
		}
	}
	_, out, _ := h.run("help")
	assert.That(t, strings.Contains(out, call.Synopsis) && strings.Contains(out, "--write"), "by hand: %q", out)
}

// exists reports whether something is at a path of the machine.
func (h *testVault) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
