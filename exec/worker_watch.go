package exec

import (
	"time"

	"vaultwicket/exec/process"
)

// This is how workers end that nobody stops: after a while without calls, or
// when they use too much memory. What is here is called under the pool's lock.

// watch begins to look at the worker from time to time.
func (w *worker) watch() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.healthTimer = time.AfterFunc(w.pool.limits.checkHealth, w.checkHealth)
}

// resumeChecks has the worker checked soon: it has a call.
func (w *worker) resumeChecks() {
	if w.checksPaused {
		w.checksPaused = false
		w.healthTimer.Reset(w.pool.limits.checkHealth)
	}
}

// checkHealth ends the worker if it is time, and schedules the next check. It takes the
// lock itself.
func (w *worker) checkHealth() {
	used := process.MemoryOf(w.pid)
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := time.Since(w.idleSince)
	switch {
	case w.retired && w.inFlight == 0:
		return
	case used > p.limits.stopAbove:
		w.stop("used too much memory")
		return
	case used > p.limits.full, w.inFlight == 0 && rest >= p.limits.idle:
		w.retire()
	}
	w.checksPaused = w.inFlight == 0 && rest >= p.limits.checkHealth
	next := p.limits.checkHealth
	if w.checksPaused {
		next = max(p.limits.idle-rest, p.limits.checkHealth)
	}
	w.healthTimer.Reset(next)
}

// retire takes the worker from those that take calls.
func (w *worker) retire() {
	w.retired = true
	if w.pool.taking[w.at] == w {
		delete(w.pool.taking, w.at)
	}
	w.closeInputIfIdle()
}

// closeInputIfIdle has a worker end that takes no more calls and has none: it sees
// the end of its input. One that does not is stopped.
func (w *worker) closeInputIfIdle() {
	if !w.retired || w.inFlight > 0 || w.inputClosed {
		return
	}
	w.inputClosed = true
	select {
	case <-w.begun:
	default:
		w.stop("was not needed any more")
		return
	}
	if w.failed == nil {
		_ = w.peer.In.Close() // it may have ended by itself
		time.AfterFunc(process.StopGrace, w.end)
	}
}
