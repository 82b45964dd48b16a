package consent

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTheStopwatchRunsForwardOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		w := newStopwatch(c.now)
		want := time.Duration(0)
		for _, step := range rapid.SliceOf(rapid.Int64Range(-int64(time.Hour), int64(time.Hour))).Draw(t, "steps") {
			c.pass(time.Duration(step))
			want += max(0, time.Duration(step))
			if got := w.elapsed(); got != want {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

func TestTheStopwatchTakesTimesWithAndWithoutAMonotonicClock(t *testing.T) {
	monotonic := time.Now()
	times := []time.Time{monotonic, monotonic.Round(0).Add(time.Hour)}
	w := newStopwatch(func() time.Time {
		next := times[0]
		times = times[1:]
		return next
	})
	if got := w.elapsed(); got != time.Hour {
		t.Errorf("%v", got)
	}
}
