package vault

import (
	"bytes"
	"encoding/json"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

// A listing in JSON has no space between its tokens where the gateway asks for that; the
// tokens, and every other answer, are the same.
func TestCompactJSONHasTheSameTokens(t *testing.T) {
	h := sample(t)
	w := h.worker()
	for _, words := range [][]string{{"tags", "counts", "format=json"}, {"files", "format=json"}, {"tasks", "format=json"}, {"links", "path=Moon.md", "format=json"}, {"tags", "counts"}, {"read", "path=Moon.md"}} {
		spaced := w.ask(nil, append([]string{"--facts"}, words...)...)
		compact := w.ask(nil, append([]string{"--compact", "--facts"}, words...)...)
		if spaced.end.Status != compact.end.Status {
			t.Fatalf("%q: %+v, and compact %+v", words, spaced, compact)
		}
		want := spaced.stdout
		var tight bytes.Buffer
		if words[len(words)-1] == "format=json" && spaced.end.Status == command.ExitDone && json.Compact(&tight, []byte(spaced.stdout)) == nil {
			want = tight.String() + "\n"
		}
		if compact.stdout != want {
			t.Errorf("%q: %q, want %q", words, compact.stdout, want)
		}
	}
	if tags := w.ask(nil, "--compact", "tags", "counts", "format=json"); !bytes.HasPrefix([]byte(tags.stdout), []byte(`[{"tag":"`)) {
		t.Errorf("not compact: %q", tags.stdout)
	}
}
