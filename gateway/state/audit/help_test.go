package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vaultwicket/tests/require"
)

// newLog returns a log in a folder that is not there yet.
func newLog(t testing.TB, limits Limits) *Log {
	t.Helper()
	l := Open(filepath.Join(t.TempDir(), "state", "audit"), limits)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// again returns the same log as another process would see it.
func again(t testing.TB, l *Log) *Log {
	next := Open(l.folder.dir, l.limits)
	t.Cleanup(func() { _ = next.Close() })
	return next
}

func sample(n int) Line {
	exit := n % 3
	return Line{
		Kind: "end", Call: fmt.Sprintf("call-%d", n), Session: "s-1", Client: "a client", Surface: "mcp", Vault: "Work",
		Command: "daily:append", Effect: "writes", Decision: "allow", Rule: "mutationsOpen", Backend: "obsidian",
		Note: "0123456789abcdef", Before: "00112233445566778899aabbccddeeff", Change: "20260102T030405.000000000Z-abcd",
		Exit: &exit, DurationMs: int64(n), Params: []Param{{"content", n, "fedcba9876543210"}, {"open", 4, ""}},
	}
}

func writeAll(t testing.TB, l *Log, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		require.NoError(t, l.Write(sample(n), n%5 == 0))
	}
}

func verified(t testing.TB, l *Log) Report {
	t.Helper()
	r, err := Verify(l.folder.dir)
	require.NoError(t, err)
	return r
}

// wantWhole fails unless the log is whole and has so many lines.
func wantWhole(t testing.TB, l *Log, lines int) {
	t.Helper()
	r := verified(t, l)
	require.That(t, r.Broken == nil && r.Lines == lines, "%d lines, want %d, broken: %v", r.Lines, lines, r.Broken)
}

func listed(t testing.TB, l *Log, f Filter) (lines []Line) {
	t.Helper()
	for line, err := range List(l.folder.dir, f) {
		require.NoError(t, err)
		lines = append(lines, line)
	}
	return lines
}

func readFile(t testing.TB, l *Log, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(l.folder.file(name))
	require.NoError(t, err)
	return data
}

func writeFile(t testing.TB, l *Log, name string, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(l.folder.file(name), data, 0o600))
}

// linesOf returns the lines of a file, with their ends.
func linesOf(t testing.TB, l *Log, name string) [][]byte {
	t.Helper()
	return slices.Collect(bytes.Lines(readFile(t, l, name)))
}
