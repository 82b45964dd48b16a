package frame

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	tellAfter = 700 * time.Millisecond // before the first count; most calls are shorter
	tellApart = 400 * time.Millisecond // between two counts
)

// Tally counts the files of one call. A nil Tally counts nothing. It is used by several goroutines.
type Tally struct {
	done, total atomic.Int64
	next        atomic.Int64 // when it is told again, in nanoseconds since begun
	begun       time.Time

	mu  sync.Mutex
	of  ProgressKind
	out io.Writer // nil once the call has ended
}

// NewTally returns a Tally of files that are read, whose lines go to out. If out has a method
// Flush, that is called after each.
func NewTally(out io.Writer) *Tally {
	t := &Tally{of: FilesRead, out: out, begun: time.Now()}
	t.next.Store(int64(tellAfter))
	return t
}

// Found adds files that are to be done.
func (t *Tally) Found(files int) {
	if t != nil {
		t.total.Add(int64(files))
	}
}

// Done counts one file, and reports the count if it is due.
func (t *Tally) Done() {
	if t == nil {
		return
	}
	done := int(t.done.Add(1))
	now, next := int64(time.Since(t.begun)), t.next.Load()
	if now < next || !t.next.CompareAndSwap(next, now+int64(tellApart)) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == nil {
		return
	}
	c := Progress{Done: done, Total: max(int(t.total.Load()), done), Of: t.of}
	_, _ = io.WriteString(t.out, c.Line()) // the reader may have gone
	if held, ok := t.out.(interface{ Flush() error }); ok {
		_ = held.Flush()
	}
}

// Changing starts to count so many changed files, in place of those that are read.
func (t *Tally) Changing(files int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of = FilesChanged
	t.done.Store(0)
	t.total.Store(int64(files))
}

// End stops the reports: later lines would belong to another call.
func (t *Tally) End() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out = nil
}
