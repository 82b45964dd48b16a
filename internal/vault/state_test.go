package vault_test

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A worker leaves an answer out while the index is in the state that the caller knows, and
// in no other.
func TestAnAnswerOfAKnownStateIsLeftOut(t *testing.T) {
	h := embedded.Sample(t)
	w := h.Worker()
	first := w.Ask(nil, "--facts", "tags", "counts")
	state := embedded.FactsOf(t, first).State
	if state == "" {
		t.Skip("the folder cannot be watched here")
	}
	again := w.Ask(nil, "--unless", state, "--facts", "tags", "counts")
	facts := embedded.FactsOf(t, again)
	assert.Equal(t, again.Stdout, "", "nothing has changed")
	assert.That(t, facts.Unchanged, "nothing has changed: %+v", again)
	assert.Equal(t, facts.State, state, "nothing has changed")
	h.Put("New.md", "#new\n")
	var changed embedded.Said
	assert.Await(embedded.Patience, func() bool {
		changed = w.Ask(nil, "--unless", state, "--facts", "tags", "counts")
		return changed.Stdout != ""
	})
	facts = embedded.FactsOf(t, changed)
	if facts.Unchanged || facts.State == state || facts.State == "" || !strings.Contains(changed.Stdout, "#new") || changed.Stdout == first.Stdout {
		t.Errorf("a note was made: %+v", changed)
	}
	assert.Equal(t, w.Ask(nil, "--unless", state, "--facts", "tags", "counts").Stdout, changed.Stdout, "of an old state")
	require.Equal(t, w.Ask(nil, "append", "path=New.md", "content=#newer").End.Status, answer.ExitDone)
	own := w.Ask(nil, "--unless", facts.State, "--facts", "tags", "counts")
	assert.That(t, strings.Contains(own.Stdout, "#newer"), "after a change of its own: %+v", own)
}

// The files that there are have a state where the index is current, and no index is made for it.
func TestStateOfTheFiles(t *testing.T) {
	h := embedded.Sample(t)
	w := h.Worker()
	var first embedded.Said
	assert.Await(embedded.Patience, func() bool {
		first = w.Ask(nil, "--facts", "files")
		return embedded.FactsOf(t, first).State != "" // the call before had the index made
	})
	state := embedded.FactsOf(t, first).State
	if state == "" {
		t.Skip("the folder cannot be watched here")
	}
	again := w.Ask(nil, "--unless", state, "--facts", "files")
	assert.Equal(t, again.Stdout, "", "nothing has changed")
	assert.That(t, embedded.FactsOf(t, again).Unchanged, "nothing has changed: %+v", again)
	h.Put("Newer.md", "")
	var changed embedded.Said
	assert.Await(embedded.Patience, func() bool {
		changed = w.Ask(nil, "--unless", state, "--facts", "files")
		return strings.Contains(changed.Stdout, "Newer.md")
	})
	assert.Contains(t, changed.Stdout, "Newer.md", "a file was made, and the state is the same")
}

// What depends on more than the index has no state, and what has none is always answered.
func TestStateIsOfTheIndexAlone(t *testing.T) {
	h := embedded.Sample(t)
	w := h.Worker()
	state := strings.Repeat("0", 16)
	for _, line := range []string{"read path=Moon.md", "folders", "tags active", "tasks active", "tasks daily",
		"random:read folder=One", "daily:path", "vault"} {
		got := w.Ask(nil, append([]string{"--unless", state, "--facts"}, strings.Fields(line)...)...)
		facts := embedded.FactsOf(t, got)
		assert.Equal(t, facts.State, "", "%s", line)
		assert.That(t, !facts.Unchanged, "%s: %+v", line, got)
		assert.That(t, got.Stdout != "", "%s: %+v", line, got)
	}
	_, _, stderr := h.Run("--facts", "tags", "total")
	assert.That(t, !strings.Contains(stderr, "state"), "a process for one call has a state: %s", stderr)
	for _, other := range []string{"x", state + "0", strings.Repeat("G", 16)} {
		assert.That(t, w.Ask(nil, "--unless", other, "--facts", "tags").Stdout != "", "nothing is answered from the state %q", other)
	}
}

// A process that is locked in still answers everything about its vault, and
// tells of the wall.
func TestStatus(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "a"})
	h.Env["HOME"] = t.TempDir()
	h.Env["LOCALAPPDATA"] = h.Env["HOME"] // which Windows asks for
	h.Expect(answer.ExitDone, "folder\t"+h.Dir+"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\t"+
		ownerfiles.CacheFolder(func(n string) string { return h.Env[n] }, h.Dir)+"\n", "--status")
	h.Env["HOME"], h.Env["LOCALAPPDATA"] = "", ""
	h.Expect(answer.ExitDone, "folder\t"+h.Dir+
		"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\tnone: no place outside the vault\n",
		"--status")
	h.Put(".vaultwicketignore", "secret.md\n")
	h.Expect(answer.ExitDone, "folder\t"+h.Dir+"\nsandbox\tnone: the process is shared\nignore file\t"+
		filepath.Join(h.Dir, ".vaultwicketignore")+"\ncache\tnone: no place outside the vault\n", "--status")
	h.Expect(answer.ExitMisuse, "Error: --status must be the only argument after the folder.\n", "--status", "files")
	h.Dir += "gone"
	h.Expect(answer.ExitFailed, "Vault not found.\n", "--status")
}

// TestACallTellsHowFarItHasCome: a call of the gateway that takes long, and of what is hidden
// nothing is counted.
func TestACallTellsHowFarItHasCome(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "x #t", "b.md": "x", "c.md": "x", "Private/d.md": "x", "Private/e.md": "x", "Private/f.md": "x"})
	h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "r", "Private": "none"}).String()
	for _, call := range [][]string{{"tags"}, {"search", "query=x"}} {
		at := h.Host()
		at.Now = func() time.Time {
			time.Sleep(time.Second) // the call takes this long
			return time.Now()
		}
		var told []protocol.Progress
		var reply protocol.Reply
		synctest.Test(t, func(t *testing.T) {
			tell := func(p protocol.Progress) { told = append(told, p) }
			reply = vault.Perform(at, h.Dir,
				vault.Call{Ctx: t.Context(), Request: protocol.Request{Command: call[0], Args: call[1:]},
					Output: io.Discard, Progress: tell})
		})
		want := protocol.Progress{Done: 1, Total: 3, Of: protocol.FilesRead}
		require.Equal(t, reply.Status, answer.ExitDone, "%q: status %d, told %v", call, reply.Status, told)
		require.That(t, len(told) > 0, "%q: status %d, told %v", call, reply.Status, told)
		assert.Equal(t, told[0], want, "%q: status %d, told %v", call, reply.Status, told)
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
	"canvas:create": "path=C.canvas", "canvas:add": "path=C.canvas text=x", "canvas:set": "path=C.canvas id=x text=y",
	"canvas:connect": "path=C.canvas from=x to=y", "canvas:remove": "path=C.canvas id=x",
	"base:add-view": "path=B.base name=V", "base:set-view": "path=B.base view=V limit=1",
	"base:remove-view": "path=B.base view=V", "base:set-formula": "path=B.base name=f expr=1",
	"copy": "path=a.md to=b.md", "folder:create": "path=F", "folder:move": "path=F to=G/",
	"folder:rename": "path=F name=G", "folder:copy": "path=F to=G", "folder:delete": "path=F",
	"property:add": "path=a.md name=p value=1", "property:remove-item": "path=a.md name=p value=1",
	"note:merge": "path=a.md into=T.md", "note:extract": "path=a.md heading=H to=N.md", "note:split": "path=a.md level=1",
	"attachment:write": "path=x.bin data=eA==",
	"tag:rename":       "name=t to=u", "property:rename": "name=p to=q", "heading:rename": "path=a.md heading=H to=I",
	"vault:replace": "old=x new=y", "history:restore": "path=a.md version=1", "undo": "",
}

// Without --write no command changes a note or keeps anything in the journal, and
// nothing but the switch is what is missing; one that only shows something is
// answered.
func TestWithoutTheSwitchNothingIsChanged(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "# H\n- [ ] x\n", "T.md": "t"})
	h.ReadOnly = true
	writers := 0
	for _, row := range vault.Table() {
		if !row.Writes() {
			continue
		}
		writers++
		given, known := writingSamples[row.Name]
		assert.That(t, known, "%s: has no sample here", row.Name)
		for _, before := range []string{"", "--change 20261121T080507.000000000Z-00ff",
			"--begin --change 20261121T080507.000000000Z-00ff", "--end --change 20261121T080507.000000000Z-00ff"} {
			args := append(strings.Fields(before), append([]string{row.Name}, strings.Fields(given)...)...)
			status, out, _ := h.Run(args...)
			want := "Error: " + row.Name + " changes the vault, and this program only reads. Put --write before the command.\n"
			assert.Equal(t, status, answer.ExitMisuse, "%q: status %d", args, status)
			assert.Equal(t, out, want, "%q: status %d", args, status)
		}
	}
	assert.That(t, writers >= 15, "only %d commands write", writers)
	h.Expect(answer.ExitDone, "# H\n- [ ] x\n", "read", "path=a.md")
	journal := ownerfiles.StateFolder(func(name string) string { return h.Env[name] }, h.Dir)
	assert.That(t, !embedded.Exists(journal), "there is a state folder")
	h.Expect(answer.ExitDone, "status\t \ntext\t- [ ] x\nfile\ta.md\nline\t2\n", "task", "ref=a.md:2") // shows a task
	status, out, _ := h.Run("--plan", "append", "path=a.md", "content=x")
	assert.Equal(t, status, answer.ExitDone, "a plan")
	assert.Contains(t, out, `"sign":"+","new":3,"text":"x"`, "a plan")
	h.Expect(answer.ExitMisuse, "Error: Unknown switch: --write\n", "read", "path=a.md", "--write")
	h.ReadOnly = false
	h.Expect(answer.ExitDone, "Appended to: a.md\n", "append", "path=a.md", "content=x")
	assert.That(t, slices.Contains(strings.Split(h.Get("a.md"), "\n"), "x"), "with the switch: %q", h.Get("a.md"))
}

// A caller is told by which id a change can be undone, also one of several notes.
func TestEveryChangeIsNamed(t *testing.T) {
	done := 0
	for name, given := range writingSamples {
		h := embedded.New(t, map[string]string{
			"a.md": "---\np:\n  - 1\ntags: t\n---\n# H\n- [ ] x 📅 2026-11-25\n", "T.md": "t", "F/c.md": "x",
			"B.base":                   "views:\n  - type: table\n    name: V\n  - type: table\n    name: W\n",
			"C.canvas":                 `{"nodes":[{"id":"x","type":"text","text":"t","x":0,"y":0,"width":1,"height":1},{"id":"y","type":"text","text":"t","x":9,"y":0,"width":1,"height":1}],"edges":[]}`,
			".obsidian/templates.json": `{"folder":""}`,
		})
		before := h.Tree()
		status, out, messages := h.Run(append([]string{"--facts", name}, strings.Fields(given)...)...)
		_, facts, _ := embedded.CutReport(messages)
		if status == answer.ExitDone && h.Tree() != before {
			done++
			assert.That(t, facts.Change != "", "%s %s: %q, with the facts %+v", name, given, out, facts)
		}
	}
	assert.That(t, done >= 40, "%d of %d commands changed something", done, len(writingSamples))
}

// What an agent can read does not show how this program is started.
func TestTheHelpOfTheGatewayShowsNoRawProgram(t *testing.T) {
	h := embedded.New(t, nil)
	for _, args := range [][]string{{"--facts", "help"}, {"--facts", "help", "append"}} {
		status, out, _ := h.Run(args...)
		if status != answer.ExitDone || strings.Contains(out, "vaultwicket vault") || strings.Contains(out, "--") || !strings.Contains(out, "append") {
			t.Errorf("%q: %d, %q", args, status, out)
		}
	}
	_, out, _ := h.Run("help")
	assert.Contains(t, out, call.Synopsis, "by hand")
	assert.Contains(t, out, "--write", "by hand")
}
