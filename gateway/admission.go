package gateway

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"vaultwicket/gateway/failure"
)

// Limits bound what callers may ask for. A zero of one of the rates means no
// limit.
type Limits struct {
	// Parallel bounds the calls that run at once; 0 means 4.
	Parallel int
	// Calls bounds the calls of one caller in a minute. Mutations bounds those of
	// all callers together that would change something in a minute, and
	// MutationsHour in an hour: the notes are the same for all.
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
	calls  map[string]*rate.Limiter // by caller
	minute *rate.Limiter            // of mutations
	hour   *rate.Limiter            // of mutations
}

func newAdmission(l Limits, disabled bool, state string) *admission {
	a := &admission{limits: l, calls: map[string]*rate.Limiter{}, minute: limiter(l.Mutations, time.Minute), hour: limiter(l.MutationsHour, time.Hour)}
	a.disabled.Store(disabled)
	if state != "" {
		a.pauseFile = PauseFile(state)
	}
	return a
}

// limiter lets n pass in any period from the beginning on, and then one whenever
// its share of the period is over. Without a limit its burst is the greatest, so
// that a limit that is set later begins with all of its own.
func limiter(n int, period time.Duration) *rate.Limiter {
	if n <= 0 {
		return rate.NewLimiter(rate.Inf, math.MaxInt)
	}
	return rate.NewLimiter(rate.Every(period/time.Duration(n)), n)
}

// PauseFile returns the file in the state folder that is there while everything
// is refused. Every server looks for it at every call, so it reaches all of them
// at once and outlives them.
func PauseFile(state string) string { return filepath.Join(state, "paused") }

// call refuses a call while nothing is let through, or too many of this caller
// were.
func (a *admission) call(caller string) error {
	if err := a.open(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limits.Calls <= 0 {
		return nil
	}
	return take(quota{a.callsOf(caller), "rate", "calls a minute", a.limits.Calls})
}

// maxCallers bounds the callers whose calls are counted apart. Those beyond it
// share a count with each other.
const maxCallers = 4096

// callsOf returns the limiter of a caller. One that has its whole burst again
// says nothing that a new one does not, and goes when there are many.
func (a *admission) callsOf(caller string) *rate.Limiter {
	if l := a.calls[caller]; l != nil {
		return l
	}
	if len(a.calls) >= maxCallers {
		maps.DeleteFunc(a.calls, func(_ string, l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) })
	}
	if len(a.calls) >= maxCallers {
		caller = others
		if l := a.calls[others]; l != nil {
			return l
		}
	}
	l := limiter(a.limits.Calls, time.Minute)
	a.calls[caller] = l
	return l
}

// others is the caller that stands for all that are too many.
const others = "\x00others"

// open refuses while nothing is let through.
func (a *admission) open() error {
	if a.disabled.Load() {
		return failure.New(failure.CodePaused, "the user can set enabled to true and restart", "vaultwicket is disabled by the setting enabled")
	}
	paused, err := a.looksPaused()
	if err != nil {
		return failure.New(failure.CodeState, "the user can make the state folder one of their own, with mode 0700",
			"cannot tell whether vaultwicket is paused: state folder: %v", err)
	}
	if paused {
		return failure.New(failure.CodePaused, `the user can resume it with "vaultwicket resume"`, "vaultwicket is paused")
	}
	return nil
}

// looksPaused reports whether somebody has paused the gateway. The error says why that
// cannot be told; it names no path.
func (a *admission) looksPaused() (bool, error) {
	if a.pauseFile == "" {
		return false, nil
	}
	_, err := os.Lstat(a.pauseFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, errors.Unwrap(err)
	}
	return true, nil
}

// paused is looksPaused for people: what cannot be told is a pause.
func (a *admission) paused() bool {
	paused, err := a.looksPaused()
	return paused || err != nil
}

// mutation refuses a call that would change something when too many were let
// through, in a minute or in an hour.
func (a *admission) mutation() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return take(
		quota{a.hour, "rate-mutations-hour", "changes an hour", a.limits.MutationsHour},
		quota{a.minute, "rate-mutations", "changes a minute", a.limits.Mutations},
	)
}

// quota is a limiter, and what is said when it has nothing left.
type quota struct {
	limiter       *rate.Limiter
	setting, unit string
	most          int
}

// take takes one of what each limiter has. Where one has nothing it takes
// nothing of any, so that asking in vain uses nothing up, and says when there
// will be one.
func take(quotas ...quota) error {
	now := time.Now()
	taken := make([]*rate.Reservation, 0, len(quotas))
	for _, q := range quotas {
		reserved := q.limiter.ReserveN(now, 1)
		taken = append(taken, reserved)
		wait := reserved.DelayFrom(now)
		if wait == 0 {
			continue
		}
		for _, r := range taken {
			r.CancelAt(now)
		}
		wait = wait.Truncate(time.Second) + time.Second
		return failure.New(failure.CodeRateLimited, "try again in "+wait.String(), "rate limit reached: %d %s (setting %s)", q.most, q.unit, q.setting)
	}
	return nil
}

// tighten takes the stricter of two limits each. Waiting times go on.
func (a *admission) tighten(l Limits, disabled bool) {
	if disabled {
		a.disabled.Store(true)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	stricter := func(has *int, wanted int, period time.Duration, limiters ...*rate.Limiter) {
		if wanted <= 0 || *has > 0 && wanted >= *has {
			return
		}
		*has = wanted
		for _, l := range limiters {
			l.SetLimit(rate.Every(period / time.Duration(wanted)))
			l.SetBurst(wanted)
		}
	}
	stricter(&a.limits.Calls, l.Calls, time.Minute, slices.Collect(maps.Values(a.calls))...)
	stricter(&a.limits.Mutations, l.Mutations, time.Minute, a.minute)
	stricter(&a.limits.MutationsHour, l.MutationsHour, time.Hour, a.hour)
}
