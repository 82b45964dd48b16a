package vault

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
)

// tasksVault has more tasks than fit into a part.
func tasksVault(t *testing.T) *testVault {
	h := sample(t)
	for note := range 20 {
		var text strings.Builder
		for n := range 50 {
			fmt.Fprintf(&text, "- [ ] task %d of \"note\" %d\n", n, note)
		}
		h.put(fmt.Sprintf("Tasks %02d.md", note), text.String())
	}
	return h
}

// A worker sends a long answer in parts, which are the answer together; the other commands of
// the vault, and a process for one call, send it at once.
func TestALongAnswerInParts(t *testing.T) {
	h := tasksVault(t)
	w := h.worker()
	if factsOf(t, w.ask(nil, "--facts", "tags")).State == "" {
		t.Skip("the folder cannot be watched here")
	}
	for _, tt := range []struct {
		part, command string
		rows          int
	}{
		{"4000", "tasks format=json", 1001}, {"4000", "tasks format=csv", 1001}, {"lines:4000", "tasks format=tsv", 1001},
		{"lines:4000", "tasks", 1001}, {"lines:1", "search query=task", 20},
	} {
		words := append([]string{"--compact", "--facts"}, strings.Fields(tt.command)...)
		whole := w.ask(nil, words...)
		if whole.end.Status != command.ExitDone || factsOf(t, whole).Whole != nil {
			t.Fatalf("%s: %+v", tt.command, whole.end)
		}
		got := w.ask(nil, append([]string{"--part", tt.part}, words...)...)
		kept := factsOf(t, got).Whole
		if kept == nil && len(whole.stdout) < 2000 {
			continue // it is no longer than a part can be
		}
		if kept == nil || kept.Bytes != len(whole.stdout) || kept.Rows != tt.rows || len(got.stdout) > 8000 {
			t.Fatalf("%s: %d bytes of %d, and of the whole %+v", tt.command, len(got.stdout), len(whole.stdout), kept)
		}
		if again := all(t, w, kept, got.stdout); again != whole.stdout {
			t.Errorf("%s: the parts have %d bytes, not %d", tt.command, len(again), len(whole.stdout))
		}
		if at := w.ask(nil, "--kept", kept.ID, "0", strconv.Itoa(kept.Bytes)); at.stdout != whole.stdout {
			t.Errorf("%s: all at once has %d bytes, not %d", tt.command, len(at.stdout), len(whole.stdout))
		}
		for _, wrong := range [][]string{{"other", "0", "1"}, {kept.ID, "1", "1"}, {kept.ID, strconv.Itoa(kept.Bytes), "1"}, {kept.ID, "0"}, {kept.ID, "-1", "1"}, {kept.ID, "0", "x"}, {kept.ID, "0", "1", "files"}, {}} {
			if got := w.ask(nil, append([]string{"--kept"}, wrong...)...); got.end.Status != command.ExitMisuse {
				t.Errorf("%q is answered with %+v", wrong, got.end)
			}
		}
		if _, stdout, stderr := h.run(append([]string{"--part", tt.part}, words...)...); stdout != whole.stdout || strings.Contains(stderr, "whole") {
			t.Errorf("%s: a process for one call prints %d bytes of %d: %s", tt.command, len(stdout), len(whole.stdout), stderr)
		}
	}
	for _, wrong := range []string{"", "0", "-1", "lines:", "x", "4000000000"} {
		if got := w.ask(nil, "--part", wrong, "files"); got.end.Status != command.ExitMisuse {
			t.Errorf("a part of %q bytes: %+v", wrong, got.end)
		}
	}
}

// all fetches a kept answer part by part.
func all(t *testing.T, w *talk, kept *frame.Whole, first string) string {
	t.Helper()
	text := first
	for {
		if len(text) < kept.Bytes && strings.HasSuffix(text, "}\n") {
			text = strings.TrimSuffix(text, "\n") // of the part, not of the answer
		}
		if len(text) >= kept.Bytes {
			return text
		}
		part := w.ask(nil, "--kept", kept.ID, strconv.Itoa(len(text)), "4000")
		if part.end.Status != command.ExitDone || part.stdout == "" {
			t.Fatalf("from %d: %+v", len(text), part.end)
		}
		text += part.stdout
	}
}

// Where it is not known whether an answer has changed, it is sent whole.
func TestAnAnswerWithoutAStateIsNotDivided(t *testing.T) {
	h := sample(t)
	for n := range 200 {
		h.put(fmt.Sprintf("A folder among others %03d/Note.md", n), "")
	}
	w := h.worker()
	got := w.ask(nil, "--part", "lines:10", "--facts", "folders")
	if facts := factsOf(t, got); facts.Whole != nil || strings.Count(got.stdout, "\n") < 200 {
		t.Errorf("%d bytes, and the facts %+v", len(got.stdout), facts)
	}
}
