// Package admission decides whether a call may begin, before its content is looked at:
// the tokens of agents, the pause, the rate limits of callers and of changes, and waiting for a semaphore
// within the time limit of the call. Its errors are of package failure.
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

// Limits bound what callers may ask for. A zero of one of the rates means no limit.
type Limits struct {
	// Parallel bounds the calls that run at once; 0 means 4.
	Parallel int
	// Calls bounds the calls of one caller in a minute. Mutations bounds those of
	// all callers together that would change something in a minute, and
	// MutationsHour in an hour: the notes are the same for all.
	Calls, Mutations, MutationsHour int
}

// DefaultParallel is the number of calls that run at once where Limits has none.
const DefaultParallel = 4 // more calls at once only wait for the app, which answers one at a time

// Controller admits calls before anything else is looked at: the pause, the rate limits,
// and the semaphores of the calls that run at once.
type Controller struct {
	pauseFile string               // "" where nothing can be paused
	state     string               // the folder of the pause file
	agent     string               // that all calls are of, "" where no agent is defined
	timeout   func() time.Duration // of a call
	disabled  atomic.Bool

	mu       sync.Mutex
	limits   Limits
	callers  map[string]*rate.Limiter
	minute   *rate.Limiter                        // of mutations
	hour     *rate.Limiter                        // of mutations
	followed map[*context.CancelFunc]followedCall // calls that end when the agent does, see Follow

	standings  *Standings
	generation atomic.Pointer[string] // of the credentials of the agent, see begin
	renewing   sync.Mutex
	void       func() // see OnRenewal

	looking bool // a look at the agent is due
}

// New returns a controller with these limits. The calls are of an agent, "" for none: they are also
// refused while it is paused or revoked. state is the folder of the file that pauses, "" where
// nothing can be paused, and timeout the time limit of a call.
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
		known, _ := a.standings.Of(agent) // where that cannot be told, nothing is allowed
		generation = known.Generation
	}
	a.generation.Store(&generation)
	if state != "" {
		a.pauseFile = PauseFile(state)
	}
	return a
}

// limiter permits n in any period from the beginning on, then one whenever its share of the period
// is over. Without a limit its burst is the greatest, so that a limit set later begins with all of
// its own.
func limiter(n int, period time.Duration) *rate.Limiter {
	if n <= 0 {
		return rate.NewLimiter(rate.Inf, math.MaxInt)
	}
	return rate.NewLimiter(rate.Every(period/time.Duration(n)), n)
}

// Call refuses a call while the gateway is paused or disabled, or above the rate limit of
// the caller.
func (a *Controller) Call(caller string) error { return a.Calls(caller, 1) }

// Calls is [Controller.Call] for several calls that are made together, or none.
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
	if a.callers[caller] == nil && len(a.callers) >= maxCallers { // those whose burst is complete are as new ones
		maps.DeleteFunc(a.callers, func(_ string, l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) })
	}
	if a.callers[caller] == nil && len(a.callers) >= maxCallers {
		caller = others
	}
	if a.callers[caller] == nil {
		a.callers[caller] = limiter(a.limits.Calls, time.Minute)
	}
	return tally(n, quota{a.callers[caller], "rate", "calls a minute", a.limits.Calls})
}

// maxCallers bounds the callers whose calls are counted apart. Those beyond it
// share a count with each other.
const maxCallers = 4096

// others is the caller by which those above [maxCallers] are counted together.
const others = "\x00others"

// Open refuses every call while the gateway is paused or disabled.
func (a *Controller) Open() error {
	if a.disabled.Load() {
		return failure.New(
			failure.CodePaused,
			"the user can set enabled to true and restart",
			"vaultwicket is disabled by the setting enabled",
		)
	}
	paused, err := isThere(a.pauseFile)
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
	return a.agentOpen()
}

// Paused reports whether the gateway, or the agent of its calls, is paused or revoked. If that
// cannot be told, it is.
func (a *Controller) Paused() bool {
	paused, err := isThere(a.pauseFile)
	return paused || err != nil || a.agentOpen() != nil
}

// Mutation refuses a call that would change something above the limits of a minute and of an hour.
func (a *Controller) Mutation() error { return a.mutations(1, take) }

// Batch refuses the calls and changes of a batch if they would be above the limits, made together
// now. Otherwise they count.
func (a *Controller) Batch(caller string, calls, mutations int) error {
	return a.batch(caller, calls, mutations, take)
}

// CheckBatch refuses what [Controller.Batch] would refuse now, and counts nothing.
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

// quota is a limiter, and the words for the error when it is used up.
type quota struct {
	limiter       *rate.Limiter
	setting, unit string
	most          int
}

// tally is [take] or [check].
type tally func(n int, quotas ...quota) error

// take takes so many from each limiter, or from none, so that a refused call does not count; the
// error says when there will be enough.
func take(n int, quotas ...quota) error {
	taken, err := reserve(n, quotas)
	if err != nil {
		taken.cancel()
	}
	return err
}

// check has the error of [take], and takes none.
func check(n int, quotas ...quota) error {
	taken, err := reserve(n, quotas)
	taken.cancel()
	return err
}

// reservation is what was taken from limiters at a time.
type reservation struct {
	at    time.Time
	taken []*rate.Reservation
}

// cancel gives back what was taken.
func (r reservation) cancel() {
	for _, taken := range r.taken {
		taken.CancelAt(r.at)
	}
}

// reserve takes so many from each limiter. With an error it has taken them from those up to the one that has too few.
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
		r.taken = append(r.taken, reserved)
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

// Disable refuses every call from now on.
func (a *Controller) Disable() { a.disabled.Store(true) }

// Disabled reports whether a setting refuses every call.
func (a *Controller) Disabled() bool { return a.disabled.Load() }

// Limits returns the limits.
func (a *Controller) Limits() Limits {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.limits
}

// Tighten takes the stricter of two limits each. Waiting times go on.
func (a *Controller) Tighten(l Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	stricter := func(has *int, wanted int, period time.Duration, limiters ...*rate.Limiter) {
		lower := policy.LowerRate(*has, wanted)
		if lower == 0 || lower == *has {
			return
		}
		*has = lower
		for _, l := range limiters {
			l.SetLimit(rate.Every(period / time.Duration(lower)))
			l.SetBurst(lower)
		}
	}
	stricter(&a.limits.Calls, l.Calls, time.Minute, slices.Collect(maps.Values(a.callers))...)
	stricter(&a.limits.Mutations, l.Mutations, time.Minute, a.minute)
	stricter(&a.limits.MutationsHour, l.MutationsHour, time.Hour, a.hour)
}
