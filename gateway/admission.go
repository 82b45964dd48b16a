package gateway

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what callers may ask for. A zero of one of the rates means no
// limit.
type Limits struct {
	// Parallel bounds the calls that run at once; 0 means 4.
	Parallel int
	// Calls bounds the calls of a minute, Mutations those that would change
	// something in a minute, and MutationsHour in an hour.
	Calls, Mutations, MutationsHour int
}

const defaultParallel = 4 // more calls at once only wait for the app, which answers one at a time

// admission is what a call has to pass before anything else is looked at: the
// pause, and the limits of rates.
type admission struct {
	pauseFile string // "" where nothing can be paused
	disabled  atomic.Bool

	mu     sync.Mutex
	limits Limits
	calls  *rate.Limiter
	minute *rate.Limiter // of mutations
	hour   *rate.Limiter // of mutations
}

func newAdmission(l Limits, disabled bool, state string) *admission {
	a := &admission{limits: l, calls: limiter(l.Calls, time.Minute), minute: limiter(l.Mutations, time.Minute), hour: limiter(l.MutationsHour, time.Hour)}
	a.disabled.Store(disabled)
	if state != "" {
		a.pauseFile = PauseFile(state)
	}
	return a
}

// limiter lets n pass in any period from the beginning on, and then one whenever
// its share of the period is over.
func limiter(n int, period time.Duration) *rate.Limiter {
	if n <= 0 {
		return rate.NewLimiter(rate.Inf, 1)
	}
	return rate.NewLimiter(rate.Every(period/time.Duration(n)), n)
}

// PauseFile returns the file in the state folder that is there while everything
// is refused. Every server looks for it at every call, so it reaches all of them
// at once and outlives them.
func PauseFile(state string) string { return filepath.Join(state, "paused") }

// call refuses a call while nothing is let through, or too many were.
func (a *admission) call() error {
	if err := a.open(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return take(a.calls, "rate", "calls a minute", a.limits.Calls)
}

// open refuses while nothing is let through.
func (a *admission) open() error {
	if a.disabled.Load() {
		return refuse(codePaused, "a person can set enabled = true and start the gateway again", "the gateway is switched off by the setting enabled")
	}
	if a.pauseFile != "" {
		if _, err := os.Lstat(a.pauseFile); !errors.Is(err, fs.ErrNotExist) {
			return refuse(codePaused, `a person can let calls through again with "vaultwicket resume"`, "a person has paused vaultwicket")
		}
	}
	return nil
}

// mutation refuses a call that would change something when too many were let
// through.
func (a *admission) mutation() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := take(a.hour, "rate-mutations-hour", "changes an hour", a.limits.MutationsHour); err != nil {
		return err
	}
	return take(a.minute, "rate-mutations", "changes a minute", a.limits.Mutations)
}

// take takes one of what a limiter has, or says when there will be one.
func take(l *rate.Limiter, setting, unit string, most int) error {
	now := time.Now()
	reserved := l.ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reserved.CancelAt(now)
	wait = wait.Truncate(time.Second) + time.Second
	return refuse(codeRateLimited, "try again in "+wait.String(), "more than %d %s, the limit of the setting %s", most, unit, setting)
}

// tighten takes the stricter of two limits each. Waiting times go on.
func (a *admission) tighten(l Limits, disabled bool) {
	if disabled {
		a.disabled.Store(true)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	stricter := func(has *int, wanted int, limiter *rate.Limiter, period time.Duration) {
		if wanted > 0 && (*has <= 0 || wanted < *has) {
			*has = wanted
			limiter.SetLimit(rate.Every(period / time.Duration(wanted)))
			limiter.SetBurst(wanted)
		}
	}
	stricter(&a.limits.Calls, l.Calls, a.calls, time.Minute)
	stricter(&a.limits.Mutations, l.Mutations, a.minute, time.Minute)
	stricter(&a.limits.MutationsHour, l.MutationsHour, a.hour, time.Hour)
}
