package protocol

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Progress is the progress of a call: how many of the files found were read, or how many operations
// of a batch were carried out. The embedded program sends it in frames; the gateway passes it
// through the context of the call.
//
// It counts only files that the caller may see. It is for display only: a count may be missing or
// late. The zero Progress means that the progress is unknown.
type Progress struct {
	Done, Total int // Total is the number known so far, and may rise
	Of          ProgressKind
}

// ProgressKind is the kind of thing that a [Progress] counts.
type ProgressKind string

// Kinds of progress.
const (
	FilesRead      ProgressKind = "read"       // files of the vault
	FilesChanged   ProgressKind = "changed"    // files of the vault
	Operations     ProgressKind = "operations" // operations of a batch
	OperationsBack ProgressKind = "taken back" // operations of a batch that were undone
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

// WithProgress returns a context whose call reports its progress by calling tell, from any
// goroutine, but not after the call has returned. If tell is nil, nothing is reported.
func WithProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ProgressOf returns the function to report the progress of the call of ctx to. It is never nil.
func ProgressOf(ctx context.Context) (report func(Progress)) {
	report, _ = ctx.Value(progressKey{}).(func(Progress))
	if report == nil {
		return func(Progress) {}
	}
	return report
}

const (
	firstReportAfter = 700 * time.Millisecond // before the first report; most calls are shorter
	reportInterval   = 400 * time.Millisecond // minimum between two reports
)

// Tally counts the files of one call and reports the count. It is safe for concurrent use. A nil
// Tally counts nothing.
type Tally struct {
	done, total atomic.Int64
	nextReport  atomic.Int64 // when the next report is due, in nanoseconds since begun
	start       time.Time

	mu     sync.Mutex
	kind   ProgressKind
	report func(Progress) // nil once the call has ended
}

// NewTally returns a Tally of files read that reports to tell, never concurrently. It returns nil if
// tell is nil.
func NewTally(report func(Progress)) *Tally {
	if report == nil {
		return nil
	}
	t := &Tally{kind: FilesRead, report: report, start: time.Now()}
	t.nextReport.Store(int64(firstReportAfter))
	return t
}

// Found adds files to the total.
func (t *Tally) Found(files int) {
	if t != nil {
		t.total.Add(int64(files))
	}
}

// Done counts one file, and reports the count if a report is due.
func (t *Tally) Done() {
	if t == nil {
		return
	}
	done := int(t.done.Add(1))
	now := int64(time.Since(t.start))
	next := t.nextReport.Load()
	isDue := now >= next && t.nextReport.CompareAndSwap(next, now+int64(reportInterval))
	if !isDue {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.report != nil {
		t.report(Progress{Done: done, Total: max(int(t.total.Load()), done), Of: t.kind})
	}
}

// Count returns how many files were counted as done.
func (t *Tally) Count() int {
	if t == nil {
		return 0
	}
	return int(t.done.Load())
}

// Changing starts counting changed files, of which there will be the given number, instead of files
// read.
func (t *Tally) Changing(files int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kind = FilesChanged
	t.done.Store(0)
	t.total.Store(int64(files))
}

// End stops the reports. Call it before the call returns.
func (t *Tally) End() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report = nil
}
