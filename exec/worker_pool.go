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

// The limits of workers.
const (
	maxIdle       = 10 * time.Minute // then a worker without calls ends: a session that is over leaves nothing in memory
	checkInterval = time.Second      // between two looks at the memory of a worker; a call cannot fill a machine within it
	memoryRetire  = 768 << 20        // replaced once no call waits for it; a vault of 100,000 notes needs 300 MiB
	memoryStop    = 2 << 30          // stopped at once; a change of the longest note needs a quarter
	otherWorkers  = 3                // asked for a call when they cannot begin: the folder of a vault is rarely replaced once
)

// workerLimits are the constants above; tests have others.
type workerLimits struct {
	idle, checkHealth time.Duration
	full, stopAbove   int64
	commit, perFile   time.Duration // see [workerLimits.commitOf]
	late              time.Duration // how long a call may go on that was cancelled
	unheard           time.Duration // how long a worker may leave it unconfirmed that a call is cancelled
}

// commitOf is how long a call may take to change so many files. It is far more than disks need: a program that takes
// longer hangs.
func (l workerLimits) commitOf(files int) time.Duration {
	return l.commit + time.Duration(files)*l.perFile
}

// pool has at most one worker a vault that takes new calls, and retired ones until they end.
type pool struct {
	keep   int
	limits workerLimits

	mu     sync.Mutex
	closed bool
	taking map[workerKey]*worker
	all    map[*worker]struct{}
	lives  sync.WaitGroup
}

// workerKey is what a worker is for: the vault in a folder, under access rules, with or without
// secrets, and with exceptions. sends says that it may send texts to another machine.
type workerKey struct {
	folder, access, redact string
	sends                  bool
}

// run has the worker of the vault of c answer one command. c starts the worker, so it has
// nothing of the call.
func (p *pool) run(
	ctx context.Context,
	c process.Child,
	command Command,
	at workerKey,
) (e process.Ending, reply protocol.Reply) {
	for range otherWorkers {
		w := p.acquire(c, at)
		if w == nil {
			e := p.nothing()
			e.End(process.Stopped, context.Canceled) // the gateway ends
			return e, reply
		}
		e, reply, unrun := w.ask(ctx, command)
		p.release(w)
		if !unrun {
			return e, reply
		}
	}
	e = p.nothing()
	e.Kind = process.Lost
	e.How = "ended again and again"
	return e, reply
}

// nothing is the ending of a call of which nothing was sent.
func (p *pool) nothing() process.Ending {
	return process.Ending{
		Exit:   process.NoExit,
		Stdout: process.NewStream(p.keep, nil, nil),
		Stderr: process.NewStream(0, nil, nil),
	}
}

// acquire returns the worker that takes the calls for a vault, and starts it if there is none,
// without waiting for it. The caller calls release. It returns nil if the pool is closed.
func (p *pool) acquire(c process.Child, at workerKey) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	w := p.taking[at]
	if w == nil {
		w = &worker{
			pool: p, at: at, begun: make(chan struct{}), gone: make(chan struct{}),
			slots: make(chan struct{}, protocol.MaxOpen), open: map[uint32]*exchange{}, idleSince: time.Now(),
		}
		w.life, w.end = context.WithCancel(context.Background())
		if p.taking == nil {
			p.taking, p.all = map[workerKey]*worker{}, map[*worker]struct{}{}
		}
		p.taking[at] = w
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

// StopSending ends the resident programs that may send texts of notes to another machine, each once its calls are done: what
// the user approved ends with them.
func (r *Runner) StopSending() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	for w := range r.pool.all {
		if w.at.sends {
			w.retire()
		}
	}
}

// sizes is the length of the last large answer by call: the same listings are requested repeatedly, and a
// buffer of the right size saves the copies of growth. Of two calls with the same slot the later one is known.
type sizes struct {
	mu    sync.Mutex
	known [32]struct {
		call uint64 // its hash
		size int64
	}
}

var sizesSeed = maphash.MakeSeed()

func callHash(q protocol.Request) uint64 {
	var h maphash.Hash
	h.SetSeed(sizesSeed)
	_, _ = h.WriteString(q.Command) // it takes everything
	for _, arg := range q.Args {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(arg)
	}
	return h.Sum64()
}

// of returns the length of the last answer to a call, 0 if it is unknown.
func (s *sizes) of(call uint64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[call%uint64(len(s.known))]; known.call == call {
		return known.size
	}
	return 0
}

func (s *sizes) keep(call uint64, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := &s.known[call%uint64(len(s.known))]
	known.call = call
	known.size = size
}

// The functions below end idle workers and those that use too much memory. They are called
// under the lock of the pool.

// resumeChecks schedules the next check soon: the worker has a call.
func (w *worker) resumeChecks() {
	if w.checksPaused {
		w.checksPaused = false
		w.healthTimer.Reset(w.pool.limits.checkHealth)
	}
}

// checkHealth ends the worker if it is time, and schedules the next check. It takes the lock itself.
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

func (w *worker) retire() {
	w.retired = true
	if w.pool.taking[w.at] == w {
		delete(w.pool.taking, w.at)
	}
	w.closeInputIfIdle()
}

// closeInputIfIdle ends the input of a retired worker without calls, and stops it if it does not end then.
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
// used by one goroutine. A nil turn is managed by the caller.
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

// end lets the next call use the app. It may be called again.
func (t *turn) end() {
	if t != nil && t.held {
		t.held = false
		<-t.r.queue
	}
}
