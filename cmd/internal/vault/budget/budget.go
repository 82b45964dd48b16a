// Package budget bounds what one call may use: bytes that are alive, bytes of its answer, steps
// and time of matching. A call has one budget, which comes with its context, and every engine
// that makes text or walks over much charges it.
//
// All budgets of a process share a ceiling for what is alive, see ceiling.go. It bounds what is
// charged, which is what grows with a request; indexes and caches have bounds of their own.
package budget

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/exec/frame"
)

// Limits of a call. A limit that is zero is that of [Default].
type Limits struct {
	Alive int64         // bytes that are in memory at once
	Put   int64         // bytes of the answer
	Steps int64         // a step takes less than a microsecond
	Match time.Duration // of all processors, for regular expressions
}

// Default has the limits of every call. A query of everything in a vault of 100,000 notes is
// far below them.
var Default = Limits{Alive: 64 << 20, Put: 32 << 20, Steps: 20_000_000, Match: 2 * time.Second}

// lookEvery is how many steps may pass before the context is looked at: a few milliseconds.
const lookEvery = 1 << 13

// Budget is what one call may use. Once something has run out, every method returns the same
// error. It is safe for use by several goroutines.
type Budget struct {
	limits Limits
	ctx    context.Context // of the call
	steps  atomic.Int64
	match  atomic.Int64 // nanoseconds
	err    atomic.Pointer[Overrun]

	mu         sync.Mutex
	alive, put int64
	ceiling    *ceiling
	shared     int64 // of alive, what the common part has granted
	reserved   bool  // it has the reserve
}

// New returns a budget of which nothing is used.
func New(limits Limits) *Budget {
	orDefault := func(of *int64, standard int64) {
		if *of == 0 {
			*of = standard
		}
	}
	orDefault(&limits.Alive, Default.Alive)
	orDefault(&limits.Put, Default.Put)
	orDefault(&limits.Steps, Default.Steps)
	if limits.Match == 0 {
		limits.Match = Default.Match
	}
	return &Budget{limits: limits, ctx: context.Background(), ceiling: ofProcess}
}

type key struct{}

// With returns the context of the call that has the budget. What the budget has of the ceiling
// is given back when ctx ends.
func With(ctx context.Context, b *Budget) context.Context {
	b.ctx = ctx
	return context.WithValue(ctx, key{}, b)
}

// From returns the budget that comes with a context, a fresh one if there is none.
func From(ctx context.Context) *Budget {
	if b, ok := ctx.Value(key{}).(*Budget); ok {
		return b
	}
	b := New(Limits{})
	b.ctx = ctx
	return b
}

// Err returns why the call has to end: an [*Overrun], or the error of its context.
func (b *Budget) Err() error {
	if err := b.err.Load(); err != nil {
		return err
	}
	return b.ctx.Err()
}

// Hold counts bytes that are alive from now on. It has to be called before they are made. It may
// wait for other calls, and so is not to be called under a lock that another call needs. The
// error is an [*Overrun] or that of the context.
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
		return b.end(frame.CodeOutputLimit, "ask for fewer rows or columns, or for shorter texts and lists",
			"the call needs more than %s of memory", size(b.limits.Alive))
	}
	if err := b.share(b.alive + bytes); err != nil {
		return err
	}
	b.alive += bytes
	return nil
}

// Release counts bytes that are not alive any more.
func (b *Budget) Release(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alive = max(b.alive-bytes, 0)
}

// Put counts bytes of the answer. They are alive too, until the call ends. The errors are those
// of [Budget.Hold].
func (b *Budget) Put(bytes int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.err.Load(); err != nil {
		return err
	}
	if bytes > b.limits.Put-b.put {
		return b.end(frame.CodeOutputLimit, "ask for fewer rows or columns, or narrow the filter", "the answer is larger than %s", size(b.limits.Put))
	}
	b.put += bytes
	return b.hold(bytes)
}

// Step counts steps, and looks at the context every few milliseconds. The error is an
// [*Overrun] or that of the context.
func (b *Budget) Step(n int64) error {
	if err := b.err.Load(); err != nil {
		return err
	}
	after := b.steps.Add(n)
	if after > b.limits.Steps {
		return b.end(frame.CodeTimeout, "narrow the filter, or make the expressions simpler", "the call takes more than %d steps", b.limits.Steps)
	}
	if (after-n)/lookEvery != after/lookEvery {
		return b.ctx.Err()
	}
	return nil
}

// Steps returns how many steps were taken.
func (b *Budget) Steps() int64 { return b.steps.Load() }

// Match runs a match of a regular expression and counts the time that it takes. The match has to
// end in about the time that is left, with an error if it is not done then. The error is an
// [*Overrun] that names the expression, or that of the context; then the match is worthless.
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
	return b.end(frame.CodeTimeout, "avoid repetition inside repetition, or narrow the search with other terms or a folder",
		"the regular expression %q takes more than %v for what it has to look at", shown(pattern), b.limits.Match)
}

// shown is as much of an expression as a message has room for.
func shown(pattern string) string {
	const most = 80
	if runes := []rune(pattern); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return pattern
}

// end notes the first thing that ran out.
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

// Overrun says what of a budget ran out, and its limit.
type Overrun struct{ code, reason, hint string }

// Code is output_limit for bytes, and timeout for steps and time.
func (o *Overrun) Code() string { return o.code }

// Error says what ran out and how much there was.
func (o *Overrun) Error() string { return o.reason }

// Hint says what would be right.
func (o *Overrun) Hint() string { return o.hint }
