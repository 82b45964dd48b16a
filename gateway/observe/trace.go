package observe

import (
	"context"
	"strings"
)

// Trace are the keys of the W3C trace context under which a caller knows a call.
// They are for logs and traces: nothing is decided by them.
type Trace struct {
	Parent string // traceparent
	State  string // tracestate
}

const (
	traceParentLength = 55  // of version 00, the only one whose rest is known
	maxTraceState     = 512 // what the recommendation asks everybody to pass on
)

type traceKey struct{}

// WithTrace returns a context whose calls belong to a trace. A parent that is
// not of the form of W3C trace context, version 00, is left out together with
// the state, and so is a state of more than 512 bytes or with other than
// printable ASCII in it: both are text from outside.
func WithTrace(ctx context.Context, t Trace) context.Context {
	if !validTraceParent(t.Parent) {
		return ctx
	}
	if !validTraceState(t.State) {
		t.State = ""
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace that a context belongs to, the zero Trace for none.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

func validTraceParent(s string) bool {
	if len(s) != traceParentLength {
		return false
	}
	parts := strings.Split(s, "-")
	if len(parts) != 4 || parts[0] != "00" || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 {
		return false
	}
	for _, part := range parts {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}

func validTraceState(s string) bool {
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	return len(s) <= maxTraceState && !strings.ContainsFunc(s, odd)
}
