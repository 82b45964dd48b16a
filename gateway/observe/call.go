package observe

import (
	"context"
	"time"

	"vaultwicket/allowlist"
	"vaultwicket/gateway/failure"
)

// BatchCommand is the command that a batch as a whole goes by.
const BatchCommand = "batch"

// What observers are told in place of an error code, and for every command that is not in
// the table.
const (
	codeOK         = "ok"
	unknownCommand = "unknown"
)

// KnownCommand returns a name that may be shown to anybody: callers can send any
// text in the place of one.
func KnownCommand(name string) string {
	if name == BatchCommand {
		return name
	}
	if _, err := allowlist.Describe(name); err != nil {
		return unknownCommand
	}
	return name
}

// Call is a call that is being observed. A nil Call is one that nobody observes: its
// methods do nothing.
type Call struct {
	by    CallObserver
	begun time.Time
	end   CallEnd
}

// callKey is where the context of a call has its [Call].
type callKey struct{}

// Begin begins to observe a call; observer is nil where nobody does, and then it costs
// nothing. The context that it returns goes with the call.
func Begin(ctx context.Context, observer Observer, kind CallKind, command, surface string) (context.Context, *Call) {
	if observer == nil {
		return ctx, nil
	}
	ctx, by := observer.Begin(ctx, CallStart{Command: KnownCommand(command), Surface: surface, Kind: kind})
	if by == nil {
		return ctx, nil
	}
	c := &Call{by: by, begun: time.Now()}
	return context.WithValue(ctx, callKey{}, c), c
}

// CallOf returns the call that a context belongs to, nil if nobody observes it.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Decided passes on what was decided about the call.
func (c *Call) Decided(d Decision) {
	if c == nil {
		return
	}
	c.end.Decision, c.end.Rule = d.Decision, d.Rule
	c.by.Decided(d)
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

// Ended reports the end of the call. A failure without an error is an internal one, which
// was caught further out.
func (c *Call) Ended(ok bool, cause *failure.Error, backend string, bytes int) {
	if c == nil {
		return
	}
	c.end.Code, c.end.Backend, c.end.Bytes, c.end.Duration = codeOf(ok, cause), backend, bytes, time.Since(c.begun)
	c.by.End(c.end)
}

// codeOf returns a code of the table. An answer that was kept under a key is read from a
// file, and may hold another one.
func codeOf(ok bool, cause *failure.Error) string {
	switch {
	case ok:
		return codeOK
	case cause == nil || failure.ClassOf(cause.Code) == failure.Bug:
		return failure.CodeInternal
	}
	return cause.Code
}
