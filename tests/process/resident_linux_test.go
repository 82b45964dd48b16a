package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// It does not run beside others: a process that another test starts holds the pipe of an answer for a
// moment, which is a notice where the machine is slow.
func TestResidentOutcomesAreThoseOfOneShots(t *testing.T) {
	vault := harness.SampleVault(t)
	alone, p := harness.RunnerOf(t, vault, false)
	shared, _ := harness.RunnerOf(t, vault, true)
	for _, c := range []struct {
		name   string
		params map[string]string
	}{
		{"version", nil}, {"help", nil}, {"files", nil}, {"folders", nil}, {"read", map[string]string{"path": "Tides.md"}},
		{"read", map[string]string{"path": "One/only.md"}}, {"read", map[string]string{"path": "Long.md"}}, {"read", map[string]string{"path": "no.md"}},
		{"read", map[string]string{"file": "tides"}}, {"random:read", map[string]string{"folder": "One"}},
		{"daily:read", nil}, {"search", map[string]string{"query": "two"}},
		{"folder", map[string]string{"path": "none"}}, {"file", map[string]string{"path": "Tides.md"}},
	} {
		permit := harness.PermitFor(t, c.name, c.params)
		want, wantErr := alone.Run(t.Context(), permit, p)
		got, gotErr := shared.Run(t.Context(), permit, p)
		got.Duration, want.Duration = 0, 0
		got.State = "" // a process for one call has none
		a, b := fmt.Sprintf("%+v %v %v", want, want.Failure, wantErr), fmt.Sprintf("%+v %v %v", got, got.Failure, gotErr)
		assert.That(t, strip(a) == strip(b), "%s %v:\none-shot %.400s\nresident %.400s", c.name, c.params, a, b)
	}
}

// strip takes the address of a failure out of a printed outcome.
func strip(s string) string {
	start := strings.Index(s, " Failure:")
	if start < 0 {
		return s
	}
	end := strings.IndexByte(s[start:], '}')
	return s[:start] + s[start+end:]
}

func TestAVaultIsReplacedWhileItsWorkerLives(t *testing.T) {
	t.Parallel()
	vault := harness.SampleVault(t)
	r, p := harness.RunnerOf(t, vault, true)
	listing := func() string {
		out, err := r.Run(t.Context(), harness.PermitFor(t, "files", nil), p)
		if err != nil {
			return err.Error()
		}
		return out.Stdout
	}
	if got := listing(); !strings.Contains(got, "Tides.md") {
		t.Fatal(got)
	}
	require.NoError(t, os.Rename(vault, vault+"2"))
	assert.Contains(t, listing(), "does not know the vault", "without its folder")
	harness.WriteFile(t, filepath.Join(vault, "new.md"), nil)
	assert.Equal(t, listing(), "new.md\n", "with another folder")
	require.NoError(t, os.RemoveAll(vault))
	require.NoError(t, os.Rename(vault+"2", vault))
	assert.Contains(t, listing(), "Tides.md", "with the first folder again")
}

func TestALongNoteIsStreamed(t *testing.T) {
	t.Parallel()
	vault := harness.SampleVault(t)
	note := bytes.Repeat([]byte("0123456789abcde\n"), 20<<20/16)
	harness.WriteFile(t, filepath.Join(vault, "Long.md"), note)
	s := harness.ServeOn(t, vault, "--tier=v1")
	s.Read()
	for id := 2; id < 6; id++ {
		s.Send(harness.ToolCall(id, `{"command":"read","params":{"path":"Long.md"}}`))
		result := s.Read()["result"].(map[string]any)["structuredContent"].(map[string]any)
		cut, ok := result["truncated"].(map[string]any)
		if !ok || cut["totalBytes"] != float64(len(note)) {
			t.Fatalf("truncated %v, %v", result["truncated"], result["error"])
		}
	}
	worker := harness.WorkersOf(t, s.Process.Process.Pid)
	require.That(t, len(worker) == 1, "%d workers", len(worker))
	mib := harness.StatusKiB(t, worker[0], "VmHWM") >> 10
	assert.That(t, mib <= 32, "the worker took %d MiB for a note of 20", mib)
}
