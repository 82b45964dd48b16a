// Package telemetry reports calls to logs, metrics and traces: the kind of a call and its outcome, never
// its content.
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

// Observer is notified of every call of a gateway, for logs, metrics and traces. It learns the kind of
// the call and its outcome, but never its content: no parameters, names of notes, paths or text.
//
// It is called during calls, concurrently: it must return quickly, and a panic in it is a panic of the
// call.
type Observer interface {
	// Begin is called before anything is decided about a call. It returns ctx or a context derived from
	// it, which is used for the call, so that an observer can find its call when a program runs for it.
	// The CallObserver may be nil; it is never called concurrently.
	Begin(ctx context.Context, call CallStart) (context.Context, CallObserver)
}

// CallObserver is notified of the decisions about one call and of its end.
type CallObserver interface {
	// Decided is called for each decision in the audit log. A call that only repeats a stored answer has
	// none.
	Decided(decision Decision)
	// End is called once, after everything else.
	End(end CallEnd)
}

// CallKind tells single calls, batches, their operations and dry runs apart.
type CallKind uint8

const (
	// Single is a call outside a batch. It is the zero value.
	Single CallKind = iota
	// InBatch is an operation of a batch, or its reversal.
	InBatch
	// WholeBatch is a batch as a whole. Its operations are calls of their own within it.
	WholeBatch
	// OnlyPlanned is a dry run.
	OnlyPlanned
)

// CallStart describes a call at its beginning.
type CallStart struct {
	// Command is the name of a command, "batch", or "unknown" for any other name, so that it has few
	// values, whatever callers send.
	Command string
	// Surface is where the call came from, such as "mcp" or "terminal".
	Surface string
	// Agent is the agent that made the call, "" if no agents are defined.
	Agent string
	Kind  CallKind
}

// Decision is a decision about a call.
type Decision struct {
	Decision string // allow, ask, reply (the user approved), plan or deny
	Rule     string // the rule of the policy, "" if none decided
	Code     string // error code, for ask and deny
}

// CallEnd is the outcome of a call.
type CallEnd struct {
	Code     string // error code, "ok" for success
	Decision string // the last decision, "" if there was none
	Rule     string // the rule of the last decision
	Backend  string // "obsidian" or "embedded", "" if none answered
	Effect   string // effect of the parsed call, "" if it could not be parsed
	Bytes    int    // size of the command's output
	// Found lists the findings of content rules, each as the name of a rule and a kind. Shadow lists the
	// rules in test mode, which would have had an effect.
	Found, Shadow []string
	Duration      time.Duration
}

// All returns an observer that calls each observer in list, in this order, ignoring nil. It returns nil
// if there are none.
func All(list ...Observer) Observer {
	var active observers
	for _, observer := range list {
		if observer != nil {
			active = append(active, observer)
		}
	}
	if active == nil {
		return nil
	}
	return active
}

type observers []Observer

func (list observers) Begin(ctx context.Context, call CallStart) (context.Context, CallObserver) {
	var calls callObservers
	for _, o := range list {
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

func (list callObservers) Decided(d Decision) {
	for _, o := range list {
		o.Decided(d)
	}
}

func (list callObservers) End(end CallEnd) {
	for _, o := range list {
		o.End(end)
	}
}

// Load is the number of calls in a gateway.
type Load struct {
	Running int
	Waiting int // calls that wait for others to end, or for earlier changes
}

// BatchCommand is the command name of a batch as a whole.
const BatchCommand = "batch"

// The code of success, and the command name for every unknown name.
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

// Call is an observed call. The methods of a nil Call do nothing.
type Call struct {
	observer CallObserver
	start    time.Time
	end      CallEnd
}

// callKey is the context key of a [Call].
type callKey struct{}

// Begin starts observing a call. The returned context must be used for the call. If observer is nil, the
// Call is nil.
func Begin(
	ctx context.Context,
	observer Observer,
	kind CallKind,
	command, surface, agent string,
) (context.Context, *Call) {
	if observer == nil {
		return ctx, nil
	}
	ctx, callObserver := observer.Begin(
		ctx,
		CallStart{Command: KnownCommand(command), Surface: surface, Agent: agent, Kind: kind},
	)
	if callObserver == nil {
		return ctx, nil
	}
	c := &Call{observer: callObserver, start: time.Now()}
	return context.WithValue(ctx, callKey{}, c), c
}

// CallOf returns the call of a context, nil if it has no observer.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Decided reports a decision about the call.
func (c *Call) Decided(d Decision) {
	if c == nil {
		return
	}
	c.end.Decision = d.Decision
	c.end.Rule = d.Rule
	c.observer.Decided(d)
}

// Found records the findings of content rules and the rules in test mode, see [CallEnd].
func (c *Call) Found(found, shadow []string) {
	if c != nil {
		c.end.Found = found
		c.end.Shadow = shadow
	}
}

// Planned records the decision that would be made about a call that is only planned.
func (c *Call) Planned(decision string) {
	if c != nil {
		c.end.Decision = decision
	}
}

// Described records the effect of the parsed call.
func (c *Call) Described(call allowlist.Call) {
	if c != nil && call.Valid() {
		c.end.Effect = call.Effect().String()
	}
}

// CallOutcome is the outcome of a call. If OK is false and Error is nil, it is an internal error.
type CallOutcome struct {
	OK      bool
	Error   *failure.Error
	Backend string
	Bytes   int // size of the answer
}

// Ended reports the end of the call.
func (c *Call) Ended(o CallOutcome) {
	if c == nil {
		return
	}
	code := codeOK
	switch {
	case o.OK:
	case o.Error == nil || failure.ClassOf(o.Error.Code) == failure.Bug: // stored answers are read from files, and may have any code
		code = failure.CodeInternal
	default:
		code = o.Error.Code
	}
	c.end.Code = code
	c.end.Backend = o.Backend
	c.end.Bytes = o.Bytes
	c.end.Duration = time.Since(c.start)
	c.observer.End(c.end)
}

// LevelBug is the log level of internal errors.
const LevelBug = slog.LevelError + 4

// callLog is an observer that logs one line per call.
type callLog struct {
	log     *slog.Logger
	session string
}

// NewCallLog returns an observer that logs the end of every call at level info, nil if log is not
// enabled for that level.
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
		slog.String("command", l.call.Command),
		slog.String("kind", l.call.Kind.String()),
		slog.String("surface", l.call.Surface),
		slog.String("decision", end.Decision),
		slog.String("rule", end.Rule),
		slog.String("code", end.Code),
		slog.Float64("durationMs", float64(end.Duration.Microseconds())/1000),
		slog.String("backend", end.Backend),
		slog.String("effect", end.Effect),
		slog.Int("bytes", end.Bytes),
		slog.String("session", l.session),
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

// String returns the name of the kind in logs and traces.
func (k CallKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// LogPanic logs a recovered panic with its stack. where is the command or tool; it must not be text from
// a caller. The value is logged as by [FaultAttrs].
func LogPanic(log *slog.Logger, where string, value any, stack []byte) {
	attrs := append(FaultAttrs(value), slog.String("in", where), slog.String("stack", string(stack)))
	log.LogAttrs(context.Background(), LevelBug, "panic", attrs...)
}

// FaultAttrs describes an internal error for the log. The text of most errors and panics can contain a
// path, a parameter or note text. So the attributes contain the types of the errors, and the text of the
// innermost one only if it is fixed.
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
	io.EOF,
	io.ErrUnexpectedEOF,
	io.ErrShortWrite,
	io.ErrClosedPipe,
	fs.ErrInvalid,
	fs.ErrPermission,
	fs.ErrExist,
	fs.ErrNotExist,
	fs.ErrClosed,
	os.ErrProcessDone,
	os.ErrDeadlineExceeded,
	context.Canceled,
	context.DeadlineExceeded,
}

// Trace is the W3C trace context of a call, for logs and traces.
type Trace struct {
	Parent string // traceparent
	State  string // tracestate
}

const (
	traceParentLength = 55  // length in version 00, the only version whose format is defined
	maxTraceState     = 512 // bytes that, by the recommendation, every vendor should propagate
)

type traceKey struct{}

// WithTrace returns a context whose calls belong to a trace. Both fields come from outside: if Parent is
// not valid by W3C trace context version 00, the trace is ignored, and a State of more than 512 bytes or
// with characters other than printable ASCII is dropped.
func WithTrace(ctx context.Context, t Trace) context.Context {
	if len(t.Parent) != traceParentLength {
		return ctx
	}
	parts := strings.Split(t.Parent, "-")
	isInvalid := func(part string) bool { return strings.Trim(part, "0123456789abcdef") != "" }
	if len(parts) != 4 || parts[0] != "00" || slices.ContainsFunc(parts, isInvalid) {
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
	isUnprintable := func(r rune) bool { return r < ' ' || r > '~' }
	if len(t.State) > maxTraceState || strings.ContainsFunc(t.State, isUnprintable) {
		t.State = ""
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of a context, the zero Trace for none.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}
