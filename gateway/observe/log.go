package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// LevelBug is the level of internal errors.
const LevelBug = slog.LevelError + 4

// callLog is the observer that writes one line a call.
type callLog struct {
	log     *slog.Logger
	session string
}

// NewCallLog returns an observer that logs the end of every call at the level
// info, nil if log is not enabled for it.
func NewCallLog(log *slog.Logger, session string) Observer {
	if !log.Enabled(context.Background(), slog.LevelInfo) {
		return nil
	}
	return callLog{log, session}
}

func (l callLog) Begin(ctx context.Context, call CallStart) (context.Context, CallObserver) {
	return ctx, &loggedCall{l, ctx, call}
}

type loggedCall struct {
	callLog
	ctx  context.Context
	call CallStart
}

func (l *loggedCall) Decided(d Decision) {
	l.log.LogAttrs(l.ctx, slog.LevelDebug, "decided", slog.String("command", l.call.Command), slog.String("decision", d.Decision),
		slog.String("rule", d.Rule), slog.String("code", d.Code), slog.String("session", l.session))
}

func (l *loggedCall) End(end CallEnd) {
	attrs := []slog.Attr{
		slog.String("command", l.call.Command), slog.String("kind", l.call.Kind.String()), slog.String("surface", l.call.Surface),
		slog.String("decision", end.Decision), slog.String("rule", end.Rule), slog.String("code", end.Code),
		slog.Float64("durationMs", float64(end.Duration.Microseconds())/1000), slog.String("backend", end.Backend),
		slog.String("effect", end.Effect), slog.Int("bytes", end.Bytes), slog.String("session", l.session),
	}
	if l.call.Agent != "" {
		attrs = append(attrs, slog.String("agent", l.call.Agent))
	}
	if trace := TraceOf(l.ctx); trace != (Trace{}) && l.log.Enabled(l.ctx, slog.LevelDebug) {
		attrs = append(attrs, slog.String("traceparent", trace.Parent), slog.String("tracestate", trace.State))
	}
	l.log.LogAttrs(l.ctx, slog.LevelInfo, "call", attrs...)
}

var kindNames = [...]string{Single: "single", InBatch: "in batch", WholeBatch: "batch", OnlyPlanned: "dry run"}

// String returns the kind as logs and metrics name it.
func (k CallKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// LogPanic logs a recovered panic with its stack and the command or tool, which must not be text
// of a caller. See [FaultAttrs] for the value.
func LogPanic(log *slog.Logger, where string, value any, stack []byte) {
	attrs := append(FaultAttrs(value), slog.String("in", where), slog.String("stack", string(stack)))
	log.LogAttrs(context.Background(), LevelBug, "panic", attrs...)
}

// FaultAttrs describes an internal error for the log. The text of most errors and panics can
// contain a path, a parameter or a piece of a note, so it has the types of the errors, and the
// text of the innermost one only if its type has fixed texts.
func FaultAttrs(fault any) []slog.Attr {
	err, ok := fault.(error)
	if !ok {
		return []slog.Attr{slog.String("kind", fmt.Sprintf("%T", fault))}
	}
	kinds := fmt.Sprintf("%T", err)
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
		kinds += " > " + fmt.Sprintf("%T", err)
	}
	attrs := []slog.Attr{slog.String("kind", kinds)}
	isFixed := slices.Contains(plainErrors, err) // cannot contain anything from outside
	switch err.(type) {
	case runtime.Error, syscall.Errno:
		isFixed = true
	}
	if isFixed {
		attrs = append(attrs, slog.String("fault", err.Error()))
	}
	return attrs
}

// plainErrors are errors of the standard library with fixed texts.
var plainErrors = []error{
	io.EOF, io.ErrUnexpectedEOF, io.ErrShortWrite, io.ErrClosedPipe, fs.ErrInvalid, fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, fs.ErrClosed,
	os.ErrProcessDone, os.ErrDeadlineExceeded, context.Canceled, context.DeadlineExceeded,
}

// Trace is the W3C trace context of a call, for logs and traces.
type Trace struct {
	Parent string // traceparent
	State  string // tracestate
}

const (
	traceParentLength = 55  // of version 00, the only one whose rest is known
	maxTraceState     = 512 // that every vendor should propagate, by the recommendation
)

type traceKey struct{}

// WithTrace returns a context whose calls belong to a trace. An invalid parent, by W3C trace
// context, version 00, is dropped together with the state, and so is a state of more than 512
// bytes or with other than printable ASCII: both are text from outside.
func WithTrace(ctx context.Context, t Trace) context.Context {
	if len(t.Parent) != traceParentLength {
		return ctx
	}
	parts := strings.Split(t.Parent, "-")
	isWrong := func(part string) bool { return strings.Trim(part, "0123456789abcdef") != "" }
	if len(parts) != 4 || parts[0] != "00" || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 ||
		slices.ContainsFunc(parts, isWrong) || strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return ctx
	}
	unprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if len(t.State) > maxTraceState || strings.ContainsFunc(t.State, unprintable) {
		t.State = ""
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of a context, the zero Trace for none.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}
