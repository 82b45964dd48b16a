package approvals

import "time"

// stopwatch measures time so that nothing which has expired comes to life again.
// A clock that is put forward moves it forward, and so does sleep of the
// machine; a clock that is put back does not move it back or hold it up.
type stopwatch struct {
	now  func() time.Time
	last time.Time
	run  time.Duration
}

func newStopwatch(now func() time.Time) stopwatch {
	if now == nil {
		now = time.Now
	}
	return stopwatch{now: now, last: now()}
}

// elapsed returns the time since the stopwatch was made.
func (w *stopwatch) elapsed() time.Duration {
	now := w.now()
	// The monotonic clock stands still while some machines sleep, the one on the
	// wall can be set: the larger step counts.
	w.run += max(0, now.Sub(w.last), now.Round(0).Sub(w.last.Round(0)))
	w.last = now
	return w.run
}
