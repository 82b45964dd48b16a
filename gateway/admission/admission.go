// Package admission decides whether a call may begin, before its content is looked at. It checks the tokens of
// agents, the pause and the rate limits of callers and of changes, and acquires semaphores within the time limit
// of the call. Its errors are of package failure.
package admission

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/policy"
)

// Limits bound how much callers can do. A rate of zero means no limit.
type Limits struct {
	// Parallel bounds the calls that run at once; 0 means 4.
	Parallel int
	// Calls is the maximum of calls per caller and minute. Mutations and MutationsHour are the maximum of calls
	// that would change something, per minute and per hour. They apply to all callers together, because they all
	// change the same notes.
	Calls, Mutations, MutationsHour int
}

// DefaultParallel is the number of calls that run at once if Limits does not set it.
const DefaultParallel = 4 // more calls at once only wait for the app, which answers one at a time

// Controller admits calls before anything else is looked at: it checks the pause and the rate limits, and acquires
// the semaphores for calls that run at once.
type Controller struct {
	pauseFile string               // "" if nothing can be paused
	state     string               // the folder of the pause file
	agent     string               // the agent that makes all calls, "" if no agent is defined
	timeout   func() time.Duration // returns the time limit of a call
	disabled  atomic.Bool

	mu       sync.Mutex
	limits   Limits
	callers  map[string]*rate.Limiter
	minute   *rate.Limiter                        // for mutations per minute
	hour     *rate.Limiter                        // for mutations per hour
	followed map[*context.CancelFunc]followedCall // calls to cancel when the agent loses its rights, see Follow

	standings  *Standings
	generation atomic.Pointer[string] // of the credentials of the agent, see enterGeneration
	renewing   sync.Mutex
	void       func() // see OnRenewal

	checkScheduled bool // checkFollowed is scheduled
}

// New returns a controller with the given limits. All calls are made by agent, or by no agent if it is "". They are
// refused while that agent is paused or revoked. state is the folder of the pause file, "" if nothing can be paused.
// timeout returns the time limit of a call.
func New(agent string, l Limits, state string, timeout func() time.Duration) *Controller {
	a := &Controller{
		agent:     agent,
		state:     state,
		timeout:   timeout,
		limits:    l,
		callers:   map[string]*rate.Limiter{},
		followed:  map[*context.CancelFunc]followedCall{},
		standings: NewStandings(state),
		minute:    limiter(l.Mutations, time.Minute),
		hour:      limiter(l.MutationsHour, time.Hour),
	}
	a.void = func() {}
	generation := ""
	if agent != "" {
		standing, _ := a.standings.Of(agent) // on an error, no call is admitted
		generation = standing.Generation
	}
	a.generation.Store(&generation)
	if state != "" {
		a.pauseFile = PauseFile(state)
	}
	return a
}

// limiter permits a burst of n, then refills at n per period. Without a limit its burst is the maximum, so that a
// limit set later starts with a full burst.
func limiter(n int, period time.Duration) *rate.Limiter {
	if n <= 0 {
		return rate.NewLimiter(rate.Inf, math.MaxInt)
	}
	return rate.NewLimiter(rate.Every(period/time.Duration(n)), n)
}

// Call returns an error if the gateway is paused or disabled, or if the caller exceeds its rate limit.
func (a *Controller) Call(caller string) error { return a.Calls(caller, 1) }

// Calls is like [Controller.Call] for n calls that are made together; n may be zero.
func (a *Controller) Calls(caller string, n int) error { return a.calls(caller, n, take) }

func (a *Controller) calls(caller string, n int, tally tally) error {
	if err := a.Open(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limits.Calls <= 0 {
		return nil
	}
	isTracked := a.callers[caller] != nil
	if !isTracked && len(a.callers) >= maxCallers {
		// A limiter with a full burst is like a new one, so it need not be kept.
		maps.DeleteFunc(a.callers, func(_ string, l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) })
	}
	if !isTracked && len(a.callers) >= maxCallers {
		caller = overflowCaller
	}
	if a.callers[caller] == nil {
		a.callers[caller] = limiter(a.limits.Calls, time.Minute)
	}
	return tally(n, quota{a.callers[caller], "rate", "calls a minute", a.limits.Calls})
}

// maxCallers is the maximum number of callers with a rate limiter of their own. All further callers share one.
const maxCallers = 4096

// overflowCaller is the name under which the callers beyond [maxCallers] share a limiter.
const overflowCaller = "\x00others"

// Open returns an error while the gateway is paused or disabled.
func (a *Controller) Open() error {
	if a.disabled.Load() {
		return failure.New(
			failure.CodePaused,
			"the user can set enabled to true and restart",
			"vaultwicket is disabled by the setting enabled",
		)
	}
	paused, err := pauseFileExists(a.pauseFile)
	if err != nil {
		return failure.New(failure.CodeState, "the user can make the state folder one of their own, with mode 0700",
			"cannot tell whether vaultwicket is paused: state folder: %s", excerpt.Reason(err))
	}
	if paused {
		return failure.New(
			failure.CodePaused,
			`the user can resume it with "vaultwicket resume"`,
			"vaultwicket is paused",
		)
	}
	return a.checkAgent()
}

// Paused reports whether the gateway, or the agent that makes its calls, is paused or revoked. It also returns true
// if that cannot be determined.
func (a *Controller) Paused() bool {
	paused, err := pauseFileExists(a.pauseFile)
	return paused || err != nil || a.checkAgent() != nil
}

// Mutation counts a call that changes something. It returns an error if that exceeds the limit per minute or per
// hour.
func (a *Controller) Mutation() error { return a.mutations(1, take) }

// Batch counts the calls and mutations of a batch that is about to run. If they would exceed a limit, it returns an
// error and counts nothing.
func (a *Controller) Batch(caller string, calls, mutations int) error {
	return a.batch(caller, calls, mutations, take)
}

// CheckBatch returns the error that [Controller.Batch] would return now, and counts nothing.
func (a *Controller) CheckBatch(caller string, calls, mutations int) error {
	return a.batch(caller, calls, mutations, check)
}

func (a *Controller) batch(caller string, calls, mutations int, tally tally) error {
	if err := a.calls(caller, calls, tally); err != nil {
		return err
	}
	return a.mutations(mutations, tally)
}

func (a *Controller) mutations(n int, tally tally) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return tally(n,
		quota{a.hour, "rate-mutations-hour", "changes an hour", a.limits.MutationsHour},
		quota{a.minute, "rate-mutations", "changes a minute", a.limits.Mutations},
	)
}

// quota is a limiter with the words for the error when it is exhausted.
type quota struct {
	limiter       *rate.Limiter
	setting, unit string
	most          int
}

// tally is [take] or [check].
type tally func(n int, quotas ...quota) error

// take takes n from each limiter. If one of them has too few, it takes nothing, so that a refused call does not
// count; the error says when there will be enough.
func take(n int, quotas ...quota) error {
	taken, err := reserve(n, quotas)
	if err != nil {
		taken.cancel()
	}
	return err
}

// check returns the error of [take], and takes nothing.
func check(n int, quotas ...quota) error {
	taken, err := reserve(n, quotas)
	taken.cancel()
	return err
}

// reservation is what was taken from limiters at one time.
type reservation struct {
	at       time.Time
	reserved []*rate.Reservation
}

// cancel returns what was taken.
func (r reservation) cancel() {
	for _, reserved := range r.reserved {
		reserved.CancelAt(r.at)
	}
}

// reserve takes n from each limiter. On an error the reservation contains what was taken up to then.
func reserve(n int, quotas []quota) (reservation, error) {
	r := reservation{at: time.Now()}
	for _, q := range quotas {
		if n > q.limiter.Burst() {
			return r, failure.New(
				failure.CodeRateLimited,
				fmt.Sprintf("send at most %d at once", q.most),
				"%d at once are above the rate limit: %d %s (setting %s)",
				n,
				q.most,
				q.unit,
				q.setting,
			)
		}
		reserved := q.limiter.ReserveN(r.at, n)
		r.reserved = append(r.reserved, reserved)
		wait := reserved.DelayFrom(r.at)
		if wait > 0 {
			wait = wait.Truncate(time.Second) + time.Second
			return r, failure.New(
				failure.CodeRateLimited,
				"try again in "+wait.String(),
				"rate limit reached: %d %s (setting %s)",
				q.most,
				q.unit,
				q.setting,
			)
		}
	}
	return r, nil
}

// Disable makes the controller refuse every call from now on.
func (a *Controller) Disable() { a.disabled.Store(true) }

// Disabled reports whether every call is refused because of a setting.
func (a *Controller) Disabled() bool { return a.disabled.Load() }

// Limits returns the limits in force.
func (a *Controller) Limits() Limits {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.limits
}

// Tighten applies the stricter of the current and the given limit for each rate. Tokens already used stay used.
func (a *Controller) Tighten(l Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	stricter := func(current *int, wanted int, period time.Duration, limiters ...*rate.Limiter) {
		lower := policy.LowerRate(*current, wanted)
		if lower == 0 || lower == *current {
			return
		}
		*current = lower
		for _, l := range limiters {
			l.SetLimit(rate.Every(period / time.Duration(lower)))
			l.SetBurst(lower)
		}
	}
	stricter(&a.limits.Calls, l.Calls, time.Minute, slices.Collect(maps.Values(a.callers))...)
	stricter(&a.limits.Mutations, l.Mutations, time.Minute, a.minute)
	stricter(&a.limits.MutationsHour, l.MutationsHour, time.Hour, a.hour)
}
