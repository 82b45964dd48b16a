// Package telemetry passes calls on to logs, metrics and traces: the kind of a call and its
// outcome, never its content.
package telemetry

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
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
)

// Observer is notified of every call of a gateway, for logs, metrics and traces. It gets the
// kind of the call and its outcome, and never its content: no parameter, no name of a note, no
// path, no text.
//
// It is called during calls, by several goroutines at once: it must return quickly, and its
// panic is one of the call.
type Observer interface {
	// Begin is called before anything is decided about a call. The context
	// that it returns, ctx or one derived from it, goes with the call, so that an observer
	// can find its call when a program runs for it. The CallObserver, which may be nil, is
	// called by one goroutine at a time.
	Begin(ctx context.Context, call CallStart) (context.Context, CallObserver)
}

// CallObserver is notified of the rest of one call.
type CallObserver interface {
	// Decided is called for each decision in the audit log. A call that returns its first
	// answer again has none.
	Decided(decision Decision)
	// End is called once, after everything else.
	End(end CallEnd)
}

// CallKind says whether a call is part of a batch.
type CallKind uint8

const (
	// Single is a call by itself, the zero value.
	Single CallKind = iota
	// InBatch is an operation of a batch, or the undoing of one.
	InBatch
	// WholeBatch is a batch. Its operations are calls of their own, while it lasts.
	WholeBatch
	// OnlyPlanned is a dry run.
	OnlyPlanned
)

// CallStart is a call at its beginning.
type CallStart struct {
	// Command is a name from the table, "batch", or "unknown" for all others: it
	// has few values, whatever callers send.
	Command string
	// Surface is where the call came from, such as "mcp" or "terminal".
	Surface string
	// Agent is the agent that called, "" where no agent is defined.
	Agent string
	Kind  CallKind
}

// Decision is the decision about a call.
type Decision struct {
	Decision string // allow, ask, reply (the user approved), plan or deny
	Rule     string // of the policy, "" where it was none
	Code     string // the error code of ask and deny
}

// CallEnd is the outcome of a call.
type CallEnd struct {
	Code     string // an error code of the table, "ok" for success
	Decision string // the last one, "" where there was none
	Rule     string // of the last decision
	Backend  string // "obsidian", "embedded", "" where none answered
	Effect   string // of the call as it was parsed, "" where it could not be
	Bytes    int    // of the command's output
	// Found are what the rules about texts found, each as the name of a rule and a kind, and Shadow the rules
	// that would have had an effect and had none.
	Found, Shadow []string
	Duration      time.Duration
}

// All returns an observer that calls each of list, in this order, without those that are nil.
// It is nil if there are none.
func All(list ...Observer) Observer {
	var all observers
	for _, o := range list {
		if o != nil {
			all = append(all, o)
		}
	}
	if all == nil {
		return nil
	}
	return all
}

type observers []Observer

func (all observers) Begin(ctx context.Context, call CallStart) (context.Context, CallObserver) {
	var calls callObservers
	for _, o := range all {
		var one CallObserver
		if ctx, one = o.Begin(ctx, call); one != nil {
			calls = append(calls, one)
		}
	}
	if calls == nil {
		return ctx, nil
	}
	return ctx, calls
}

type callObservers []CallObserver

func (all callObservers) Decided(d Decision) {
	for _, o := range all {
		o.Decided(d)
	}
}

func (all callObservers) End(end CallEnd) {
	for _, o := range all {
		o.End(end)
	}
}

// Load is the number of calls in a gateway.
type Load struct {
	Running int
	Waiting int // for calls to end, or for earlier changes
}

// BatchCommand is the command that a batch as a whole goes by.
const BatchCommand = "batch"

// The code of a success, and the command for every name that is not in the table.
const (
	codeOK         = "ok"
	unknownCommand = "unknown"
)

// KnownCommand returns the name of a command, or "unknown": callers can send any text as a name.
func KnownCommand(name string) string {
	if name != BatchCommand && !allowlist.Exists(name) {
		return unknownCommand
	}
	return name
}

// Call is an observed call. The methods of a nil Call, which has no observer, do nothing.
type Call struct {
	by    CallObserver
	begun time.Time
	end   CallEnd
}

// callKey is where the context of a call has its [Call].
type callKey struct{}

// Begin begins to observe a call; with a nil observer it costs nothing. The context that it
// returns goes with the call.
func Begin(
	ctx context.Context,
	observer Observer,
	kind CallKind,
	command, surface, agent string,
) (context.Context, *Call) {
	if observer == nil {
		return ctx, nil
	}
	ctx, by := observer.Begin(
		ctx,
		CallStart{Command: KnownCommand(command), Surface: surface, Agent: agent, Kind: kind},
	)
	if by == nil {
		return ctx, nil
	}
	c := &Call{by: by, begun: time.Now()}
	return context.WithValue(ctx, callKey{}, c), c
}

// CallOf returns the call of a context, nil if it has no observer.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Decided passes on what was decided about the call.
func (c *Call) Decided(d Decision) {
	if c == nil {
		return
	}
	c.end.Decision = d.Decision
	c.end.Rule = d.Rule
	c.by.Decided(d)
}

// Found notes what the rules about texts found, and which of them had no effect, see [CallEnd].
func (c *Call) Found(found, shadow []string) {
	if c != nil {
		c.end.Found = found
		c.end.Shadow = shadow
	}
}

// Planned notes what would be decided about a call that is only planned.
func (c *Call) Planned(decision string) {
	if c != nil {
		c.end.Decision = decision
	}
}

// Described notes what the call is.
func (c *Call) Described(call allowlist.Call) {
	if c != nil && call.Valid() {
		c.end.Effect = call.Effect().String()
	}
}

// CallOutcome is what became of a call. A failure without an error is an internal one.
type CallOutcome struct {
	OK      bool
	Error   *failure.Error
	Backend string
	Bytes   int // of the answer
}

// Ended reports the end of the call.
func (c *Call) Ended(o CallOutcome) {
	if c == nil {
		return
	}
	code := codeOK
	switch {
	case o.OK:
	case o.Error == nil || failure.ClassOf(o.Error.Code) == failure.Bug: // a kept answer is read from a file, and may have any code
		code = failure.CodeInternal
	default:
		code = o.Error.Code
	}
	c.end.Code = code
	c.end.Backend = o.Backend
	c.end.Bytes = o.Bytes
	c.end.Duration = time.Since(c.begun)
	c.by.End(c.end)
}

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
	l.log.LogAttrs(
		l.ctx,
		slog.LevelDebug,
		"decided",
		slog.String("command", l.call.Command),
		slog.String("decision", d.Decision),
		slog.String("rule", d.Rule),
		slog.String("code", d.Code),
		slog.String("session", l.session),
	)
}

func (l *loggedCall) End(end CallEnd) {
	attrs := []slog.Attr{
		slog.String(
			"command",
			l.call.Command,
		), slog.String("kind", l.call.Kind.String()), slog.String("surface", l.call.Surface),
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
	if len(parts) != 4 || parts[0] != "00" || slices.ContainsFunc(parts, isWrong) {
		return ctx
	}
	for i, length := range [...]int{2, 32, 16, 2} {
		if len(parts[i]) != length {
			return ctx
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
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
