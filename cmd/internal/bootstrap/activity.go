package bootstrap

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
)

// Activity detects when a server has had no calls for a while. It is a [telemetry.Observer] of the calls and costs
// them almost nothing. The zero Activity is ready for use.
type Activity struct{ paused atomic.Pointer[pause] }

// pause is a function that is called after some time without calls.
type pause struct {
	length time.Duration
	timer  *time.Timer
}

// Begin restarts the timer. The nil observer means that later events of the call are not needed.
func (a *Activity) Begin(ctx context.Context, _ telemetry.CallStart) (context.Context, telemetry.CallObserver) {
	if p := a.paused.Load(); p != nil {
		p.timer.Reset(p.length)
	}
	return ctx, nil
}

// AfterPause calls do when no call has begun for the time length, and again after each later pause. A call
// may still be running then. stop ends this.
func (a *Activity) AfterPause(length time.Duration, do func()) (stop func()) {
	p := &pause{length, time.AfterFunc(length, do)}
	a.paused.Store(p)
	return func() {
		a.paused.Store(nil)
		p.timer.Stop()
	}
}
