package bootstrap

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestAPauseBetweenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Activity
		var pauses atomic.Int32
		call := func() {
			_, observer := a.Begin(t.Context(), telemetry.CallStart{})
			require.That(t, observer == nil, "it wants to hear more")
		}
		wait := func(length time.Duration, want int32) {
			t.Helper()
			time.Sleep(length)
			synctest.Wait()
			got := pauses.Load()
			require.That(t, got == want, "%d pauses, want %d", got, want)
		}
		call() // no one has asked yet
		stop := a.AfterPause(10*time.Second, func() { pauses.Add(1) })
		wait(21*time.Second, 1)
		wait(time.Hour, 1) // there was no call in between
		for range 100 {
			call()
			wait(9*time.Second, 1)
		}
		wait(12*time.Second, 2)
		call()
		call()
		wait(9*time.Second, 2)
		wait(12*time.Second, 3)
		call()
		stop()
		call()
		wait(time.Hour, 3)
	})
}

// However calls and the ends of pauses meet, the last call is followed by a pause.
func TestCallsAtTheEndOfAPause(t *testing.T) {
	var a Activity
	var begun, last atomic.Uint64 // how many calls there were, and at the last pause
	defer a.AfterPause(time.Microsecond, func() { last.Store(begun.Load()) })()
	const callers, calls = 4, 10_000
	for range callers {
		go func() {
			for range calls {
				begun.Add(1)
				a.Begin(t.Context(), telemetry.CallStart{})
			}
		}()
	}
	areCounted := func() bool { return last.Load() >= callers*calls }
	require.That(t, assert.Await(20*time.Second, areCounted),
		"the last pause was after %d of %d calls", last.Load(), begun.Load())
}
