package vault

import (
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
)

// factsOf are the facts of the answer to a call that succeeded.
func factsOf(t *testing.T, s said) frame.Facts {
	t.Helper()
	if s.end.Status != command.ExitDone {
		t.Fatalf("%+v", s)
	}
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
	if old := w.ask(nil, "--unless", state, "--facts", "tags", "counts"); old.stdout != changed.stdout {
		t.Errorf("of an old state: %+v", old)
	}
	if done := w.ask(nil, "append", "path=New.md", "content=#newer"); done.end.Status != command.ExitDone {
		t.Fatalf("%+v", done)
	}
	if own := w.ask(nil, "--unless", facts.State, "--facts", "tags", "counts"); !strings.Contains(own.stdout, "#newer") {
		t.Errorf("after a change of its own: %+v", own)
	}
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
	if again := w.ask(nil, "--unless", state, "--facts", "files"); again.stdout != "" || !factsOf(t, again).Unchanged {
		t.Errorf("nothing has changed: %+v", again)
	}
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
		if facts := factsOf(t, got); facts.State != "" || facts.Unchanged || got.stdout == "" {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if _, _, stderr := h.run("--facts", "tags", "total"); strings.Contains(stderr, "state") {
		t.Errorf("a process for one call has a state: %s", stderr)
	}
	for _, wrong := range []string{"", "x", state + "0", strings.Repeat("G", 16)} {
		if got := w.ask(nil, "--unless", wrong, "tags"); got.end.Status != command.ExitMisuse {
			t.Errorf("the state %q: %+v", wrong, got)
		}
	}
}
