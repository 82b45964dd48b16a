package exec

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"vaultwicket/exec/process"
)

// The limits of workers.
const (
	// maxIdle is when a worker ends that nobody asks anything: a session that
	// is over should leave nothing in memory.
	maxIdle = 10 * time.Minute
	// checkInterval is how often the memory of a worker is looked at. Within it a
	// call cannot fill a machine.
	checkInterval = time.Second
	// memoryRetire is when a worker is replaced as soon as nobody waits for it. A
	// vault of 100,000 notes needs 300 MiB.
	memoryRetire = 768 << 20
	// memoryStop is when it is stopped at once: the longest note that can be
	// changed is held a few times over and needs a quarter.
	memoryStop = 2 << 30
	// maxRemarks bounds what is kept of the standard error of a call: facts and a
	// remark, or the stacks of a panic.
	maxRemarks = 1 << 20
	// otherWorkers is how many workers a call is brought to when they say that
	// they cannot begin: the folder of a vault is rarely replaced once.
	otherWorkers = 3
)

// workerLimits are the constants above; tests have others.
type workerLimits struct {
	idle, checkHealth time.Duration
	full, stopAbove   int64
}

// pool keeps at most one worker a vault that takes new calls. Workers that take
// none any more are with it until they have ended.
type pool struct {
	keep   int
	limits workerLimits

	mu     sync.Mutex
	closed bool
	taking map[workerKey]*worker
	all    map[*worker]struct{}
	lives  sync.WaitGroup
}

// workerKey is what a worker is for: the vault in a folder, under access rules.
type workerKey struct{ folder, access string }

func newPool(keep int) *pool {
	return &pool{
		keep:   keep,
		limits: workerLimits{idle: maxIdle, checkHealth: checkInterval, full: memoryRetire, stopAbove: memoryStop},
	}
}

// run has the worker of the vault of c answer one command. What c says about
// one call is not looked at: a worker is started without it. by is the worker that
// answered, nil if none did.
func (p *pool) run(ctx context.Context, c process.Child, command Command, access string) (e process.Ending, by *worker) {
	for range otherWorkers {
		w := p.acquire(c, workerKey{command.folder(), access})
		if w == nil {
			e := p.nothing()
			e.End(process.Stopped, context.Canceled) // the gateway ends
			return e, nil
		}
		e, unrun := w.ask(ctx, command)
		p.release(w)
		if !unrun {
			return e, w
		}
	}
	e = p.nothing()
	e.Kind, e.How = process.Lost, "ended again and again"
	return e, nil
}

// nothing is the ending of a call of which nothing was sent.
func (p *pool) nothing() process.Ending {
	return process.Ending{Exit: process.NoExit, Stdout: process.NewStream(p.keep, nil, nil), Stderr: process.NewStream(min(p.keep, maxRemarks), nil, nil)}
}

// acquire returns the worker that takes the calls for a vault, and starts it if
// there is none. It is not waited for. The caller calls leave. With a pool that
// is closed it is nil.
func (p *pool) acquire(c process.Child, at workerKey) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	w := p.taking[at]
	if w == nil {
		w = newWorker(p, at)
		if p.taking == nil {
			p.taking, p.all = map[workerKey]*worker{}, map[*worker]struct{}{}
		}
		p.taking[at], p.all[w] = w, struct{}{}
		c.Args = []string{"vault", at.folder, "--worker"}
		p.lives.Go(func() { w.live(c) })
	}
	w.inFlight++
	w.resumeChecks()
	return w
}

func (p *pool) release(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.inFlight--
	w.idleSince = time.Now()
	w.closeInputIfIdle()
}

// retire gives the worker no more calls; it ends when those it has are
// answered.
func (p *pool) retire(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.retire()
}

// remove forgets a worker that has ended.
func (p *pool) remove(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.retire()
	delete(p.all, w)
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for w := range p.all {
		if w.inFlight > 0 {
			w.stop("was ended with the gateway")
		}
		w.retire()
	}
	p.mu.Unlock()
	p.lives.Wait()
}

// sizes is how long the large answers of a worker were the last time, by what was asked. The
// same listing is asked for again and again, and an answer of about the same length then takes
// its space at once: each time it grows, a copy is left behind. Of two calls that come to the
// same place the later one is known.
type sizes struct {
	mu    sync.Mutex
	known [32]struct {
		call uint64 // its hash
		size int64
	}
}

var sizesSeed = maphash.MakeSeed()

func callHash(words []string) uint64 {
	var h maphash.Hash
	h.SetSeed(sizesSeed)
	for _, word := range words {
		_, _ = h.WriteString(word) // it takes everything
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// of returns how long the answer to a call was, 0 where that is not known.
func (s *sizes) of(call uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[call%uint64(len(s.known))]; known.call == call {
		return known.size
	}
	return 0
}

// keep notes how long the answer to a call is.
func (s *sizes) keep(call uint64, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := &s.known[call%uint64(len(s.known))]
	known.call, known.size = call, size
}

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

// turn is the right of one call to use the app, which answers one call at a time. It is
// used by one goroutine. nil is a turn that is somebody else's to begin and end.
type turn struct {
	r    *Runner
	held bool
}

// turn returns a turn that has not begun.
func (r *Runner) turn() *turn { return &turn{r: r} }

// begin waits until no other call uses the app. A turn that has begun and not ended goes
// on.
func (t *turn) begin(ctx context.Context) error {
	if t == nil || t.held {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return stoppedBy(err, t.r.config.Timeout, false)
	}
	t.r.queued.Add(1)
	defer t.r.queued.Add(-1)
	select {
	case t.r.queue <- struct{}{}:
		t.held = true
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &Stopped{code: CodeTimeout, reason: "the time limit passed while the call was queued: the app answers one call at a time",
				hint: "nothing was changed; try again later, with fewer calls at once"}
		}
		return stoppedBy(ctx.Err(), t.r.config.Timeout, false)
	}
}

// end lets the next call use the app. It may be called again.
func (t *turn) end() {
	if t != nil && t.held {
		t.held = false
		<-t.r.queue
	}
}
