package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// The codes with which the embedded program fails. Programs rely on them.
const (
	CodeNotFound         = "not_found"
	CodeAlreadyExists    = "already_exists"
	CodeAmbiguous        = "ambiguous"
	CodeConflict         = "conflict"
	CodeAccessDenied     = "access_denied"
	CodeNotConfigured    = "not_configured"
	CodeBadValue         = "bad_value"
	CodeCLIError         = "cli_error"
	CodeNeedsApp         = "needs_app"
	CodeTargetRequired   = "target_required"
	CodeUnconfirmed      = "unconfirmed"
	CodeStateUnavailable = "state_unavailable"
	CodeVaultNotFound    = "vault_not_found"
	CodeTimeout          = "timeout"
	CodeOutputLimit      = "output_limit"
	CodeContentTooLong   = "content_too_long"
)

// HintAppDoesLess is the hint for a change of which the app would make only a part. The gateway
// recognizes it, and has the embedded CLI make the change if it may.
const HintAppDoesLess = "the embedded CLI can make the whole change: the user can set backend to auto"

// HintNotFound is the hint for a note that does not exist, and for a hidden one.
const HintNotFound = "names are case-sensitive; look the name up with files, tags or search"

// Facts are what the embedded program reports about the note of a successful call, so that the
// gateway need not parse the answer.
type Facts struct {
	Path      string  `json:"path"`
	Hash      string  `json:"hash"`                // of the content, "" if the note does not exist
	Before    *string `json:"before,omitempty"`    // hash before the call: nil if nothing was written, "" if the note was created
	Change    string  `json:"change,omitempty"`    // id of the journal entry, "" if nothing was written
	Added     int     `json:"added,omitempty"`     // lines in all files
	Removed   int     `json:"removed,omitempty"`   // lines in all files
	Loses     bool    `json:"loses,omitempty"`     // the change was destructive, whatever its command is
	Overtaken bool    `json:"overtaken,omitempty"` // another program changed the note right after the call
	LineEnds  bool    `json:"lineEnds,omitempty"`  // the text was converted to the line ends of the note
	Image     string  `json:"image,omitempty"`     // media type of an image, "" for none; its bytes are the last line of the answer, in base64
	State     string  `json:"state,omitempty"`     // of the index that the answer depends on, "" if it depends on more
	Closed    string  `json:"closed,omitempty"`    // which notes their own texts close; "" for none
	Unchanged bool    `json:"unchanged,omitempty"` // the state is the one that was asked about, and nothing was answered
	Whole     *Whole  `json:"whole,omitempty"`     // nil unless the answer is the first part of a longer one, which the worker keeps
	Notice    string  `json:"notice,omitempty"`    // a remark: why the answer is empty, or how a query was read; no text of a note
}

// Whole is an answer that a worker keeps, of which it sent the first part.
type Whole struct {
	ID    string `json:"id"` // under which the worker prints it
	Bytes int    `json:"bytes"`
	Rows  int    `json:"rows"`
}

// Failure is what the embedded program reports about a call that failed. The zero Failure is none.
type Failure struct {
	Code   string `json:"code,omitempty"`
	Hint   string `json:"hint,omitempty"`
	Reason string `json:"reason,omitempty"` // the first line of the error text, at most [MaxReason] bytes
}

// MaxReason bounds the reason of a Failure, so that a report stays short.
const MaxReason = 256

// reportMark begins the last line on standard error of the embedded program: the facts or the
// failure as one line of JSON. Standard error never contains text of notes.
const reportMark = "vaultwicket-facts: "

// Line returns the facts as one line without its line break.
func (f Facts) Line() string { return line(f) }

// Line returns the failure as one line without its line break.
func (f Failure) Line() string {
	f.Reason, _, _ = strings.Cut(f.Reason, "\n")
	if n := MaxReason; len(f.Reason) > n {
		for ; n > 0 && !utf8.RuneStart(f.Reason[n]); n-- {
		}
		f.Reason = f.Reason[:n]
	}
	return line(f)
}

func line(report any) string {
	text, err := json.Marshal(report)
	if err != nil {
		return "" // strings always marshal
	}
	return reportMark + string(text)
}

// CutReport separates the report from the end of stderr. If there is none, or it
// cannot be parsed, stderr is returned as it is with zero values.
func CutReport(stderr string) (rest string, facts Facts, failure Failure) {
	lines := strings.TrimRight(stderr, "\r\n")
	start := strings.LastIndexByte(lines, '\n') + 1
	text, found := strings.CutPrefix(lines[start:], reportMark)
	var report struct {
		Facts
		Failure
	}
	if !found || json.Unmarshal([]byte(text), &report) != nil {
		return stderr, Facts{}, Failure{}
	}
	return stderr[:start], report.Facts, report.Failure
}

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
	begun   []byte // a line that may become one with progress
	passing bool   // the current line is none
}

// NewProgressFilter returns a filter that passes each progress to tell, and writes other lines to a writer.
func NewProgressFilter(to io.Writer, tell func(Progress)) *ProgressFilter {
	return &ProgressFilter{to: to, tell: tell}
}

// Write implements [io.Writer]. The error is that of the underlying writer.
func (f *ProgressFilter) Write(p []byte) (int, error) {
	for piece := range bytes.Lines(p) {
		whole := bytes.HasSuffix(piece, []byte("\n"))
		f.begun = append(f.begun, piece...)
		if !f.passing && len(f.begun) < maxProgressLine {
			if c, ok := parseProgress(string(f.begun)); whole && ok {
				f.begun = f.begun[:0]
				f.tell(c)
				continue
			}
			if !whole { // the rest decides
				continue
			}
		}
		f.passing = !whole
		if err := f.Flush(); err != nil {
			return 0, err
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
