package gateway

import (
	"context"
	"log/slog"
	"time"
	"vaultwicket/allowlist"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/observe"
)

// What callers of this package need of package observe.
type (
	// Observer is told about every call.
	Observer = observe.Observer
	// CallObserver is told how one call goes on.
	CallObserver = observe.CallObserver
	// CallKind says what a call is part of.
	CallKind = observe.CallKind
	// CallStart is what is known about a call at its beginning.
	CallStart = observe.CallStart
	// CallEnd is what came of a call.
	CallEnd = observe.CallEnd
	// Decision is what was decided about a call.
	Decision = observe.Decision
	// Trace is the W3C trace context of a call.
	Trace = observe.Trace
)

// The kinds of a call, and the level of an internal error in the log.
const (
	Single      = observe.Single
	InBatch     = observe.InBatch
	WholeBatch  = observe.WholeBatch
	OnlyPlanned = observe.OnlyPlanned
	LevelBug    = observe.LevelBug
)

// Observers returns an observer that passes everything on to each of list.
func Observers(list ...Observer) Observer { return observe.All(list...) }

// WithTrace returns a context whose calls belong to a trace.
func WithTrace(ctx context.Context, t Trace) context.Context { return observe.WithTrace(ctx, t) }

// TraceOf returns the trace that a context belongs to, the zero Trace for none.
func TraceOf(ctx context.Context) Trace { return observe.TraceOf(ctx) }

// LogPanic logs what was recovered, see [observe.LogPanic].
func LogPanic(log *slog.Logger, where string, value any, stack []byte) {
	observe.LogPanic(log, where, value, stack)
}

// codeOK is what observers are told in place of an error code.
const codeOK = "ok"

// unknownCommand is what observers are told for every name that is not in the table.
const unknownCommand = "unknown"

// batchCommand is what a batch as a whole goes by.
const batchCommand = "batch"

// knownCommand returns a name that may be shown to anybody: callers can send any
// text in the place of one.
func knownCommand(name string) string {
	if name == batchCommand {
		return name
	}
	if _, err := allowlist.Describe(name); err != nil {
		return unknownCommand
	}
	return name
}

// observed is a call that is being observed; nil is one that is not.
type observed struct {
	by    observe.CallObserver
	begun time.Time
	end   observe.CallEnd
}

// observedKey is where the context of a call has its [observed].
type observedKey struct{}

// observe begins to observe a call. Where nobody does, it costs nothing.
func (g *shared) observe(ctx context.Context, kind observe.CallKind, command, surface string) (context.Context, *observed) {
	if g.observer == nil {
		return ctx, nil
	}
	ctx, by := g.observer.Begin(ctx, observe.CallStart{Command: knownCommand(command), Surface: surface, Kind: kind})
	if by == nil {
		return ctx, nil
	}
	o := &observed{by: by, begun: time.Now()}
	return context.WithValue(ctx, observedKey{}, o), o
}

// observedIn returns the call that ctx belongs to, nil if nobody observes it.
func (g *shared) observedIn(ctx context.Context) *observed {
	if g.observer == nil {
		return nil
	}
	o, _ := ctx.Value(observedKey{}).(*observed)
	return o
}

func (o *observed) decided(d observe.Decision) {
	if o == nil {
		return
	}
	o.end.Decision, o.end.Rule = d.Decision, d.Rule
	o.by.Decided(d)
}

// planned notes what would be decided about a call that is only planned.
func (o *observed) planned(decision string) {
	if o != nil {
		o.end.Decision = decision
	}
}

func (o *observed) described(call allowlist.Call) {
	if o != nil && call.Valid() {
		o.end.Effect = call.Effect().String()
	}
}

// ended reports the end of a call. A failure without an error is an internal one,
// which was caught further out.
func (o *observed) ended(ok bool, cause *failure.Error, backend string, bytes int) {
	if o == nil {
		return
	}
	o.end.Code, o.end.Backend, o.end.Bytes, o.end.Duration = observedCode(ok, cause), backend, bytes, time.Since(o.begun)
	o.by.End(o.end)
}

// observedCode returns a code of the table. An answer that was kept under a key
// is read from a file, and may hold another one.
func observedCode(ok bool, cause *failure.Error) string {
	switch {
	case ok:
		return codeOK
	case cause == nil || failure.ClassOf(cause.Code) == failure.Bug:
		return failure.CodeInternal
	}
	return cause.Code
}

// Load is what a gateway has to do at a moment.
type Load struct {
	Running int // calls that hold a place
	Waiting int // calls that wait for one, or for the change before theirs
}

// Load counts the calls. Those that wait for approval are neither
// running nor waiting.
func (g *Gateway) Load() Load {
	return Load{Running: g.running.Running(), Waiting: g.admission.Waiting()}
}

// Flush writes to the audit log what was only counted until then. It is for the end
// of a program; the gateway can be used afterwards.
func (g *Gateway) Flush() { g.records.limited.Flush() }
