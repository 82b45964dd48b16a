package exec

import "time"

// This is how workers end that nobody stops: after a while without calls, or
// when they use too much memory. What is here is called under the pool's lock.

// watch begins to look at the worker from time to time.
func (w *worker) watch() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.clock = time.AfterFunc(w.pool.limits.look, w.look)
}

// wake has the worker looked at soon: it has got something to do.
func (w *worker) wake() {
	if w.parked {
		w.parked = false
		w.clock.Reset(w.pool.limits.look)
	}
}

// look ends the worker if it is time, and says when to look again. It takes the
// lock itself.
func (w *worker) look() {
	used := memoryOf(w.pid)
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := time.Since(w.rested)
	switch {
	case w.retired && w.guests == 0:
		return
	case used > p.limits.wild:
		w.stop("used too much memory")
		return
	case used > p.limits.full, w.guests == 0 && rest >= p.limits.idle:
		w.retire()
	}
	w.parked = w.guests == 0 && rest >= p.limits.look
	next := p.limits.look
	if w.parked {
		next = max(p.limits.idle-rest, p.limits.look)
	}
	w.clock.Reset(next)
}

// retire takes the worker from those that take calls.
func (w *worker) retire() {
	w.retired = true
	if w.pool.taking[w.at] == w {
		delete(w.pool.taking, w.at)
	}
	w.hangUpIfDone()
}

// hangUpIfDone has a worker end that takes no more calls and has none: it sees
// the end of its input. One that does not is stopped.
func (w *worker) hangUpIfDone() {
	if !w.retired || w.guests > 0 || w.hungUp {
		return
	}
	w.hungUp = true
	select {
	case <-w.begun:
	default:
		w.stop("was not needed any more")
		return
	}
	if w.failed == nil {
		_ = w.peer.In.Close() // it may have ended by itself
		time.AfterFunc(stopGrace, w.end)
	}
}
