package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWhatIsWantedIsInTheRequest(t *testing.T) {
	ctx := CompactJSON(UnlessState(t.Context(), "0123456789abcdef"))
	q := protocol.Request{Command: "tags", Want: protocol.Want{Facts: true}}
	assert.Equal(t, withWants(t.Context(), q).Want, q.Want, "nothing")
	assert.Equal(t, withWants(ctx, q).Want, (protocol.Want{Facts: true, Compact: true, Unless: "0123456789abcdef"}), "all")
}

// What would change is worked out by the embedded program alone, and by nothing that
// it is told besides: everything else would change something.
func TestAPreviewStartsNothingButThePlan(t *testing.T) {
	call := require.Value(allowlist.Parse("append", allowlist.Params{"path": allowlist.Text("A.md"), "content": allowlist.Text("x")}))(t)
	preview := everything.Decide(call, policy.ClearFacts(time.Now())).Preview()
	r := New(Config{CLI: "/nowhere/obsidian", Self: "/nowhere/vaultwicket"})
	defer r.Close()
	embedded := Program{backend: embeddedBackend, path: "/nowhere/vaultwicket"}
	for name, p := range map[string]Program{
		"the app":            {backend: appBackend, path: "/nowhere/obsidian"},
		"the app, told so":   Program{backend: appBackend, path: "/nowhere/obsidian"}.WithOptions(protocol.Write{Task: protocol.Plan}),
		"the embedded CLI":   embedded,
		"to begin a change":  embedded.WithOptions(protocol.Write{Task: protocol.Begin}),
		"to look at the end": embedded.WithOptions(protocol.Write{Task: protocol.End}),
	} {
		_, err := r.Preview(context.Background(), preview, p)
		assert.ErrorIs(t, err, ErrNoPermit, "%s", name)
	}
	_, err := r.Preview(context.Background(), policy.Preview{}, embedded.WithOptions(protocol.Write{Task: protocol.Plan}))
	assert.ErrorIs(t, err, ErrNoPermit, "the zero preview")
	_, err = r.Preview(context.Background(), preview, embedded.WithOptions(protocol.Write{Task: protocol.Plan}))
	assert.That(t, err != nil, "the plan itself: %v", err)
	assert.That(t, !errors.Is(err, ErrNoPermit), "the plan itself: %v", err)
}

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
	assert.Equal(t, got.Workers, 1, "after a call")
	assert.Equal(t, got.Processes, 0, "after a call")
	if runtime.GOOS == "linux" {
		assert.That(t, got.WorkerMemory > 1<<20, "after a call: %+v", got)
		assert.That(t, got.WorkerMemory < 500<<20, "after a call: %+v", got)
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
	_, err := r.Run(ctx, reads("a.md"), Program{})
	assert.That(t, err != nil, "a program that is none runs")
	want := []string{"me embedded 0 ", "me embedded -1 cli_crashed", "me  -1 internal"}
	assert.That(t, slices.Equal(w.told, want), "told %q, want %q", w.told, want)
}
