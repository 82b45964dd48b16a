package admission

import (
	"context"
	"runtime"
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
		sem := NewSemaphore(size)
		served := make(chan string, len(callers))
		for _, caller := range callers {
			go func() {
				_, err := sem.Acquire(t.Context(), caller)
				assert.NoError(t, err)
				served <- caller
				time.Sleep(time.Second)
				sem.Release(caller)
			}()
			time.Sleep(time.Millisecond) // no two of them end at one moment
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for range callers {
			order = append(order, <-served)
		}
		if sem.Running() != 0 || len(sem.callers) != 0 || len(sem.waiting) != 0 {
			t.Errorf("%d run, %d callers, %d wait at the end", sem.Running(), len(sem.callers), len(sem.waiting))
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
		sem := NewSemaphore(4)
		for _, caller := range []string{"b", "a", "a"} {
			require.Value(sem.Acquire(t.Context(), caller))(t)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := sem.Acquire(ctx, "a")
		assert.ErrorIs(t, err, context.DeadlineExceeded, "the last place for a caller that has two")
		_, err = sem.Acquire(t.Context(), "c")
		assert.NoError(t, err)
		for _, caller := range []string{"a", "a", "b", "c"} {
			sem.Release(caller)
		}
		assert.That(t, sem.Running() == 0 && len(sem.callers) == 0, "%d are running", sem.Running())
	})
}

// Who gives up in the moment of getting a place gives it back.
func TestAPlaceIsNotLost(t *testing.T) {
	for range 2000 {
		sem := NewSemaphore(1)
		require.Value(sem.Acquire(t.Context(), "a"))(t)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error)
		go func() { _, err := sem.Acquire(ctx, "b"); got <- err }()
		go cancel()
		sem.Release("a")
		if err := <-got; err == nil {
			sem.Release("b")
		}
		if sem.Running() != 0 || len(sem.callers) != 0 || len(sem.waiting) != 0 {
			t.Fatalf("%d run, %d wait", sem.Running(), len(sem.waiting))
		}
	}
}

// Who was seen waiting is told that it waited, however soon it gets its place.
func TestWhoWaitedIsTold(t *testing.T) {
	for range 2000 {
		sem := NewSemaphore(1)
		waited, err := sem.Acquire(t.Context(), "a")
		require.That(t, !waited && err == nil, "a free place: waited %v, %v", waited, err)
		told := make(chan bool)
		go func() { waited, _ := sem.Acquire(t.Context(), "b"); told <- waited }()
		for sem.Waiting() == 0 {
			runtime.Gosched()
		}
		sem.Release("a")
		if !<-told || sem.Waiting() != 0 {
			t.Fatalf("it was not told, or %d still wait", sem.Waiting())
		}
	}
}
