package mcp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What the server may read and write by the system for one read of a note: a message and an
// answer of the worker are read, with a try each that finds no more; the answer, the request
// to the worker, and the lines of the audit log with their head are written.
const (
	mostSystemReads  = 4
	mostSystemWrites = 4
)

// TestAReadTakesFewSystemCalls counts them by the accounts that the kernel keeps of the
// server. On a busy machine many calls need more: a decision is then written before its
// end, or a thread is woken for a timer. So calls are counted one by one, and enough of
// many have to keep to the limits.
func TestAReadTakesFewSystemCalls(t *testing.T) {
	s := harness.ServeOn(t, harness.SampleVault(t), "--tier=v1")
	s.Read()
	account := fmt.Sprintf("/proc/%d/io", s.Process.Process.Pid)
	if _, err := os.ReadFile(account); err != nil {
		t.Skipf("the kernel keeps no accounts: %v", err)
	}
	const calls, enough = 2000, 200
	counted, within := map[systemCalls]int{}, 0
	for n := 0; n < calls && within < enough; n++ {
		before := systemCallsOf(t, account)
		s.Send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"read","params":{"path":"Tides.md"}}}}`)
		if answer := fmt.Sprint(s.Read()); !strings.Contains(answer, "Two a day.") {
			t.Fatal(answer)
		}
		after := systemCallsOf(t, account)
		took := systemCalls{reads: after.reads - before.reads, writes: after.writes - before.writes}
		counted[took]++
		if took.reads <= mostSystemReads && took.writes <= mostSystemWrites {
			within++
		}
	}
	if within < enough {
		t.Errorf("%d of %d calls needed at most %d reads and %d writes, want %d; calls by what they needed: %+v",
			within, calls, mostSystemReads, mostSystemWrites, enough, counted)
	}
}

// systemCalls are system calls of a process since its start.
type systemCalls struct{ reads, writes int }

func systemCallsOf(t *testing.T, account string) (n systemCalls) {
	t.Helper()
	text := require.Value(os.ReadFile(account))(t)
	var bytesRead, bytesWritten int
	if _, err := fmt.Sscanf(string(text), "rchar: %d\nwchar: %d\nsyscr: %d\nsyscw: %d\n", &bytesRead, &bytesWritten, &n.reads, &n.writes); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}
