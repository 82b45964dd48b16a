package vault

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/resident"
	"vaultwicket/exec/frame"
	"vaultwicket/gateway/state/private"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// factsOf are the facts of the answer to a call that succeeded.
func factsOf(t *testing.T, s said) frame.Facts {
	t.Helper()
	require.That(t, s.end.Status == command.ExitDone, "%+v", s)
	_, facts, _ := frame.CutReport(s.stderr)
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
	if facts := factsOf(t, again); again.stdout != "" || !facts.Unchanged || facts.State != state {
		t.Errorf("nothing has changed: %+v", again)
	}
	h.put("New.md", "#new\n")
	var changed said
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if changed = w.ask(nil, "--unless", state, "--facts", "tags", "counts"); changed.stdout != "" {
			break
		}
	}
	facts := factsOf(t, changed)
	if facts.Unchanged || facts.State == state || facts.State == "" || !strings.Contains(changed.stdout, "#new") || changed.stdout == first.stdout {
		t.Errorf("a note was made: %+v", changed)
	}
	assert.Equal(t, w.ask(nil, "--unless", state, "--facts", "tags", "counts").stdout, changed.stdout, "of an old state")
	require.Equal(t, w.ask(nil, "append", "path=New.md", "content=#newer").end.Status, command.ExitDone)
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
	if _, _, stderr := h.run("--facts", "tags", "total"); strings.Contains(stderr, "state") {
		t.Errorf("a process for one call has a state: %s", stderr)
	}
	for _, wrong := range []string{"", "x", state + "0", strings.Repeat("G", 16)} {
		assert.Equal(t, w.ask(nil, "--unless", wrong, "tags").end.Status, command.ExitMisuse, "the state %q", wrong)
	}
}

// A process that is locked in still answers everything about its vault, and
// tells of the wall.
func TestStatus(t *testing.T) {
	h := build(t, map[string]string{"a.md": "a"})
	h.env["HOME"] = t.TempDir()
	h.env["LOCALAPPDATA"] = h.env["HOME"] // which Windows asks for
	h.expect(command.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\t"+private.CacheFolder(func(n string) string { return h.env[n] }, h.dir)+"\n", "--status")
	h.env["HOME"], h.env["LOCALAPPDATA"] = "", ""
	h.expect(command.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\tnone: no place outside the vault\n", "--status")
	h.put(".vaultwicketignore", "secret.md\n")
	h.expect(command.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\t"+filepath.Join(h.dir, ".vaultwicketignore")+"\ncache\tnone: no place outside the vault\n", "--status")
	h.expect(command.ExitMisuse, "Error: --status must be the only argument after the folder.\n", "--status", "files")
	h.dir += "gone"
	h.expect(command.ExitFailed, "Vault not found.\n", "--status")
}

// TestACallTellsHowFarItHasCome: a call of the gateway that takes long, and of what is hidden
// nothing is counted.
func TestACallTellsHowFarItHasCome(t *testing.T) {
	h := build(t, map[string]string{"a.md": "x #t", "b.md": "x", "c.md": "x", "Private/d.md": "x", "Private/e.md": "x", "Private/f.md": "x"})
	h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": "r", "Private": "none"}).String()
	for _, call := range [][]string{{"tags"}, {"search", "query=x"}} {
		for _, facts := range []bool{true, false} {
			at, args := h.host(), []string{h.dir}
			if facts {
				args = append(args, "--facts")
			}
			at.Tally = func(messages io.Writer) *frame.Tally {
				begun := frame.NewTally(messages)
				time.Sleep(time.Second) // the call takes this long
				return begun
			}
			var out, messages bytes.Buffer
			status := run(at, resident.Call{Ctx: context.Background(), Args: append(args, call...), Stdout: &out, Stderr: &messages})
			line, _, _ := strings.Cut(messages.String(), "\n")
			if told := line == "vaultwicket-progress: read 1 3"; status != command.ExitDone || told != facts {
				t.Errorf("%q, for the gateway: %v: status %d, told %q", call, facts, status, messages.String())
			}
		}
	}
}
