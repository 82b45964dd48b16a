package exec

import (
	"context"
	"errors"
	"strconv"
	"time"

	"vaultwicket/exec/process"
)

// KeptAnswer is an answer to a permitted call that a resident embedded program has kept, when it
// sent the first part, see [FirstPart]. To fetch it starts no process.
type KeptAnswer struct {
	Bytes, Rows int // that it has

	worker  *worker
	id      string
	timeout time.Duration
}

// ErrNotKept says that an answer is not kept any more: its process has ended, or needed the
// room.
var ErrNotKept = errors.New("the answer is not kept any more")

// More fetches some of the answer: so many bytes at least and a few rows more at most, or all
// up to its end. from is where an earlier part ended. Behind a part that does not end its line
// a line break is added. It can be fetched again, for some time, and is kept under the [Hold]
// of ctx. The error is [ErrNotKept], or a [*Stopped].
func (k *KeptAnswer) More(ctx context.Context, from, atLeast int) (string, error) {
	atLeast = max(min(atLeast, k.Bytes-from), 0)
	w := k.worker
	if !w.pool.reacquire(w) {
		return "", ErrNotKept
	}
	defer w.pool.release(w)
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	e, _ := w.ask(ctx, Command{Args: []string{"vault", w.at.folder, "--kept", k.id, strconv.Itoa(from), strconv.Itoa(atLeast)}, Prefix: 2})
	if e.Kind == process.Stopped {
		return "", stoppedBy(e.Cause, k.timeout, false)
	}
	text, _ := e.Stdout.Text()
	if e.Kind != process.Exited || e.Exit != 0 || len(text) < atLeast || e.Stdout.Cut() {
		return "", ErrNotKept
	}
	return text, nil
}

// keptOf returns what the worker that answered has kept, nil for nothing.
func (r *Runner) keptOf(a attempt) *KeptAnswer {
	kept := a.facts.Whole
	if kept == nil || a.worker == nil {
		return nil
	}
	return &KeptAnswer{Bytes: kept.Bytes, Rows: kept.Rows, worker: a.worker, id: kept.ID, timeout: r.config.Timeout}
}

// reacquire is acquire for a worker that has answered already. It reports false when that
// takes no more calls.
func (p *pool) reacquire(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || w.retired {
		return false
	}
	w.inFlight++
	w.resumeChecks()
	return true
}
