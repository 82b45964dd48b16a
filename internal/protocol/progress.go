package protocol

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Progress of a call: files read of those found, operations of a batch. The embedded program
// sends it in frames; the gateway passes it through the context of the call.
//
// It counts only what the caller may see. It is for display: a count may be missing or late.
// The zero Progress is unknown.
type Progress struct {
	Done, Total int // Total counts what is known so far, and may rise
	Of          ProgressKind
}

// ProgressKind says what is counted.
type ProgressKind string

// What is counted.
const (
	FilesRead      ProgressKind = "read"       // files of the vault
	FilesChanged   ProgressKind = "changed"    // files of the vault
	Operations     ProgressKind = "operations" // of a batch
	OperationsBack ProgressKind = "taken back" // operations of a batch
)

// String returns the progress for people, such as "120 of 3000 files read".
func (p Progress) String() string {
	ending := "s"
	if p.Total == 1 {
		ending = ""
	}
	switch p.Of {
	case Operations:
		return fmt.Sprintf("%d of %d operation%s", p.Done, p.Total, ending)
	case OperationsBack:
		return fmt.Sprintf("%d of %d operation%s taken back", p.Done, p.Total, ending)
	}
	return fmt.Sprintf("%d of %d file%s %s", p.Done, p.Total, ending, p.Of)
}

type progressKey struct{}

// WithProgress returns a context whose call reports its progress to tell, from any goroutine
// and not after the call has returned. A nil tell takes no reports.
func WithProgress(ctx context.Context, tell func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// ProgressOf returns the function that takes the progress of the call of ctx, never nil.
func ProgressOf(ctx context.Context) (tell func(Progress)) {
	if tell, _ = ctx.Value(progressKey{}).(func(Progress)); tell == nil {
		return func(Progress) {}
	}
	return tell
}

const (
	tellAfter = 700 * time.Millisecond // before the first count; most calls are shorter
	tellApart = 400 * time.Millisecond // between two counts
)

// Tally counts the files of one call. A nil Tally counts nothing. It is used by several goroutines.
type Tally struct {
	done, total atomic.Int64
	next        atomic.Int64 // when it is told again, in nanoseconds since begun
	begun       time.Time

	mu   sync.Mutex
	of   ProgressKind
	tell func(Progress) // nil once the call has ended
}

// NewTally returns a Tally of files that are read, whose counts go to tell, one after the other; nil if tell is.
func NewTally(tell func(Progress)) *Tally {
	if tell == nil {
		return nil
	}
	t := &Tally{of: FilesRead, tell: tell, begun: time.Now()}
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
	now := int64(time.Since(t.begun))
	next := t.next.Load()
	if now < next || !t.next.CompareAndSwap(next, now+int64(tellApart)) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tell != nil {
		t.tell(Progress{Done: done, Total: max(int(t.total.Load()), done), Of: t.of})
	}
}

// Count returns how many files are done.
func (t *Tally) Count() int {
	if t == nil {
		return 0
	}
	return int(t.done.Load())
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

// End stops the reports: the call has ended.
func (t *Tally) End() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell = nil
}
