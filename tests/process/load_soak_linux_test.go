package process

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// TestSoak has one worker answer very many calls of every kind, four at a time,
// while the notes change underneath: it answers all of them, ends up knowing
// what is there, and does not grow.
func TestSoak(t *testing.T) {
	testenv.OnlyLong(t)
	count, vault := 20_000, filepath.Join(t.TempDir(), "Vault")
	require.NoError(t, fake.WriteVault(vault, 200, 7))
	r, p := harness.RunnerOf(t, vault, true)
	alone, _ := harness.RunnerOf(t, vault, false)
	calls := []struct {
		name   string
		params map[string]string
	}{
		{"search", map[string]string{"query": "soaked"}}, {"search:context", map[string]string{"query": "tag:#soak", "limit": "3"}}, {"tags", nil},
		{"backlinks", map[string]string{"path": "Soak/1.md"}}, {"unresolved", nil}, {"orphans", nil}, {"tasks", nil}, {"properties", nil},
		{"read", map[string]string{"path": "Soak/2.md"}}, {"read", map[string]string{"file": "3"}}, {"outline", map[string]string{"path": "Soak/1.md"}},
		{"files", map[string]string{"folder": "Soak"}}, {"daily:append", map[string]string{"content": "- soaked"}},
		{"random:read", map[string]string{"folder": "Soak"}},
		{"random:read", map[string]string{"folder": "Soak", "min-age": "1"}},
		{"folder", map[string]string{"path": "Soak"}}, {"vault", nil}, {"attachments", nil},
		{"bases", nil}, {"recent", nil}, {"briefing", nil}, {"templates", nil},
	}
	for i := range 8 {
		harness.WriteFile(t, filepath.Join(vault, "Soak", fmt.Sprintf("%d.md", i)), []byte("#soak [[1]]\n"))
	}
	stop := make(chan struct{})
	var writer, callers sync.WaitGroup
	writer.Go(func() { disturb(vault, stop) })
	started := peakBefore(t, r, p)
	for caller := range 4 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(caller), 1))
			for range count / 4 {
				c := calls[random.IntN(len(calls))]
				out, err := r.Run(t.Context(), harness.PermitFor(t, c.name, c.params), p)
				if err != nil || out.Failure != nil && out.Failure.Code() != "not_found" {
					t.Errorf("%s: %v, %v", c.name, err, out.Failure)
					return
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	writer.Wait()
	for _, c := range calls[:8] {
		ask := func(r *exec.Runner) string {
			out, err := r.Run(t.Context(), harness.PermitFor(t, c.name, c.params), p)
			return fmt.Sprint(out.Stdout, err, out.Failure)
		}
		want := ask(alone)
		var got string
		assert.Await(10*time.Second, func() bool {
			got = ask(r)
			return got == want
		})
		assert.That(t, got == want, "%s: the worker says\n%.300s\na process of its own\n%.300s", c.name, got, want)
	}
	pid, memory, files := workerOf(t)
	t.Logf("worker %d: %d KiB of memory, %d open files; %d KiB at the start", pid, memory, files, started)
	assert.That(t, memory <= started+32<<10,
		"after %d calls the worker has %d KiB (%d at the start) and %d open files", count, memory, started, files)
	assert.That(t, files <= 60,
		"after %d calls the worker has %d KiB (%d at the start) and %d open files", count, memory, started, files)
}

// disturb changes notes until it is told to stop.
func disturb(vault string, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(9, 9))
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		note := filepath.Join(vault, "Soak", fmt.Sprintf("%d.md", random.IntN(8)))
		switch random.IntN(4) {
		case 0:
			os.Remove(note)
		case 1:
			os.Rename(note, filepath.Join(vault, fmt.Sprintf("moved %d.md", random.IntN(4))))
		default:
			os.WriteFile(note, fmt.Appendf(nil, "#soak%d soaked [[%d]] [[gone %d]]\n- [ ] %d\n", random.IntN(5), random.IntN(8), random.IntN(9), i), 0o600)
		}
	}
}

// peakBefore has the worker know its vault, and returns its memory in KiB.
func peakBefore(t *testing.T, r *exec.Runner, p exec.Program) int {
	t.Helper()
	if _, err := r.Run(t.Context(), harness.PermitFor(t, "tags", nil), p); err != nil {
		t.Fatal(err)
	}
	_, memory, _ := workerOf(t)
	return memory
}

// workerOf finds the one worker among our children, its memory in KiB and how
// many files it has open.
func workerOf(t *testing.T) (pid, memory, files int) {
	t.Helper()
	children := require.Value(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, name := range children {
		line, _ := os.ReadFile(name)
		dir := filepath.Dir(name)
		status, _ := os.ReadFile(dir + "/status")
		if !strings.HasSuffix(string(line), "\x00--worker\x00") ||
			!strings.Contains(string(status), fmt.Sprintf("PPid:\t%d\n", os.Getpid())) ||
			!strings.Contains(string(line), "TestSoak") {
			continue
		}
		fmt.Sscanf(filepath.Base(dir), "%d", &pid)
		open, _ := os.ReadDir(dir + "/fd")
		return pid, harness.MemoryKiB(t, pid), len(open)
	}
	t.Fatal("no worker among our children")
	return 0, 0, 0
}
