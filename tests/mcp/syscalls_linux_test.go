package mcp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"vaultwicket/tests/rig"
)

// What the server may read and write by the system for one read of a note: a message and an
// answer of the worker are read, with a try each that finds no more; the answer, the request
// to the worker, and the lines of the audit log with their head are written.
const (
	mostSystemReads  = 4
	mostSystemWrites = 4
)

// TestAReadTakesFewSystemCalls counts them by the accounts that the kernel keeps of the
// server. On a busy machine some calls need more: a decision is then written before its
// end, or a thread is woken for a timer. So the best of some batches counts.
func TestAReadTakesFewSystemCalls(t *testing.T) {
	s := rig.ServeOn(t, rig.SampleVault(t), "--tier=v1")
	s.Read(t)
	account := fmt.Sprintf("/proc/%d/io", s.Process.Process.Pid)
	if _, err := os.ReadFile(account); err != nil {
		t.Skipf("the kernel keeps no accounts: %v", err)
	}
	const batches, calls = 100, 5
	least := systemCalls{reads: 1 << 30, writes: 1 << 30}
	for range batches {
		before := systemCallsOf(t, account)
		for range calls {
			s.Send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"read","params":{"path":"Tides.md"}}}}`)
			if answer := fmt.Sprint(s.Read(t)); !strings.Contains(answer, "Two a day.") {
				t.Fatal(answer)
			}
		}
		after := systemCallsOf(t, account)
		least.reads, least.writes = min(least.reads, after.reads-before.reads), min(least.writes, after.writes-before.writes)
	}
	t.Logf("%.2f reads and %.2f writes", float64(least.reads)/calls, float64(least.writes)/calls)
	if least.reads > mostSystemReads*calls || least.writes > mostSystemWrites*calls {
		t.Errorf("%.2f reads and %.2f writes, want at most %d and %d",
			float64(least.reads)/calls, float64(least.writes)/calls, mostSystemReads, mostSystemWrites)
	}
}

// systemCalls are system calls of a process since its start.
type systemCalls struct{ reads, writes int }

func systemCallsOf(t *testing.T, account string) (n systemCalls) {
	t.Helper()
	text, err := os.ReadFile(account)
	if err != nil {
		t.Fatal(err)
	}
	var bytesRead, bytesWritten int
	if _, err := fmt.Sscanf(string(text), "rchar: %d\nwchar: %d\nsyscr: %d\nsyscw: %d\n", &bytesRead, &bytesWritten, &n.reads, &n.writes); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}
