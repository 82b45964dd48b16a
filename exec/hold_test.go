package exec

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestOneLargeAnswerAtATime(t *testing.T) {
	const kept = 1 << 20
	r, p, _ := residentRunner(t, Config{MaxKept: kept, Timeout: time.Minute}, "worker", "worker")
	r.pool.limits.unheard = 0 // the one of this test confirms nothing
	pid := pidOf(t, r, p)
	first := r.Hold("a")
	out, err := r.Run(WithHold(t.Context(), first), reads("flood.md"), p)
	require.NoError(t, err)
	require.Equal(t, len(out.Stdout), kept)
	out, err = r.Run(t.Context(), reads("a.md"), p)
	require.Equal(t, err, nil, "a small answer")
	assert.That(t, out.Stdout != "", "a small answer: %q, %v", out.Stdout, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = r.Run(short, reads("flood.md"), p)
	assert.Equal(t, codeOf(err), CodeTimeout, "a second large answer: %v", err)
	within(t, 20*time.Second, "the end of the worker that confirms nothing", func() bool { return gone(pid) })
	waits := make(chan error)
	go func() {
		_, err := r.Run(t.Context(), reads("flood.md"), p)
		waits <- err
	}()
	first.Release()
	first.Release() // which does nothing
	assert.NoError(t, <-waits)
	assert.That(t, r.large.Running()+r.middle.Running() == 0, "the right to a large answer is not given back")
}

// A call gives back what its earlier program has left before it waits for anything,
// so that two calls never wait for each other.
func TestACallHoldsOneAnswer(t *testing.T) {
	r := New(Config{})
	h := r.Hold("a")
	ctx := WithHold(t.Context(), h)
	for range 2 {
		require.Equal(t, h.take(ctx, floodSize), math.MaxInt64, "not taken once")
		require.Equal(t, r.large.Running(), 1, "not taken once")
	}
	if _, end := r.underHold(ctx); r.large.Running() != 0 {
		t.Error("still held when the next program begins")
	} else {
		end()
	}
	embedded, end := r.underHold(t.Context())
	require.That(t, holdOf(embedded).take(embedded, floodSize) == math.MaxInt64, "not taken")
	end()
	assert.That(t, r.large.Running()+r.middle.Running() == 0, "a program without a Hold around it keeps what it took")
}

// TestAnAnswerOfSomePagesWaitsForNoLargeOne: whoever has a large answer, and whoever waits for one, another caller gets one of
// up to mediumAnswer at once, and the next large one before those that had some.
func TestAnAnswerOfSomePagesWaitsForNoLargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{})
		order := make(chan string, 10)
		for range 3 {
			h := r.Hold("bad/session-1")
			go func() {
				h.take(t.Context(), protocol.Window+1)
				h.take(t.Context(), mediumAnswer+1)
				time.Sleep(time.Second)
				order <- "bad"
				h.Release()
			}()
			synctest.Wait()
		}
		h := r.Hold("quiet/session-1")
		begun := time.Now()
		assert.Equal(t, h.take(t.Context(), protocol.Window+1), int64(mediumAnswer), "room for some pages")
		assert.Equal(t, time.Since(begun), 0, "time that they waited")
		assert.Equal(t, h.take(t.Context(), mediumAnswer+1), int64(math.MaxInt64), "room for a large answer")
		assert.Equal(t, len(order), 1, "large answers of the other one before it")
		h.Release()
		time.Sleep(time.Minute)
		assert.Equal(t, r.large.Running()+r.middle.Running(), 0, "places that are not given back")
	})
}

func TestTheQueueOfTheAppIsWithinTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Timeout: 15 * time.Second})
		r.queue <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), r.config.Timeout)
		defer cancel()
		begun := time.Now()
		err := (&turn{r: r}).begin(ctx)
		var stopped *Stopped
		if !errors.As(err, &stopped) || stopped.Code() != CodeTimeout || time.Since(begun) != 15*time.Second || stopped.Hint() == "" {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}
