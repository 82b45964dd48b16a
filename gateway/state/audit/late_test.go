package audit

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func decision(call string) Line {
	return Line{Kind: "decision", Call: call, Decision: "allow", Command: "read"}
}

func end(call string) Line { return Line{Kind: "end", Call: call, Command: "read"} }

// written are the lines of a log by kind and call.
func written(t *testing.T, state string) (kinds []string) {
	t.Helper()
	for line, err := range Lines(state, Filter{}) {
		require.NoError(t, err)
		kinds = append(kinds, line.Kind+" "+line.Call)
	}
	return kinds
}

// The decision of a call that takes long is in the log before its end, and the end after
// it; that of a short one comes with its end.
func TestTheDecisionOfALongReadDoesNotWaitForItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := t.TempDir()
		late := late{Logs: OpenLogs(state)}
		first := late.Hold(decision("first"))
		time.Sleep(lateAfter / 2)
		long, short := late.Hold(decision("long")), late.Hold(decision("short"))
		assert.That(t, late.End(short, end("short")), "a short call has its decision in the log before its end")
		time.Sleep(lateAfter/2 - time.Nanosecond)
		synctest.Wait()
		if got, want := written(t, state), []string{"decision short", "end short"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		time.Sleep(lateAfter / 2)
		synctest.Wait()
		want := []string{"decision first", "decision long", "decision short", "end short"} // by their times
		assert.EqualSlices(t, slices.Sorted(slices.Values(written(t, state))), want)
		for _, d := range []*heldDecision{first, long} {
			assert.That(t, !late.End(d, end(d.line.Call)), "a decision is written twice")
		}
		time.Sleep(time.Hour)
		again := late.Hold(decision("again")) // the timer had stopped
		time.Sleep(lateAfter)
		synctest.Wait()
		assert.That(t, !late.End(again, end("again")), "the decision of a later call waits for its end")
	})
}

// Each line is in the log once, whichever comes first.
func TestNoDecisionIsLostOrWrittenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := t.TempDir()
		late := late{Logs: OpenLogs(state)}
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				call := fmt.Sprint(i)
				d := late.Hold(decision(call))
				time.Sleep(time.Duration(i%3) * lateAfter)
				if !late.End(d, end(call)) {
					_ = late.Logs.Write(end(call), false, false)
				}
			})
		}
		all.Wait()
		got := written(t, state)
		slices.Sort(got)
		if n, different := len(got), len(slices.Compact(got)); n != 120 || different != 120 {
			t.Errorf("%d lines, %d of them different, want 120", n, different)
		}
	})
}
