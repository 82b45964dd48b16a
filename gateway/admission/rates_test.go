package admission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/shares"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// passes counts the calls of ask that are let through before one is refused,
// and returns the refusal, nil if there is none in a hundred.
func passes(ask func() error) (int, *failure.RequestError) {
	for n := range 100 {
		if err := ask(); err != nil {
			var r *failure.RequestError
			errors.As(err, &r)
			return n, r
		}
	}
	return 100, nil
}

// anyCall is a call of the one caller of these tests.
func anyCall(a *Controller) error { return a.Call("") }

func oneChange(a *Controller) error { return a.Mutation() }

// Callers do not use up what others have, and however many come, what is
// remembered of them does not grow beyond a bound.
func TestCallersAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New("", Limits{Calls: 2}, "", nil)
		for i := range maxCallers + 100 {
			caller := strconv.Itoa(i)
			n, r := passes(func() error { return a.Call(caller) })
			require.That(t, i >= maxCallers || n == 2, "caller %d: %d pass", i, n)
			require.That(t, r != nil, "caller %d: %d pass", i, n)
		}
		assert.That(t, len(a.callers) <= maxCallers+1, "%d callers are remembered", len(a.callers))
		time.Sleep(time.Minute)
		if n, _ := passes(func() error { return a.Call("a new one") }); n != 2 || len(a.callers) > 2 {
			t.Errorf("%d pass once the others have all they may again, and %d are remembered", n, len(a.callers))
		}
		a.Tighten(Limits{Calls: 1})
		n, _ := passes(func() error { return a.Call("one more") })
		assert.That(t, n == 1, "%d pass for a new caller after the limit was tightened", n)
	})
}

// Each limit lets as many through as it says, then one whenever its share of the
// period is over. Being refused costs nothing, however often.
func TestLimitsOverTime(t *testing.T) {
	for _, test := range []struct {
		name       string
		limits     Limits
		ask        func(*Controller) error
		most       int
		share      time.Duration
		says, hint string
	}{
		{"calls", Limits{Calls: 6}, anyCall, 6, 10 * time.Second, "rate limit reached: 6 calls a minute (setting rate)", "try again in 11s"},
		{"one call", Limits{Calls: 1}, anyCall, 1, time.Minute, "rate limit reached: 1 calls a minute (setting rate)", "try again in 1m1s"},
		{"changes", Limits{Mutations: 4}, oneChange, 4, 15 * time.Second,
			"rate limit reached: 4 changes a minute (setting rate-mutations)", "try again in 16s"},
		{"changes of an hour", Limits{MutationsHour: 6}, oneChange, 6, 10 * time.Minute,
			"rate limit reached: 6 changes an hour (setting rate-mutations-hour)", "try again in 10m1s"},
		{"changes, by the hour", Limits{Mutations: 3, MutationsHour: 2}, oneChange, 2, 30 * time.Minute,
			"rate limit reached: 2 changes an hour (setting rate-mutations-hour)", "try again in 30m1s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := New("", test.limits, "", nil)
			ask := func() error { return test.ask(a) }
			n, r := passes(ask)
			require.Equal(t, n, test.most, "%s: %d pass, then %+v", test.name, n, r)
			require.That(t, r != nil, "%s: %d pass, then %+v", test.name, n, r)
			require.Equal(t, r.Code(), "rate_limited", "%s: %d pass, then %+v", test.name, n, r)
			require.Equal(t, r.Error(), test.says, "%s: %d pass, then %+v", test.name, n, r)
			require.Equal(t, r.Hint(), test.hint, "%s: %d pass, then %+v", test.name, n, r)
			for range 50 {
				require.That(t, ask() != nil, "%s: one more passes", test.name)
			}
			time.Sleep(test.share - time.Second/2)
			n, r = passes(ask)
			assert.Equal(t, n, 0, "%s: %d pass before its share is over, then %+v", test.name, n, r)
			assert.Equal(t, r.Hint(), "try again in 1s",
				"%s: %d pass before its share is over, then %+v", test.name, n, r)
			time.Sleep(time.Second)
			n, _ = passes(ask)
			assert.That(t, n == 1, "%s: %d pass when its share is over", test.name, n)
			time.Sleep(2 * time.Hour)
			n, _ = passes(ask)
			assert.That(t, n == test.most, "%s: %d pass after a long time", test.name, n)
		})
	}
}

// A change that one of the limits refuses counts for none: what is left of the
// hour is not used up by asking too often within a minute.
func TestAChangeThatIsRefusedByTheMinuteLeavesTheHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New("", Limits{Mutations: 2, MutationsHour: 7}, "", nil)
		for minute := range 3 {
			n, r := passes(func() error { return a.Mutation() })
			require.Equal(t, n, 2, "minute %d: %d pass, then %v", minute, n, r)
			require.That(t, strings.HasSuffix(r.Error(), "(setting rate-mutations)"),
				"minute %d: %d pass, then %v", minute, n, r)
			for range 50 {
				require.That(t, a.Mutation() != nil, "one more passes")
			}
			time.Sleep(time.Minute)
		}
		n, r := passes(func() error { return a.Mutation() })
		assert.Equal(t, n, 1, "%d pass of the one that is left, then %v", n, r)
		assert.That(t, strings.HasSuffix(r.Error(), "(setting rate-mutations-hour)"),
			"%d pass of the one that is left, then %v", n, r)
	})
}

// Calls and changes are counted apart.
func TestCallsAreNoChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New("", Limits{Calls: 2, Mutations: 3}, "", nil)
		calls, _ := passes(func() error { return anyCall(a) })
		changes, _ := passes(func() error { return a.Mutation() })
		assert.Equal(t, calls, 2, "%d calls and %d changes", calls, changes)
		assert.Equal(t, changes, 3, "%d calls and %d changes", calls, changes)
	})
}

// The stricter of two limits applies, for each of the three on its own; none is the
// loosest. As many pass as the new limit says.
func TestTightenedLimits(t *testing.T) {
	for _, test := range []struct{ has, wanted, want int }{
		{0, 0, 0}, {0, 5, 5}, {0, 1, 1}, {0, -3, 0}, {-2, 5, 5}, {-2, 0, -2}, {5, 0, 5}, {5, -3, 5}, {5, 5, 5}, {5, 6, 5}, {5, 4, 4}, {5, 1, 1}, {1, 2, 1},
	} {
		for name, field := range map[string]func(*Limits) *int{
			"calls":   func(l *Limits) *int { return &l.Calls },
			"changes": func(l *Limits) *int { return &l.Mutations },
			"hour":    func(l *Limits) *int { return &l.MutationsHour },
		} {
			synctest.Test(t, func(t *testing.T) {
				var has, wanted, want Limits
				*field(&has), *field(&wanted), *field(&want) = test.has, test.wanted, test.want
				a := New("", has, "", nil)
				a.Tighten(wanted)
				require.Equal(t, a.limits, want, "%s, %d and %d", name, test.has, test.wanted)
				ask, period, most := func() error { return a.Mutation() }, time.Minute, test.want
				if name == "calls" {
					ask = func() error { return anyCall(a) }
				}
				if name == "hour" {
					period = time.Hour
				}
				if most <= 0 {
					most = 100
				}
				for range 2 { // at once, and again after the period
					if n, r := passes(ask); n != most || r != nil && !strings.HasPrefix(r.Error(), fmt.Sprintf("rate limit reached: %d ", most)) {
						t.Errorf("%s, %d and %d: %d pass, then %v", name, test.has, test.wanted, n, r)
					}
					time.Sleep(period)
				}
			})
		}
	}
}

// What has passed before a limit is tightened is not forgotten.
func TestWaitingTimesGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New("", Limits{Calls: 60}, "", nil)
		for range 60 {
			require.NoError(t, a.Call(""))
		}
		a.Tighten(Limits{Calls: 6})
		n, r := passes(func() error { return anyCall(a) })
		assert.Equal(t, n, 0, "%d pass, then %+v", n, r)
		assert.Equal(t, r.Hint(), "try again in 11s", "%d pass, then %+v", n, r)
	})
}

func TestSwitchedOff(t *testing.T) {
	const says = "vaultwicket is disabled by the setting enabled"
	off, on := New("", Limits{}, "", nil), New("", Limits{}, "", nil)
	off.Disable()
	on.Tighten(Limits{})
	assert.NoError(t, on.Call(""), "tightened by nothing")
	on.Disable()
	on.Tighten(Limits{}) // a server that is off stays so
	for name, a := range map[string]*Controller{"from the start": off, "later": on} {
		n, r := passes(func() error { return anyCall(a) })
		assert.Equal(t, n, 0, "%s: %d pass, then %v", name, n, r)
		assert.Equal(t, r.Code(), "paused", "%s: %d pass, then %v", name, n, r)
		assert.Equal(t, r.Error(), says, "%s: %d pass, then %v", name, n, r)
		assert.That(t, r.Hint() != "", "%s: %d pass, then %v", name, n, r)
	}
}

// Everything is refused while the file is there, and where it cannot be told
// whether it is. Without a state folder there is no such file anywhere.
func TestPauseFile(t *testing.T) {
	assert.Equal(t, PauseFile("x"), filepath.Join("x", "paused"), "the file")
	a := New("", Limits{}, "", nil)
	assert.Equal(t, a.pauseFile, "", "without a state folder it is %q", a.pauseFile)
	assert.NoError(t, a.Open(), "without a state folder it is %q", a.pauseFile)
	state := t.TempDir()
	assert.NoError(t, New("", Limits{}, state, nil).Open(), "without the file")
	assert.NoError(t, New("", Limits{}, filepath.Join(state, "none"), nil).Open(), "without the folder")
	require.NoError(t, os.WriteFile(filepath.Join(state, "paused"), nil, 0o600))
	for name, want := range map[string]struct{ state, code, says, hint string }{
		"with the file":     {state, "paused", "vaultwicket is paused", `"vaultwicket resume"`},
		"deep below a file": {filepath.Join(state, "paused", "a", "b"), "state_unavailable", "state folder: not a directory", "0700"},
		"below a file":      {filepath.Join(state, "paused"), "state_unavailable", "state folder: not a directory", "0700"},
	} {
		n, r := passes(func() error { return anyCall(New("", Limits{}, want.state, nil)) })
		assert.Equal(t, n, 0, "%s: %d pass, then %v", name, n, r)
		assert.Equal(t, r.Code(), want.code, "%s: %d pass, then %v", name, n, r)
		assert.Contains(t, r.Error(), want.says, "%s: %d pass, then %v", name, n, r)
		assert.Contains(t, r.Hint(), want.hint, "%s: %d pass, then %v", name, n, r)
	}
}

// Forty calls at once are answered within the limit of one, whether they ran or not.
func TestWaitingCountsForTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, running := New("", Limits{}, "", func() time.Duration { return 15 * time.Second }), shares.NewLine(4)
		begun := time.Now()
		ends := make(chan error, 40)
		for i := range 40 {
			go func() {
				ctx, cancel := a.WithDeadline(t.Context(), begun, 0)
				defer cancel()
				release, err := a.Acquire(ctx, fmt.Sprint(i%20), "search", running)
				if err == nil {
					select {
					case <-time.After(7 * time.Second): // what a slow search takes
					case <-ctx.Done():
						err = ctx.Err()
					}
					release()
				}
				assert.That(t, time.Since(begun) <= 15*time.Second, "a call took %v", time.Since(begun))
				ends <- err
			}()
		}
		done, late := 0, 0
		for range 40 {
			switch err := <-ends; {
			case err == nil:
				done++
			case errors.Is(err, context.DeadlineExceeded):
			case failure.Of(err).Code == "timeout" && failure.Of(err).Hint != "":
				late++
			default:
				t.Error(err)
			}
		}
		if done != 8 || late == 0 { // some get a place in the last moment and are stopped at once
			t.Errorf("%d are done, %d were told that they waited too long", done, late)
		}
	})
}
