package exec

import (
	"context"

	"vaultwicket/exec/process"
)

// Children is what a [Runner] has running at a moment.
type Children struct {
	// Processes are programs that were started for one call each.
	Processes int
	// Workers are resident programs, those included that begin or end.
	Workers int
	// WorkerMemory is the resident memory of the workers together in bytes, 0
	// where it is not known: it is on Linux.
	WorkerMemory int64
	// Waiting are calls in the queue of the app.
	Waiting int
}

// Children counts what is running. It may be called at any time, and waits for
// no call.
func (r *Runner) Children() Children {
	c := Children{Processes: int(r.processes.Load()), Waiting: int(r.queued.Load())}
	for _, pid := range r.pool.pids() {
		c.Workers++
		if pid > 0 {
			c.WorkerMemory += process.MemoryOf(pid)
		}
	}
	return c
}

// pids returns the process of each worker, 0 for one that takes no requests yet.
func (p *pool) pids() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pids []int
	for w := range p.all {
		pid := 0
		select {
		case <-w.begun:
			pid = w.pid
		default:
		}
		pids = append(pids, pid)
	}
	return pids
}

// ReapOrphans reaps processes that the Obsidian CLI has started and left behind, until
// ctx ends. Only the first process of a Linux container gets such ones; in another it
// returns at once.
func ReapOrphans(ctx context.Context) { process.ReapOrphans(ctx) }
