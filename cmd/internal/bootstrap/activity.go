package bootstrap

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/telemetry"
)

// Activity notices when a server has had no call for a while. It is told of the calls as an
// [telemetry.Observer], and costs them next to nothing. The zero Activity is ready for use.
type Activity struct{ paused atomic.Pointer[pause] }

type pause struct {
	length time.Duration
	timer  *time.Timer
}

// Begin puts off the end of the pause. It wants to hear nothing more of the call.
func (a *Activity) Begin(ctx context.Context, _ telemetry.CallStart) (context.Context, telemetry.CallObserver) {
	if p := a.paused.Load(); p != nil {
		p.timer.Reset(p.length)
	}
	return ctx, nil
}

// AfterPause calls do once no call has begun for so long, and again after the next calls. A call
// may still be running. stop ends it.
func (a *Activity) AfterPause(length time.Duration, do func()) (stop func()) {
	p := &pause{length, time.AfterFunc(length, do)}
	a.paused.Store(p)
	return func() {
		a.paused.Store(nil)
		p.timer.Stop()
	}
}
