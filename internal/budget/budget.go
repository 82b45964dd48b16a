// Package budget limits the resources of one call: live bytes, bytes of its answer, steps, and time spent in regular
// expressions. A call has one budget, carried in its context, and every engine that produces text or reads a lot
// charges it.
//
// All budgets of a process share a ceiling for live bytes, see ceiling. It limits what is charged, which grows with
// the request; indexes and caches have limits of their own. Processors are shared too: [InParallel] leaves room for
// a call that comes at the same time.
package budget

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// Limits of a call. A zero field means the limit of [Default].
type Limits struct {
	Alive int64         // bytes in memory at once
	Put   int64         // bytes of the answer
	Steps int64         // a step takes less than a microsecond
	Match time.Duration // processor time of regular expressions
}

// Default are the limits of a call. A query of everything in a vault of 100,000 notes stays far below them.
var Default = Limits{Alive: 64 << 20, Put: 32 << 20, Steps: 20_000_000, Match: 2 * time.Second}

// lookEvery is how many steps may pass between two checks of the context. They take a few milliseconds.
const lookEvery = 1 << 13

// Budget is what one call may use. Once a limit is exceeded, every method returns the same error. It is safe for
// concurrent use.
type Budget struct {
	limits Limits
	ctx    context.Context // of the call
	steps  atomic.Int64
	match  atomic.Int64 // nanoseconds
	err    atomic.Pointer[Overrun]

	mu         sync.Mutex
	alive, put int64
	ceiling    *ceiling
	shared     int64 // bytes of alive that are covered by the common share
	reserved   bool  // the call has acquired the reserve
}

// New returns an unused budget.
func New(limits Limits) *Budget {
	limits = Limits{
		Alive: cmp.Or(limits.Alive, Default.Alive),
		Put:   cmp.Or(limits.Put, Default.Put),
		Steps: cmp.Or(limits.Steps, Default.Steps),
		Match: cmp.Or(limits.Match, Default.Match),
	}
	return &Budget{limits: limits, ctx: context.Background(), ceiling: processCeiling}
}

type key struct{}

// With returns the context of the call that uses the budget. The call's share of the ceiling is released when ctx
// ends.
func With(ctx context.Context, b *Budget) context.Context {
	b.ctx = ctx
	return context.WithValue(ctx, key{}, b)
}

// From returns the budget of a context, or a new one with default limits if it has none.
func From(ctx context.Context) *Budget {
	if b, ok := ctx.Value(key{}).(*Budget); ok {
		return b
	}
	b := New(Limits{})
	b.ctx = ctx
	return b
}

// Err returns the error that ends the call, nil if it may continue: an [*Overrun], or the error of its context.
func (b *Budget) Err() error {
	if err := b.err.Load(); err != nil {
		return err
	}
	return b.ctx.Err()
}

// Exceeded returns the [*Overrun] that ends the call, nil if there is none.
func (b *Budget) Exceeded() error {
	if err := b.err.Load(); err != nil {
		return err
	}
	return nil
}

// Hold counts bytes that become live. Call it before they are allocated. It may wait for other calls, so do not call
// it while holding a lock that another call needs. The error is an [*Overrun] or that of the context.
func (b *Budget) Hold(bytes int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hold(bytes)
}

func (b *Budget) hold(bytes int64) error {
	if err := b.err.Load(); err != nil {
		return err
	}
	if bytes > b.limits.Alive-b.alive {
		return b.end(protocol.CodeOutputLimit, "ask for fewer rows or columns, or for shorter texts and lists",
			"the call needs more than %s of memory", size(b.limits.Alive))
	}
	if err := b.share(b.alive + bytes); err != nil {
		return err
	}
	b.alive += bytes
	return nil
}

// Release counts bytes that are no longer live.
func (b *Budget) Release(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alive = max(b.alive-bytes, 0)
}

// Put counts bytes of the answer, which are live until the call ends. The errors are those of
// [Budget.Hold].
func (b *Budget) Put(bytes int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.err.Load(); err != nil {
		return err
	}
	if bytes > b.limits.Put-b.put {
		return b.end(
			protocol.CodeOutputLimit,
			"ask for fewer rows or columns, or narrow the filter",
			"the answer is larger than %s",
			size(b.limits.Put),
		)
	}
	b.put += bytes
	return b.hold(bytes)
}

// Step counts steps and checks the context every few milliseconds. The error is an [*Overrun]
// or that of the context.
func (b *Budget) Step(n int64) error {
	if err := b.err.Load(); err != nil {
		return err
	}
	after := b.steps.Add(n)
	if after > b.limits.Steps {
		return b.end(
			protocol.CodeTimeout,
			"narrow the filter, or make the expressions simpler",
			"the call takes more than %d steps",
			b.limits.Steps,
		)
	}
	if (after-n)/lookEvery != after/lookEvery {
		return b.ctx.Err()
	}
	return nil
}

// Match runs a match of a regular expression and counts its time. match must return an error if it does not finish
// in about the time left. The error of Match is an [*Overrun] that names the expression, or that of the context;
// then the result of the match is meaningless.
func (b *Budget) Match(pattern string, match func(left time.Duration) error) error {
	left := b.limits.Match - time.Duration(b.match.Load())
	unfinished := false
	if err := b.Err(); err == nil && left > 0 {
		begun := time.Now()
		unfinished = match(left) != nil
		left = b.limits.Match - time.Duration(b.match.Add(int64(time.Since(begun))))
	}
	if err := b.Err(); err != nil || left > 0 && !unfinished {
		return err
	}
	const maxShown = 80 // characters of the expression in the message
	if runes := []rune(pattern); len(runes) > maxShown {
		pattern = string(runes[:maxShown]) + "…"
	}
	return b.end(
		protocol.CodeTimeout,
		"avoid repetition inside repetition, or narrow the search with other terms or a folder",
		"the regular expression %q takes more than %v for what it has to look at",
		pattern,
		b.limits.Match,
	)
}

// end records an exceeded limit, unless one was recorded before, and returns the first one.
func (b *Budget) end(code, hint, format string, args ...any) error {
	b.err.CompareAndSwap(nil, &Overrun{code: code, reason: fmt.Sprintf(format, args...), hint: hint})
	return b.err.Load()
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// Overrun is the error of an exceeded limit.
type Overrun struct{ code, reason, hint string }

// Code returns output_limit for bytes, and timeout for steps and time.
func (o *Overrun) Code() string { return o.code }

// Error names the limit.
func (o *Overrun) Error() string { return o.reason }

// Hint returns the advice.
func (o *Overrun) Hint() string { return o.hint }

// The shares of the ceiling for the live bytes of all calls. Each call has a small share of its own, so that short
// calls never wait. Beyond that, calls take from a common share. Once that is used up they wait for the reserve,
// which one call has at a time and which is enough for the largest call. So the call with the reserve can always
// end, and the others after it.
const (
	ownShare    = 1 << 20
	commonShare = 32 << 20
	commonStep  = 1 << 20 // the unit in which the common share is taken
	maxWait     = 5 * time.Second
)

// ceiling limits the live bytes of a process. An element in a channel stands for a part in use.
type ceiling struct{ common, reserve chan struct{} }

var processCeiling = &ceiling{common: make(chan struct{}, commonShare/commonStep), reserve: make(chan struct{}, 1)}

// share acquires the part of the ceiling that a call needs for a number of live bytes. It is released when the call
// ends. The caller holds b.mu.
func (b *Budget) share(alive int64) error {
	for !b.reserved && alive > ownShare+b.shared {
		if b.shared == 0 {
			context.AfterFunc(b.ctx, b.releaseShare)
		}
		select {
		case b.ceiling.common <- struct{}{}:
			b.shared += commonStep
			continue
		default:
		}
		if err := b.awaitReserve(); err != nil {
			return err
		}
	}
	return nil
}

// awaitReserve waits up to maxWait until the call has the reserve. The caller holds b.mu.
func (b *Budget) awaitReserve() error {
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case b.ceiling.reserve <- struct{}{}:
		b.reserved = true
	case <-b.ctx.Done():
	case <-timer.C:
		_ = b.end(
			protocol.CodeTimeout,
			"try again in a moment, or ask for less",
			"other calls use the memory that there is for all of them",
		)
	}
	return b.Err()
}

// releaseShare releases the call's part of the ceiling.
func (b *Budget) releaseShare() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; b.shared > 0; b.shared -= commonStep {
		<-b.ceiling.common
	}
	if b.reserved {
		b.reserved = false
		<-b.ceiling.reserve
	}
}
