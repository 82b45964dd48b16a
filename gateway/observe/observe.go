// Package observe tells logs, metrics and traces about calls: what kind of call it is
// and what came of it, and never what is in it.
package observe

import (
	"context"
	"time"
)

// Observer is told of every call that comes to a gateway, for logs, metrics
// and traces. It learns what kind of call it is and what came of it, and never
// what is in it: no parameter, no name of a note, no path, no text.
//
// It is called in the middle of calls, by several goroutines at once: it must
// come back at once, and a panic of it is one of the call.
type Observer interface {
	// Begin is told of a call before anything is decided about it. The context
	// that it returns goes with the call, so that an observer finds its call again
	// where a program is run for it; it is ctx, or made from it. What is returned
	// is told the rest, by one goroutine at a time; nil wants to hear nothing.
	Begin(ctx context.Context, call CallStart) (context.Context, CallObserver)
}

// CallObserver is told how one call goes on.
type CallObserver interface {
	// Decided is told of each decision, none for a call that is given its first
	// answer again. It is told what the audit log is told.
	Decided(decision Decision)
	// End is told what came of the call. It comes once, behind everything else.
	End(end CallEnd)
}

// CallKind says what a call is part of.
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

// CallStart is what is known of a call at its beginning.
type CallStart struct {
	// Command is a name from the table, "batch", or "unknown" for all others: it
	// has few values, whatever callers send.
	Command string
	// Surface is the way by which the call came: "mcp", "terminal" and the like.
	Surface string
	Kind    CallKind
}

// Decision is what was decided about a call.
type Decision struct {
	Decision string // allow, ask, reply (a person said yes), plan or deny
	Rule     string // of the policy, "" where it was none
	Code     string // the error code of ask and deny
}

// CallEnd is what came of a call.
type CallEnd struct {
	Code     string // an error code of the table, "ok" for success
	Decision string // the last one, "" where there was none
	Rule     string // of the last decision
	Backend  string // "obsidian", "embedded", "" where none answered
	Effect   string // of the call as it was parsed, "" where it could not be
	Bytes    int    // of the command's output
	Duration time.Duration
}

// All returns an observer that passes everything on to each of list, in
// this order; nil in the list are left out. With none it is nil.
func All(list ...Observer) Observer {
	var all observers
	for _, o := range list {
		if o != nil {
			all = append(all, o)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
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

// Load is what a gateway has to do at a moment.
type Load struct {
	Running int // calls that hold a place
	Waiting int // calls that wait for one, or for the change before theirs
}
