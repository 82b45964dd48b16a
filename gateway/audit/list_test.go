package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// countedLines is a log of so many lines, in files of 8 MiB.
func countedLines(t *testing.T, count int) *Log {
	t.Helper()
	l := newLog(t, Limits{})
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for from := 0; from < count; from += 1000 {
		lines := make([]Line, min(1000, count-from))
		for i := range lines {
			n := from + i
			lines[i] = Line{Kind: "end", Time: start.Add(time.Duration(n) * time.Second), Call: fmt.Sprint("call ", n), Command: fmt.Sprint("command", n%100)}
		}
		require.NoError(t, l.WriteAll(Buffered, lines...))
	}
	return l
}

func callsOf(t *testing.T, dir string, f Filter) (calls []string) {
	t.Helper()
	for line, err := range List(t.Context(), dir, f) {
		require.NoError(t, err)
		calls = append(calls, line.Call)
	}
	return calls
}

// The newest lines are the last of all lines, wherever the parts begin in which a file is read from its end.
func TestTheNewestLinesAreTheLastOfAll(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	l := countedLines(t, 8_000)
	for _, f := range []Filter{{}, {Command: "command7"}, {Command: "command7", Decision: "deny"}} {
		all := callsOf(t, l.folder.dir, f)
		for _, limit := range []int{1, 2, 79, 80, 81, 1999, 2000, 5000, 9000} {
			f.Limit = limit
			got := callsOf(t, l.folder.dir, f)
			want := all[max(0, len(all)-limit):]
			assert.That(t, slices.Equal(got, want), "%+v: %d lines, want %d", f, len(got), len(want))
		}
	}
}

// A line that is damaged has its number in the file, also if only the end of the file is read.
func TestADamagedLineNearTheEndHasItsNumber(t *testing.T) {
	l := countedLines(t, 4_000)
	name := l.folder.file(currentFile)
	text := string(require.Value(os.ReadFile(name))(t))
	lines := strings.SplitAfter(text, "\n")
	lines[3989] = "damaged\n"
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600))
	var got error
	for _, err := range List(t.Context(), l.folder.dir, Filter{Limit: 20}) {
		if err != nil {
			got = err
		}
	}
	assert.Equal(t, fmt.Sprint(got), fmt.Sprint(&Damaged{currentFile, 3990}))
}

// Every reading of the log stops at a cancel.
func TestReadingStopsAtACancel(t *testing.T) {
	l := countedLines(t, 20)
	for _, f := range []Filter{{}, {Limit: 10}, {Kind: "none"}, {Kind: "none", Limit: 10}} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		lines, ended := 0, error(nil)
		if f.Kind != "" {
			cancel()
		}
		for _, err := range List(ctx, l.folder.dir, f) {
			lines++
			ended = err
			cancel()
		}
		isRead := f.Limit > 0 && f.Kind == "" // before the first one was given
		assert.Equal(t, isRead, ended == nil, "%+v: %d lines, %v", f, lines, ended)
		assert.That(t, isRead || errors.Is(ended, context.Canceled), "%+v: %d lines, %v", f, lines, ended)
		assert.That(t, isRead || lines <= 2, "%+v: %d lines after the cancel", f, lines)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Verify(ctx, l.folder.dir)
	assert.That(t, errors.Is(err, context.Canceled), "verify: %v", err)
}
