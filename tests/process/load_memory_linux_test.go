package process

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// The bounds of memory in KiB: of the gateway whatever it is asked for, without the pages of
// its program, and of the worker of a small vault. How many pages of a program are mapped at
// once is up to the kernel: 14 MiB of this one or 25.
const (
	mostOfGateway = 48 << 10
	mostOfWorker  = 256 << 10
)

// largeVault serves a vault with large notes over HTTP.
func largeVault(t *testing.T, notes map[string]string, flags ...string) *harness.HTTPServer {
	t.Helper()
	vault := t.TempDir()
	for name, text := range notes {
		harness.WriteFile(t, filepath.Join(vault, name), []byte(text))
	}
	s := harness.ServeHTTP(t, append([]string{"--backend=embedded", "--tier=v1", "--toolsets=batch", "--timeout=55s", "--vault=" + vault}, flags...)...)
	awaitStart(t, s.Process.Process.Pid)
	return s
}

// awaitStart waits until a server has given back the pages of its program that only its start
// needed, and has the kernel forget the peak that it had with them.
func awaitStart(t *testing.T, pid int) {
	t.Helper()
	_, before := peakKiB(t, pid)
	assert.Await(10*time.Second, func() bool {
		_, now := peakKiB(t, pid)
		return now < before*3/4
	})
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		t.Logf("the peak is that since the start: %v", err)
	}
}

// prose is a note of so many MB.
func prose(megabytes int) string {
	line := "The tide comes in twice a day, and twice a day it goes out again.\n"
	return strings.Repeat(line, megabytes*1_000_000/len(line))
}

// peakKiB is the most memory that a process has had, in KiB, and how much of it were pages
// of files.
func peakKiB(t *testing.T, pid int) (all, files int) {
	t.Helper()
	files = harness.StatusKiB(t, pid, "RssFile") + harness.StatusKiB(t, pid, "RssShmem") // and of files that are kept in memory
	return harness.StatusKiB(t, pid, "VmHWM"), files
}

// staysSmall checks the peaks of a server and of its workers.
func staysSmall(t *testing.T, s *harness.HTTPServer, mostOfWorkers int) {
	t.Helper()
	pid := s.Process.Process.Pid
	gateway, program := peakKiB(t, pid)
	t.Logf("the gateway had up to %d KiB, %d of them its program, and has %d KiB", gateway, program, harness.MemoryKiB(t, pid))
	own := gateway - program
	assert.That(t, own <= mostOfGateway, "the gateway had %d KiB of its own, more than %d", own, mostOfGateway)
	for _, worker := range harness.WorkersOf(t, pid) {
		peak, _ := peakKiB(t, worker)
		t.Logf("the worker had up to %d KiB", peak)
		assert.That(t, mostOfWorkers <= 0 || peak <= mostOfWorkers, "the worker had %d KiB, more than %d", peak, mostOfWorkers)
	}
}

// batch runs operations and returns what came of them.
func batchOf(t *testing.T, a *harness.HTTPSession, operations []map[string]any) (result gateway.BatchResult) {
	t.Helper()
	answer, err := a.Ask(t.Context(), "tools/call", map[string]any{"name": "obsidianBatch", "arguments": map[string]any{"operations": operations}})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(answer.Result.StructuredContent, &result))
	return result
}

func read(id, path string) map[string]any {
	return map[string]any{"clientId": id, "command": "read", "params": map[string]any{"path": path}}
}

func TestABatchOfLargeReadsTakesLittle(t *testing.T) {
	testenv.OnlyLong(t)
	s := largeVault(t, map[string]string{"Large.md": prose(15)})
	a := agentOf(t, s)
	var operations []map[string]any
	reads := 50
	for i := range reads {
		operations = append(operations, read(fmt.Sprint(i), "Large.md"))
	}
	got := batchOf(t, a, operations)
	assert.That(t, got.Summary.OK == reads, "%+v", got.Summary)
	for _, one := range got.Results {
		r := one.Result
		require.That(t, r != nil, "%+v", r)
		require.That(t, r.Truncated != nil, "%+v", r)
		require.That(t, r.Truncated.TotalBytes >= 14<<20, "%+v", r)
		require.HasPrefix(t, r.Stdout, "The tide", "%+v", r)
	}
	staysSmall(t, s, 0)
}

func TestABatchKeepsLittleOfWhatIsReferredTo(t *testing.T) {
	testenv.OnlyLong(t)
	s := largeVault(t, map[string]string{"Large.md": prose(15), "Word.md": "tide\n"})
	a := agentOf(t, s)
	var operations []map[string]any
	reads := 50
	for i := range reads {
		path := "Large.md"
		if i%10 == 0 {
			path = "Word.md"
		}
		operations = append(operations, read(fmt.Sprint("r", i), path))
	}
	for i := range reads {
		operations = append(operations, map[string]any{"clientId": fmt.Sprint("s", i), "command": "search",
			"params": map[string]any{"query": map[string]any{"from": fmt.Sprint("r", i), "field": "stdout"}}})
	}
	got := batchOf(t, a, operations)
	for i, one := range got.Results[reads:] {
		switch {
		case i%10 == 0 && (one.Status != "ok" || !strings.Contains(one.Result.Stdout, "Large.md")):
			t.Errorf("%s, of a short text: %s %+v", one.ClientID, one.Status, one.Result)
		case i%10 != 0 && (one.Status != "error" || one.Result.Error.Code != "content_too_long" || one.Result.Error.Hint == ""):
			t.Errorf("%s, of a long text: %s %+v", one.ClientID, one.Status, one.Result.Error)
		}
	}
	staysSmall(t, s, 0)
}

func TestLargeReadsAtOnceTakeLittle(t *testing.T) {
	testenv.OnlyLong(t)
	for _, parallel := range []int{64, 4} {
		t.Run(fmt.Sprintf("parallel %d", parallel), func(t *testing.T) {
			s := largeVault(t, map[string]string{"Large.md": prose(30)}, fmt.Sprintf("--max-parallel=%d", parallel))
			var callers sync.WaitGroup
			for range 64 {
				a := agentOf(t, s)
				callers.Go(func() {
					got, err := a.Call(t.Context(), map[string]any{"command": "read", "params": map[string]any{"path": "Large.md"}})
					if err != nil || !got.OK || got.Truncated == nil || got.Truncated.TotalBytes < 28<<20 || !strings.HasPrefix(got.Stdout, "The tide") {
						t.Errorf("%+v, %v", got.Error, err)
					}
				})
			}
			callers.Wait()
			staysSmall(t, s, 0)
		})
	}
}

func TestASearchInLongLinesTakesLittle(t *testing.T) {
	testenv.OnlyLong(t)
	hits := strings.Repeat("x ", 32<<10)
	for name, note := range map[string]string{
		"a line of 64 KB": hits, "30 MB in one line": strings.Repeat(hits, 460), "30 MB in lines": strings.Repeat("an x in a line of the note\n", 1_100_000),
	} {
		t.Run(name, func(t *testing.T) {
			s := largeVault(t, map[string]string{"Long.md": note})
			a := agentOf(t, s)
			for _, format := range []string{"text", "json"} {
				got, err := a.Call(t.Context(), map[string]any{"command": "search:context", "params": map[string]any{"query": "x", "format": format}})
				require.Equal(t, err, nil, "%s: %+v, %+v", format, got.Error, got.Truncated)
				assert.That(t, got.OK, "%s: %+v, %+v", format, got.Error, got.Truncated)
				assert.Contains(t, got.Stdout, "Long.md", "%s: %+v, %+v", format, got.Error, got.Truncated)
			}
			staysSmall(t, s, mostOfWorker)
		})
	}
}

func agentOf(t *testing.T, s *harness.HTTPServer) *harness.HTTPSession {
	t.Helper()
	a := require.Value(s.Connect(t.Context()))(t)
	return a
}

// What a large answer took is given back when no call follows, without waiting for the
// collector, which has nothing to do then.
func TestAWorkerAtRestGivesMemoryBack(t *testing.T) {
	testenv.OnlyLong(t)
	s := largeVault(t, map[string]string{"Large.md": prose(30)})
	a := agentOf(t, s)
	got, err := a.Call(t.Context(), map[string]any{"command": "search", "params": map[string]any{"query": "goes -nowhere"}})
	require.Equal(t, err, nil, "%+v", got)
	require.That(t, got.OK, "%+v", got)
	workers := harness.WorkersOf(t, s.Process.Process.Pid)
	require.That(t, len(workers) == 1, "%d workers", len(workers))
	peak, _ := peakKiB(t, workers[0])
	require.That(t, peak >= 40<<10, "the worker needed only %d KiB: nothing is shown by this", peak)
	isAtRest := func() bool { return harness.MemoryKiB(t, workers[0]) <= peak/2 }
	require.That(t, assert.Await(time.Minute, isAtRest),
		"the worker has %d KiB of %d a minute after its call", harness.MemoryKiB(t, workers[0]), peak)
}
