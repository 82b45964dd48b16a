package mcp

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"testing"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// mostAllocations is how many allocations the server may make for one read by the resident
// worker, from the line with the call to the line with the answer. A change that needs more
// should save some elsewhere: garbage is the largest part of what a call costs.
const mostAllocations = 175

// TestAReadTakesFewAllocations counts them: unlike times they are the same on every machine.
func TestAReadTakesFewAllocations(t *testing.T) {
	o := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Runner = exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: harness.Binary, Resident: true, Getenv: c.Getenv})
		t.Cleanup(c.Runner.Close)
	})
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	done := make(chan error, 1)
	go func() {
		c := mcpserver.Config{Gateway: o.Gateway, Version: "1", MaxOutput: 16 << 10, Grace: harness.Deadline, Log: slog.New(slog.DiscardHandler)}
		done <- mcpserver.ServeStdio(t.Context(), c, theirs, ours)
	}()
	answers := bufio.NewReaderSize(out, 64<<10)
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidianRead","arguments":{"command":"read","params":{"path":"Inbox/a.md"}}}}` +
		"\n")
	read := func() {
		if _, err := in.Write(line); err != nil {
			t.Fatal(err)
		}
		answer, err := answers.ReadSlice('\n')
		require.Equal(t, err, nil, "%s", answer)
		require.That(t, bytes.Contains(answer, []byte(`"stdout":"one\n"`)), "%s", answer)
	}
	for range 20 { // then the worker runs, and files and buffers are there
		read()
	}
	n := testing.AllocsPerRun(300, read)
	t.Logf("%v allocations", n)
	assert.That(t, n <= mostAllocations, "%v allocations, want at most %d", n, mostAllocations)
	in.Close()
	assert.NoError(t, <-done)
}
