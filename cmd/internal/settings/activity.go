package settings

import (
	"context"
	"sync/atomic"
	"time"

	"vaultwicket/gateway/observe"
)

// Activity notices when a server has had no call for a while. It is told of the calls as an
// [observe.Observer], and costs them next to nothing. The zero Activity is ready for use.
type Activity struct {
	begun  atomic.Uint64 // calls
	seen   atomic.Uint64 // of them, when the timer was set for the last time
	isSet  atomic.Bool   // the timer
	paused atomic.Pointer[pause]
}

type pause struct {
	length time.Duration
	timer  *time.Timer
}

// Begin counts a call. It wants to hear nothing more of it.
func (a *Activity) Begin(ctx context.Context, _ observe.CallStart) (context.Context, observe.CallObserver) {
	a.begun.Add(1)
	a.set()
	return ctx, nil
}

// AfterPause calls do once no call has begun for so long, or for twice that, and again
// after the next calls. A call may still be running. stop ends it.
func (a *Activity) AfterPause(length time.Duration, do func()) (stop func()) {
	p := &pause{length: length}
	a.isSet.Store(true) // until there is a timer
	p.timer = time.AfterFunc(length, func() { a.elapsed(p, do) })
	a.paused.Store(p)
	return func() {
		a.paused.Store(nil)
		p.timer.Stop()
	}
}

// set has the timer run if it does not.
func (a *Activity) set() {
	if p := a.paused.Load(); p != nil && !a.isSet.Swap(true) {
		p.timer.Reset(p.length)
	}
}

func (a *Activity) elapsed(p *pause, do func()) {
	begun := a.begun.Load()
	a.isSet.Store(false)
	if a.seen.Swap(begun) != begun || a.begun.Load() != begun {
		a.set()
		return
	}
	do()
}
