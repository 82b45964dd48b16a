package exec

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"vaultwicket/tests/assert"
)

func TestProcessesOfACallAreCountedWhileTheyRun(t *testing.T) {
	r, p, path := embeddedRunner(t, Config{}, script{Parts: []part{{Argv: []string{"--facts", "version"}, Do: "hang"}}})
	ctx, cancel := context.WithCancel(t.Context())
	var call sync.WaitGroup
	call.Go(func() { _, _ = r.Run(ctx, mustPermit("version", nil), p) })
	marked(t, path)
	assert.Equal(t, r.Children(), (Children{Processes: 1}), "while it runs")
	cancel()
	call.Wait()
	assert.Equal(t, r.Children(), (Children{}), "after it")
}

func TestCallsInTheQueueOfTheAppAreCounted(t *testing.T) {
	r := New(Config{})
	r.queue <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() { _ = (&turn{r: r}).begin(ctx) })
	}
	within(t, faultLimit*10, "queue of three", func() bool { return r.Children().Waiting == 3 })
	cancel()
	calls.Wait()
	assert.Equal(t, r.Children(), (Children{}), "after them")
}

func TestWorkersAreCountedWithTheirMemory(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker")
	assert.Equal(t, r.Children(), (Children{}), "before the first call")
	pidOf(t, r, p)
	got := r.Children()
	if got.Workers != 1 || got.Processes != 0 || got.WorkerMemory <= 0 && runtime.GOOS == "linux" {
		t.Errorf("after a call: %+v", got)
	}
	r.Close()
	assert.Equal(t, r.Children(), (Children{}), "after the end")
}

// runs is a watcher that keeps what it is told.
type runs struct {
	mu   sync.Mutex
	told []string
}

type runsKey struct{}

func (w *runs) BeginRun(ctx context.Context, backend string) func(int, string) {
	who, _ := ctx.Value(runsKey{}).(string)
	return func(exitCode int, code string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, fmt.Sprintf("%s %s %d %s", who, backend, exitCode, code))
	}
}

func TestAWatcherIsToldOfEveryRun(t *testing.T) {
	var w runs
	r, p, _ := residentRunner(t, Config{Watch: &w, Timeout: faultLimit}, "worker")
	ctx := context.WithValue(t.Context(), runsKey{}, "me")
	for _, path := range []string{"a.md", "crash.md"} {
		_, _ = r.Run(ctx, reads(path), p)
	}
	if _, err := r.Run(ctx, reads("a.md"), Program{}); err == nil {
		t.Error("a program that is none runs")
	}
	want := []string{"me embedded 0 ", "me embedded -1 cli_crashed", "me  -1 internal"}
	assert.That(t, slices.Equal(w.told, want), "told %q, want %q", w.told, want)
}
