package exec

import (
	"context"
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
