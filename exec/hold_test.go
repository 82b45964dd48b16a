package exec

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestOneLargeAnswerAtATime(t *testing.T) {
	const kept = 1 << 20
	r, p, _ := residentRunner(t, Config{MaxKept: kept, Timeout: time.Minute}, "worker", "worker")
	r.pool.limits.unheard = 0 // the one of this test confirms nothing
	first := r.Hold()
	out, err := r.Run(WithHold(t.Context(), first), reads("flood.md"), p)
	require.That(t, err == nil && len(out.Stdout) == kept, "%v %v", len(out.Stdout), err)
	out, err = r.Run(t.Context(), reads("a.md"), p)
	assert.That(t, err == nil && out.Stdout != "", "a small answer: %q, %v", out.Stdout, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = r.Run(short, reads("flood.md"), p)
	assert.Equal(t, codeOf(err), CodeTimeout, "a second large answer: %v", err)
	waits := make(chan error)
	go func() {
		_, err := r.Run(t.Context(), reads("flood.md"), p)
		waits <- err
	}()
	first.Release()
	first.Release() // which does nothing
	assert.NoError(t, <-waits)
	assert.That(t, len(r.large) == 0, "the right to a large answer is not given back")
}

// A call gives back what its earlier program has left before it waits for anything,
// so that two calls never wait for each other.
func TestACallHoldsOneAnswer(t *testing.T) {
	r := New(Config{})
	h := r.Hold()
	ctx := WithHold(t.Context(), h)
	for range 2 {
		require.That(t, h.take(ctx) && len(r.large) == 1, "not taken once")
	}
	if _, end := r.holding(ctx); len(r.large) != 0 {
		t.Error("still held when the next program begins")
	} else {
		end()
	}
	embedded, end := r.holding(t.Context())
	require.That(t, holdOf(embedded).take(embedded), "not taken")
	end()
	assert.That(t, len(r.large) == 0, "a program without a Hold around it keeps what it took")
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
