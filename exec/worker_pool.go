package exec

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// Limits of workers.
const (
	maxIdle        = 10 * time.Minute // a worker without calls then ends, so that a finished session leaves nothing in memory
	healthInterval = time.Second      // between two memory checks; one call cannot exhaust a machine within it
	memoryRetire   = 768 << 20        // above this a worker is replaced once it is idle; a vault of 100,000 notes needs 300 MiB
	memoryStop     = 2 << 30          // above this it is stopped at once; a change of the longest note needs a quarter of it
	maxAttempts    = 3                // workers tried for a call when they cannot start; the folder of a vault is rarely replaced even once
)

// workerLimits are the constants above; tests use other values.
type workerLimits struct {
	idle, checkHealth      time.Duration
	retireAbove, stopAbove int64
	commit, perFile        time.Duration // see [workerLimits.commitOf]
	late                   time.Duration // how long a cancelled call may continue
	unheard                time.Duration // how long a worker may take to confirm a cancellation, if it is given a processor
}

// commitOf returns how long a call may take to change that many files. It is far more than disks need: a program
// that takes longer hangs.
func (l workerLimits) commitOf(files int) time.Duration {
	return l.commit + time.Duration(files)*l.perFile
}

// pool has at most one worker per key that accepts new calls, and retired workers until they end.
type pool struct {
	keep   int
	limits workerLimits
	// demandOf is [process.DemandOf]; tests use another one.
	demandOf func(pid int) (d process.Demand, isKnown bool)

	mu        sync.Mutex
	closed    bool
	accepting map[workerKey]*worker // workers that accept new calls
	all       map[*worker]struct{}  // also those that are retired
	lives     sync.WaitGroup        // one for each worker process
}

// workerKey identifies the calls that a worker answers: those on the vault in a folder, under the given access rules
// and the given handling of secrets with its exceptions. sends means that it may send texts to another machine.
type workerKey struct {
	folder, access, redact string
	sends                  bool
}

// run runs one command on the worker for the key at. c is used to start the worker, so it contains nothing of the
// call.
func (p *pool) run(
	ctx context.Context,
	c process.Child,
	command Command,
	at workerKey,
) (e process.Ending, reply protocol.Reply) {
	for range maxAttempts {
		w := p.acquire(c, at)
		if w == nil {
			e := p.notSent()
			e.End(process.Stopped, context.Canceled) // the gateway ends
			return e, reply
		}
		e, reply, unrun := w.ask(ctx, command)
		p.release(w)
		if !unrun {
			return e, reply
		}
	}
	e = p.notSent()
	e.Kind = process.Lost
	e.How = "ended again and again"
	return e, reply
}

// notSent returns the ending of a call of which nothing was sent.
func (p *pool) notSent() process.Ending {
	return process.Ending{
		Exit:   process.NoExit,
		Stdout: process.NewStream(p.keep, nil, nil),
		Stderr: process.NewStream(0, nil, nil),
	}
}

// acquire returns the worker that accepts calls for a key. If there is none it starts one, without waiting for it.
// The caller must call release. acquire returns nil if the pool is closed.
func (p *pool) acquire(c process.Child, at workerKey) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	w := p.accepting[at]
	if w == nil {
		w = &worker{
			pool:      p,
			at:        at,
			begun:     make(chan struct{}),
			gone:      make(chan struct{}),
			slots:     make(chan struct{}, protocol.MaxOpen),
			open:      map[uint32]*exchange{},
			idleSince: time.Now(),
		}
		w.life, w.end = context.WithCancel(context.Background())
		if p.accepting == nil {
			p.accepting = map[workerKey]*worker{}
			p.all = map[*worker]struct{}{}
		}
		p.accepting[at] = w
		p.all[w] = struct{}{}
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

func (p *pool) retire(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.retire()
}

// StopSending retires the workers that may send texts of notes to another machine. Each ends once its calls are
// done. What the user approved ends with them.
func (r *Runner) StopSending() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	for w := range r.pool.all {
		if w.at.sends {
			w.retire()
		}
	}
}

// sizes has the length of the last large answer by call. The same listings are requested repeatedly, and a buffer of
// the right size avoids copies while it grows. If two calls share a slot, only the later one is known.
type sizes struct {
	mu    sync.Mutex
	known [32]struct {
		call uint64 // hash of the call
		size int64
	}
}

var sizesSeed = maphash.MakeSeed()

func callHash(q protocol.Request) uint64 {
	var h maphash.Hash
	h.SetSeed(sizesSeed)
	_, _ = h.WriteString(q.Command) // it never fails
	for _, arg := range q.Args {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(arg)
	}
	return h.Sum64()
}

// of returns the length of the last large answer to a call, 0 if it is unknown.
func (s *sizes) of(call uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry := s.known[call%uint64(len(s.known))]; entry.call == call {
		return entry.size
	}
	return 0
}

func (s *sizes) keep(call uint64, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := &s.known[call%uint64(len(s.known))]
	entry.call = call
	entry.size = size
}

// The functions below end idle workers and those that use too much memory. Their callers hold pool.mu.

// resumeChecks schedules the next check soon, because the worker has a call.
func (w *worker) resumeChecks() {
	if w.checksPaused {
		w.checksPaused = false
		w.healthTimer.Reset(w.pool.limits.checkHealth)
	}
}

// checkHealth retires or stops the worker if necessary, and schedules the next check. Unlike the others it acquires
// pool.mu itself.
func (w *worker) checkHealth() {
	used := process.MemoryOf(w.pid)
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := time.Since(w.idleSince)
	switch {
	case w.retired && w.inFlight == 0:
		return
	case used > p.limits.stopAbove:
		w.stop("used too much memory")
		return
	case used > p.limits.retireAbove, w.inFlight == 0 && idle >= p.limits.idle:
		w.retire()
	}
	w.checksPaused = w.inFlight == 0 && idle >= p.limits.checkHealth
	next := p.limits.checkHealth
	if w.checksPaused {
		next = max(p.limits.idle-idle, p.limits.checkHealth)
	}
	w.healthTimer.Reset(next)
}

func (w *worker) retire() {
	w.retired = true
	if w.pool.accepting[w.at] == w {
		delete(w.pool.accepting, w.at)
	}
	w.closeInputIfIdle()
}

// closeInputIfIdle closes the input of a retired worker without calls, and stops the worker if it does not end then.
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

// turn is the right of one call to use the app, which answers one call at a time. It is used by one goroutine. All
// methods of a nil turn do nothing: then the caller manages the turn.
type turn struct {
	r    *Runner
	held bool
}

// begin waits until no other call uses the app, unless the turn has begun already.
func (t *turn) begin(ctx context.Context) error {
	if t == nil || t.held {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return stoppedBy(err, t.r.config.Timeout)
	}
	t.r.queued.Add(1)
	defer t.r.queued.Add(-1)
	select {
	case t.r.queue <- struct{}{}:
		t.held = true
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &Stopped{
				fact{
					code:   CodeTimeout,
					reason: "the time limit passed while the call was queued: the app answers one call at a time",
					hint:   "nothing was changed; try again later, with fewer calls at once",
				},
			}
		}
		return stoppedBy(ctx.Err(), t.r.config.Timeout)
	}
}

// end lets the next call use the app. It may be called more than once.
func (t *turn) end() {
	if t != nil && t.held {
		t.held = false
		<-t.r.queue
	}
}
