package frame

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Progress of a call: files read of those found, operations of a batch. The embedded program
// sends it as a line on standard error; the gateway passes it through the context of the call.
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
	FilesRead    ProgressKind = "read"       // files of the vault
	FilesChanged ProgressKind = "changed"    // files of the vault
	Operations   ProgressKind = "operations" // of a batch
)

// String returns the progress for people, such as "120 of 3000 files read".
func (p Progress) String() string {
	if p.Of == Operations {
		return fmt.Sprintf("%d of %d operations", p.Done, p.Total)
	}
	return fmt.Sprintf("%d of %d files %s", p.Done, p.Total, p.Of)
}

// progressMark begins a line of the embedded program with its progress. No other line that
// it prints on standard error begins so.
const progressMark = "vaultwicket-progress: "

const (
	maxProgressLine = len(progressMark) + 64
	maxFiles        = 1 << 30 // more than a vault has
)

// Line returns the progress as the embedded program prints it, with a line break.
func (p Progress) Line() string {
	return fmt.Sprintf("%s%s %d %d\n", progressMark, p.Of, p.Done, p.Total)
}

// parseProgress reads the text that [Progress.Line] returns, with or without the line break.
func parseProgress(line string) (Progress, bool) {
	text, marked := strings.CutPrefix(strings.TrimSuffix(line, "\n"), progressMark)
	words := strings.Split(text, " ")
	if !marked || len(words) != 3 || words[0] != string(FilesRead) && words[0] != string(FilesChanged) {
		return Progress{}, false
	}
	done, errDone := strconv.ParseUint(words[1], 10, 31)
	total, errTotal := strconv.ParseUint(words[2], 10, 31)
	if errDone != nil || errTotal != nil || total > maxFiles || done > total {
		return Progress{}, false
	}
	return Progress{int(done), int(total), ProgressKind(words[0])}, true
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

// ProgressFilter removes the lines with progress from standard error of the embedded
// program. It is for one goroutine.
type ProgressFilter struct {
	to      io.Writer
	tell    func(Progress)
	begun   []byte // a line that may become one with progress; passing says that the current line is none
	passing bool
}

// NewProgressFilter returns a filter that passes each progress to tell, and writes other lines to a writer.
func NewProgressFilter(to io.Writer, tell func(Progress)) *ProgressFilter {
	return &ProgressFilter{to: to, tell: tell}
}

// Write implements [io.Writer]. The error is that of the underlying writer.
func (f *ProgressFilter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		whole := end > 0
		if !whole {
			end = len(rest)
		}
		piece := rest[:end] // of one line
		rest = rest[end:]
		if f.passing {
			f.passing = !whole
			if _, err := f.to.Write(piece); err != nil {
				return 0, err
			}
			continue
		}
		f.begun = append(f.begun, piece...)
		line := string(f.begun[:min(len(f.begun), maxProgressLine)])
		possible := len(f.begun) < maxProgressLine && (strings.HasPrefix(line, progressMark) || strings.HasPrefix(progressMark, line))
		switch c, ok := parseProgress(line); {
		case whole && possible && ok:
			f.begun = f.begun[:0]
			f.tell(c)
		case possible && !whole: // the rest decides
		default:
			f.passing = !whole
			if err := f.Flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// Flush writes the beginning of a line that was not ended. It is called at the end of the stream.
func (f *ProgressFilter) Flush() error {
	_, err := f.to.Write(f.begun)
	f.begun = f.begun[:0]
	return err
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
