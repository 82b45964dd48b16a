package budget

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWhatRunsOut(t *testing.T) {
	small := Limits{Alive: 100, Put: 60, Steps: 10, Match: time.Nanosecond}
	match := func(time.Duration) error {
		time.Sleep(time.Microsecond) // longer than the limit of an expression
		return nil
	}
	for _, test := range []struct {
		name, want, code string
		use              func(*Budget) error
	}{
		{"what is held", "the call needs more than 100 bytes of memory", protocol.CodeOutputLimit, func(b *Budget) error {
			return errors.Join(b.Hold(60), b.Hold(41))
		}},
		{"what is released is free again", "", "", func(b *Budget) error {
			err := b.Hold(60)
			b.Release(60)
			return errors.Join(err, b.Hold(100))
		}},
		{"more than was held is not free", "the call needs more than 100 bytes of memory", protocol.CodeOutputLimit, func(b *Budget) error {
			b.Release(1000)
			return b.Hold(101)
		}},
		{"what is put out", "the answer is larger than 60 bytes", protocol.CodeOutputLimit, func(b *Budget) error {
			return errors.Join(b.Put(60), b.Put(1))
		}},
		{"what is put out is alive", "the call needs more than 100 bytes of memory", protocol.CodeOutputLimit, func(b *Budget) error {
			return errors.Join(b.Hold(50), b.Put(51))
		}},
		{"steps", "the call takes more than 10 steps", protocol.CodeTimeout, func(b *Budget) error {
			return errors.Join(b.Step(9), b.Step(1), b.Step(1))
		}},
		{"a match", `the regular expression "(a+)+b" takes more than 1ns for what it has to look at`, protocol.CodeTimeout, func(b *Budget) error {
			return b.Match("(a+)+b", match)
		}},
		{"a match that was not done", `the regular expression "x" takes more than 2s for what it has to look at`, protocol.CodeTimeout, func(b *Budget) error {
			b.limits.Match = Default.Match
			return b.Match("x", func(time.Duration) error { return errors.New("it was stopped") })
		}},
		{"the first error stays", "the call takes more than 10 steps", protocol.CodeTimeout, func(b *Budget) error {
			_ = b.Step(11)
			assert.That(t, b.Hold(1) != nil, "something is left")
			assert.That(t, b.Put(1) != nil, "something is left")
			assert.That(t, b.Match("x", match) != nil, "something is left")
			return b.Err()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := New(small)
			err := test.use(b)
			var over *Overrun
			if errors.As(err, &over) != (test.want != "") || over != nil && (over.Error() != test.want || over.Code() != test.code || over.Hint() == "") {
				t.Errorf("%v, %+v; want %q", err, over, test.want)
			}
			assert.Equal(t, b.Err() != nil, (test.want != ""), "the budget says %v", b.Err())
		})
	}
}

func TestTheTimeOfMatchesIsAddedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Limits{Match: time.Second})
		for _, want := range []time.Duration{time.Second, 600 * time.Millisecond, 200 * time.Millisecond} {
			err := b.Match("x", func(left time.Duration) error {
				assert.That(t, left == want, "%v are left, want %v", left, want)
				time.Sleep(min(left, 400*time.Millisecond))
				return nil
			})
			assert.That(t, err != nil == (want < 400*time.Millisecond), "with %v left: %v", want, err)
		}
	})
}

func TestTheBudgetComesWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := New(Limits{})
	first, second := From(ctx), From(ctx)
	assert.Equal(t, From(With(ctx, b)), b, "another budget")
	assert.That(t, first != second, "another budget")
	assert.Equal(t, first.limits, Default, "another budget")
	cancel()
	taken := int64(0)
	for b.Step(1) == nil {
		taken++
	}
	if taken > lookEvery || !errors.Is(b.Err(), context.Canceled) || b.Match("x", nil) == nil {
		t.Errorf("%d steps after the call was cancelled, %v", taken, b.Err())
	}
}

// callsOf returns budgets of calls under one ceiling, and what ends each call.
func callsOf(t *testing.T, count int) (calls []*Budget, end []func()) {
	shared := &ceiling{common: make(chan struct{}, commonShare/commonStep), reserve: make(chan struct{}, 1)}
	for range count {
		ctx, cancel := context.WithCancel(t.Context())
		b := New(Limits{})
		b.ceiling = shared
		With(ctx, b)
		calls, end = append(calls, b), append(end, cancel)
	}
	return calls, end
}

// However many calls want all they may have, what they have together is bounded, and all of
// them come to their end.
func TestAllCallsHaveACeiling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, end := callsOf(t, 6)
		has := make([]atomic.Int64, len(calls))
		for i, b := range calls {
			go func() {
				defer end[i]()
				for b.Hold(commonStep/2) == nil {
					has[i].Add(commonStep / 2)
					time.Sleep(time.Millisecond)
				}
				has[i].Store(0)
			}()
		}
		most := int64(0)
		for range 2000 {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			all := int64(0)
			for i := range has {
				all += has[i].Load()
			}
			most = max(most, all)
		}
		bound := int64(len(calls))*ownShare + commonShare + Default.Alive
		assert.That(t, most <= bound, "%d bytes are alive, bound %d", most, bound)
		assert.That(t, most >= bound/2, "%d bytes are alive, bound %d", most, bound)
		for _, b := range calls {
			err := (&Overrun{})
			require.That(t, errors.As(b.Err(), &err), "it did not get all that a call may have: %v", b.Err())
			assert.Equal(t, err.Code(), protocol.CodeOutputLimit,
				"it did not get all that a call may have: %v", b.Err())
		}
	})
}

func TestAShortCallDoesNotWaitForLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, end := callsOf(t, 4)
		for _, large := range calls[:2] {
			require.NoError(t, large.Hold(commonShare+ownShare))
		}
		assert.NoError(t, calls[2].Hold(ownShare))
		begun := time.Now()
		err := calls[2].Hold(1)
		if over := (&Overrun{}); !errors.As(err, &over) || over.Code() != protocol.CodeTimeout || time.Since(begun) != maxWait {
			t.Errorf("a third large call: %v after %v", err, time.Since(begun))
		}
		for _, cancel := range end[:2] {
			cancel()
		}
		synctest.Wait()
		assert.NoError(t, calls[3].Hold(Default.Alive), "what ended calls had is not given back")
		end[3]()
	})
}
