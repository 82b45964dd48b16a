package shares

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// queueOf has calls wait, one after the other, and returns who got a place in which
// order. Each call runs for a second.
func queueOf(t *testing.T, size int, callers ...string) (order []string) {
	synctest.Test(t, func(t *testing.T) {
		line := NewLine(size)
		served := make(chan string, len(callers))
		for _, caller := range callers {
			go func() {
				_, err := line.Acquire(t.Context(), caller)
				assert.NoError(t, err)
				served <- caller
				time.Sleep(time.Second)
				line.Release(caller)
			}()
			time.Sleep(time.Millisecond) // no two of them end at one moment
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for range callers {
			order = append(order, <-served)
		}
		if line.Running() != 0 || line.known() != 0 || len(line.waiting) != 0 {
			t.Errorf("%d run, %d callers, %d wait at the end", line.Running(), line.known(), len(line.waiting))
		}
	})
	return order
}

func TestCallersTakeTurns(t *testing.T) {
	for _, test := range []struct {
		size          int
		callers, want string
	}{
		{1, "aaa", "aaa"},
		{1, "aaaab", "abaaa"},
		{1, "aaabbbc", "abcabab"},
		{4, "aaaaaa", "aaaaaa"},   // there is no one else
		{4, "baaaaaa", "baaaaaa"}, // the fourth place is for the next one
		{4, "baaaaab", "baabaaa"},
	} {
		var callers []string
		for _, c := range test.callers {
			callers = append(callers, string(c))
		}
		got := ""
		for _, c := range queueOf(t, test.size, callers...) {
			got += c
		}
		assert.Equal(t, got, test.want, "%d size, %s came", test.size, test.callers)
	}
}

func TestTheLastPlaceIsLeftToACallerWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := NewLine(4)
		for _, caller := range []string{"b", "a", "a"} {
			require.Value(line.Acquire(t.Context(), caller))(t)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := line.Acquire(ctx, "a")
		assert.ErrorIs(t, err, context.DeadlineExceeded, "the last place for a caller that has two")
		_, err = line.Acquire(t.Context(), "c")
		assert.NoError(t, err)
		for _, caller := range []string{"a", "a", "b", "c"} {
			line.Release(caller)
		}
		assert.Equal(t, line.Running(), 0, "%d are running", line.Running())
		assert.Equal(t, line.known(), 0, "%d are running", line.Running())
	})
}

// Who gives up in the moment of getting a place gives it back.
func TestAPlaceIsNotLost(t *testing.T) {
	for range 2000 {
		line := NewLine(1)
		require.Value(line.Acquire(t.Context(), "a"))(t)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error)
		go func() { _, err := line.Acquire(ctx, "b"); got <- err }()
		go cancel()
		line.Release("a")
		if err := <-got; err == nil {
			line.Release("b")
		}
		if line.Running() != 0 || line.known() != 0 || len(line.waiting) != 0 {
			t.Fatalf("%d run, %d wait", line.Running(), len(line.waiting))
		}
	}
}

// Who was seen waiting is told that it waited, however soon it gets its place.
func TestWhoWaitedIsTold(t *testing.T) {
	for range 2000 {
		line := NewLine(1)
		waited, err := line.Acquire(t.Context(), "a")
		require.That(t, !waited, "a free place")
		require.Equal(t, err, nil, "a free place")
		told := make(chan bool)
		go func() { waited, _ := line.Acquire(t.Context(), "b"); told <- waited }()
		for line.Waiting() == 0 {
			runtime.Gosched()
		}
		line.Release("a")
		if !<-told || line.Waiting() != 0 {
			t.Fatalf("it was not told, or %d still wait", line.Waiting())
		}
	}
}

// known forgets what is over, a long time later, and returns how many parties are left.
func (s *Line) known() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now().Add(time.Hour))
	return len(s.payers.accounts) + len(s.callers.accounts)
}

// TestANewcomerGoesBeforeWhoHasHadAll: of those without a place the next one is for who had least lately, however many wait,
// and an agent is one whatever it calls its sessions.
func TestANewcomerGoesBeforeWhoHasHadAll(t *testing.T) {
	callers := []string{}
	for i := range 40 {
		callers = append(callers, fmt.Sprintf("bad%d/session-%d", i%4, i))
	}
	callers = append(callers, "quiet/session-1")
	order := queueOf(t, 1, callers...)
	assert.Equal(t, slices.Index(order, "quiet/session-1"), 4, "the place of the newcomer in %q", order)
	order = queueOf(t, 4, callers...)
	assert.That(t, slices.Index(order, "quiet/session-1") <= 4, "the newcomer has place %d", slices.Index(order, "quiet/session-1"))
}

// TestSessionsOfOnePayerTakeTurns: where nobody else is, the sessions of an agent are told apart.
func TestSessionsOfOnePayerTakeTurns(t *testing.T) {
	order := queueOf(t, 1, "session-1", "session-1", "session-1", "session-2")
	assert.Equal(t, slices.Index(order, "session-2"), 1, "the place of the second session in %q", order)
}
