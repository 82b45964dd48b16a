package exec

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// residentRunner returns a Runner with fake workers, one for each way to play.
// It ends with the test.
func residentRunner(t testing.TB, c Config, plays ...string) (*Runner, Program, string) {
	t.Helper()
	var s script
	for _, do := range plays {
		s.Parts = append(s.Parts, part{Argv: []string{"--worker"}, Do: do})
	}
	c.Resident = true
	r, p, path := embeddedRunner(t, c, s)
	t.Cleanup(r.Close)
	return r, p, path
}

func reads(path string) policy.Permit { return mustPermit("read", params{"path": path}) }

func writes(path string) policy.Permit {
	return mustPermit("append", params{"path": path, "content": "x"})
}

// pidOf asks the worker who it is.
func pidOf(t testing.TB, r *Runner, p Program) int {
	t.Helper()
	out, err := r.Run(t.Context(), reads("a.md"), p)
	pid, bad := strconv.Atoi(strings.TrimSpace(out.Stdout))
	require.NoError(t, err)
	require.That(t, bad == nil, "%+v, %v", out, err)
	require.Equal(t, out.Path, "a.md")
	require.Equal(t, out.Hash, "h")
	require.Equal(t, out.ExitCode, 0)
	require.Equal(t, out.Stderr, "")
	return pid
}

func lines(path string) int {
	text, _ := os.ReadFile(path)
	return strings.Count(string(text), "\n")
}

// together makes so many concurrent calls.
func together(calls int, call func()) {
	var wait sync.WaitGroup
	for range calls {
		wait.Go(call)
	}
	wait.Wait()
}

type result struct {
	Outcome
	err error
}

// inFlight runs a call, and returns when so many calls hang on the worker of a path.
func inFlight(ctx context.Context, t testing.TB, r *Runner, permit policy.Permit, p Program, path string, hanging int) <-chan result {
	t.Helper()
	ended := make(chan result, 1)
	go func() {
		out, err := r.Run(ctx, permit, p)
		ended <- result{out, err}
	}()
	within(t, 20*time.Second, "open call", func() bool { return lines(path+".hangs") == hanging })
	return ended
}

func TestOneWorkerAnswersManyCalls(t *testing.T) {
	r, p, path := residentRunner(t, Config{}, "worker")
	pid := pidOf(t, r, p)
	together(50, func() {
		again := pidOf(t, r, p)
		assert.That(t, again == pid, "process %d, and %d before", again, pid)
	})
	r.Close()
	assert.That(t, gone(pid), "the worker outlives its runner")
	out, err := r.Run(t.Context(), reads("a.md"), p)
	assert.Equal(t, codeOf(err), CodeCancelled, "after the end")
	assert.Equal(t, out.ExitCode, process.NoExit, "after the end")
	r.Close()
	runs := len(logged(path))
	assert.That(t, runs == 1, "%d processes", runs)
}

func TestFirstCallsStartOneWorker(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker")
	together(20, func() { pidOf(t, r, p) })
}

func TestEachVaultHasItsWorker(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker")
	other := p
	other.folder = t.TempDir()
	first := pidOf(t, r, p)
	out, err := r.Run(t.Context(), reads("a.md"), other)
	assert.That(t, err != nil || out.Stdout != strconv.Itoa(first)+"\n", "one worker serves two vaults")
	assert.Equal(t, len(logged(p.path)), 2, "runs")
	_ = os.Truncate(p.path+".log", int64(len(logged(p.path)[0])+1)) // the fake knows one vault only
}

// A call that kills the worker is told what became of it, another one that was
// open is too, and the next one has a new worker.
func TestFaultsOfTheWorker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, read, write, stdout string
	}{
		{"it crashes in the middle of an answer", "crash.md", CodeCrashed, CodeOutcomeUnknown, "half"},
		{"it leaves", "leave.md", CodeCrashed, CodeOutcomeUnknown, ""},
		{"it sends garbage", "garbage.md", CodeCrashed, CodeOutcomeUnknown, ""},
		{"it sends half a frame", "half.md", CodeCrashed, CodeOutcomeUnknown, ""},
		{"it answers another request", "wrong-id.md", CodeCrashed, CodeOutcomeUnknown, ""},
		{"it sends what is not for us", "wrong-kind.md", CodeCrashed, CodeOutcomeUnknown, ""},
		{"it ends an answer in another form", "wrong-end.md", CodeCrashed, CodeOutcomeUnknown, ""},
		{"it closes its output", "close.md", CodeCrashed, CodeOutcomeUnknown, ""},
		{"it sends more than it may", "unasked.md", CodeCrashed, CodeOutcomeUnknown, "1"},
		{"it panics", "panic.md", CodeCrashed, CodeCrashed, ""},
		{"it hangs", "hang.md", CodeTimeout, CodeTimeout, "half"},
		{"it hangs in a change", "changing.md", CodeTimeout, CodeOutcomeUnknown, "half"},
	}
	for _, tt := range tests {
		for _, how := range []string{"worker", "worker that ignores SIGTERM"} {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				if how != "worker" && testing.Short() {
					t.Skip("starts many processes")
				}
				t.Parallel() // it waits for the limit
				r, p, _ := residentRunner(t, Config{Timeout: faultLimit}, how, how, how)
				r.pool.limits.commit = 0 // nothing is changed, in however much time
				for permit, want := range map[policy.Permit]string{reads(tt.path): tt.read, writes(tt.path): tt.write} {
					pid := pidOf(t, r, p)
					begun := time.Now()
					out, err := r.Run(t.Context(), permit, p)
					took := time.Since(begun)
					if codeOf(err) != want || permit.Call().Name() == "read" && out.Stdout != tt.stdout {
						t.Errorf("%s: %q, %v; want %q", permit.Call().Name(), out.Stdout, err, want)
					}
					assert.That(t, hintOf(err) != "", "no hint with %v", err)
					speaksOfDialogs := strings.Contains(hintOf(err), "dialog")
					assert.That(t, !speaksOfDialogs, "the embedded CLI shows none: %s", hintOf(err))
					assert.That(t, took <= faultLimit*2+promise+busyness, "came back after %v", took)
					within(t, soon, "end of the worker", func() bool { return gone(pid) })
				}
				pidOf(t, r, p)
			})
		}
	}
}

func TestOpenCallsOfALostWorker(t *testing.T) {
	t.Parallel()
	r, p, path := residentRunner(t, Config{}, "worker", "worker")
	pid := pidOf(t, r, p)
	reading := inFlight(t.Context(), t, r, reads("hang.md"), p, path, 1)
	writing := inFlight(t.Context(), t, r, writes("hang.md"), p, path, 2)
	kill(pid)
	for ended, want := range map[<-chan result]string{reading: CodeCrashed, writing: CodeOutcomeUnknown} {
		if got := <-ended; codeOf(got.err) != want || runtime.GOOS != "windows" && !strings.Contains(got.err.Error(), "died by signal 9") {
			t.Errorf("%v; want %q", got.err, want)
		}
	}
	assert.That(t, pidOf(t, r, p) != pid, "a dead worker answers")
}

func TestCancelOfAResidentCall(t *testing.T) {
	t.Parallel()
	t.Run("ended by the worker", func(t *testing.T) {
		r, p, path := residentRunner(t, Config{}, "worker")
		require.NoError(t, os.WriteFile(path+".polite", nil, 0o600))
		pid := pidOf(t, r, p)
		ctx, cancel := context.WithCancel(t.Context())
		ended := inFlight(ctx, t, r, reads("hang.md"), p, path, 1)
		cancel()
		got := <-ended
		assert.Equal(t, codeOf(got.err), CodeCancelled)
		assert.Equal(t, got.Stdout, "half")
		again := pidOf(t, r, p)
		assert.Equal(t, again, pid, "process %d, and %d before", again, pid)
		assert.Equal(t, lines(path+".cancels"), 1, "process %d, and %d before", again, pid)
	})
	t.Run("answered by the worker meanwhile", func(t *testing.T) {
		r, p, path := residentRunner(t, Config{}, "worker")
		require.NoError(t, os.WriteFile(path+".overtakes", nil, 0o600))
		ctx, cancel := context.WithCancel(t.Context())
		ended := inFlight(ctx, t, r, writes("hang.md"), p, path, 1)
		cancel()
		got := <-ended
		assert.Equal(t, codeOf(got.err), CodeCancelled)
		assert.Equal(t, [3]string{got.Path, got.Hash, got.Change}, [3]string{}, "facts of a call that counts as cancelled")
		assert.Equal(t, [2]int{got.Added, got.Planned}, [2]int{}, "facts of a call that counts as cancelled")
	})
	t.Run("not ended by the worker", func(t *testing.T) {
		r, p, path := residentRunner(t, Config{}, "worker")
		pid := pidOf(t, r, p)
		ctx, cancel := context.WithCancel(t.Context())
		ended := inFlight(ctx, t, r, writes("hang.md"), p, path, 1)
		cancel()
		got := <-ended
		assert.Equal(t, codeOf(got.err), CodeCancelled, "%v, gone %v", got.err, gone(pid))
		assert.That(t, gone(pid), "%v, gone %v", got.err, gone(pid))
	})
	t.Run("before it began", func(t *testing.T) {
		r, p, _ := residentRunner(t, Config{}, "worker")
		pidOf(t, r, p)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := r.Run(ctx, reads("a.md"), p)
		assert.That(t, codeOf(err) == CodeCancelled || err == nil, "%v", err)
	})
}

// A call that goes on after its cancel, as on a busy machine, costs nobody the worker. Only one that does not end at all has
// the next calls asked of another one.
func TestACallThatEndsLateKeepsTheWorker(t *testing.T) {
	t.Parallel()
	for _, permit := range []policy.Permit{reads("hang.md"), writes("hang.md")} {
		r, p, path := residentRunner(t, Config{}, "worker")
		require.NoError(t, os.WriteFile(path+".confirms", nil, 0o600))
		pid := pidOf(t, r, p)
		for hanging := range 8 {
			ctx, cancel := context.WithCancel(t.Context())
			ended := inFlight(ctx, t, r, permit, p, path, hanging+1)
			cancel()
			got := <-ended
			assert.Equal(t, codeOf(got.err), CodeCancelled, "%v", got.err)
		}
		assert.Equal(t, pidOf(t, r, p), pid, "the next call is asked of another worker")
	}
}

func TestACallThatNeverEndsHasTheWorkerReplaced(t *testing.T) {
	t.Parallel()
	r, p, path := residentRunner(t, Config{}, "worker", "worker")
	require.NoError(t, os.WriteFile(path+".confirms", nil, 0o600))
	r.pool.limits.late = 0
	pid := pidOf(t, r, p)
	written := inFlight(t.Context(), t, r, writes("finishes.md"), p, path, 1)
	ctx, cancel := context.WithCancel(t.Context())
	hung := inFlight(ctx, t, r, reads("hang.md"), p, path, 2)
	cancel()
	got := <-hung
	assert.Equal(t, codeOf(got.err), CodeCancelled, "%v", got.err)
	within(t, 20*time.Second, "another worker", func() bool { return pidOf(t, r, p) != pid })
	isGone := gone(pid)
	assert.That(t, !isGone, "the worker ends in the middle of a change")
	require.NoError(t, os.WriteFile(path+".finish", nil, 0o600))
	got = <-written
	assert.NoError(t, got.err)
	within(t, 20*time.Second, "the end of the worker", func() bool { return gone(pid) })
}

// A call that does not end, nor is confirmed to be cancelled, takes the worker with it. One that has changed nothing yet is
// asked again of the next worker.
func TestACallThatIsCancelledCostsOthersNothing(t *testing.T) {
	t.Parallel()
	for _, permit := range []policy.Permit{reads("once.md"), writes("once.md")} {
		r, p, path := residentRunner(t, Config{}, "worker", "worker")
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := inFlight(ctx, t, r, reads("hang.md"), p, path, 1)
		other := inFlight(t.Context(), t, r, permit, p, path, 2)
		cancel()
		got := <-other
		require.That(t, got.err == nil, "%q, %v", got.Stdout, got.err)
		assert.Equal(t, got.Stdout, "answered\n")
		got = <-cancelled
		assert.Equal(t, codeOf(got.err), CodeCancelled, "the call that was cancelled: %v", got.err)
	}
}

// A worker that was not given a processor in time to confirm that a read is cancelled is no worse for that: the read ends for
// its caller, and the worker goes on.
func TestABusyMachineCostsNoWorker(t *testing.T) {
	t.Parallel()
	r, p, path := residentRunner(t, Config{}, "worker")
	r.pool.limits.unheard = time.Hour
	pid := pidOf(t, r, p)
	ctx, cancel := context.WithCancel(t.Context())
	hung := inFlight(ctx, t, r, reads("hang.md"), p, path, 1)
	cancel()
	got := <-hung
	assert.Equal(t, codeOf(got.err), CodeCancelled, "%v", got.err)
	assert.Equal(t, pidOf(t, r, p), pid, "the worker of the next call")
}

// A worker that would run and is given no processor is not stopped for its silence, whether the call reads or writes, and
// is stopped for it if it is silent though it was given one, or does not want one.
func TestAStarvedWorkerIsNotStoppedForItsSilence(t *testing.T) {
	t.Parallel()
	for _, permit := range []policy.Permit{reads("hang.md"), writes("hang.md")} {
		r, p, path := residentRunner(t, Config{}, "worker")
		r.pool.limits.unheard = time.Hour
		if permit.Call().OnlyReads() {
			r.pool.limits.unheard = 0
			r.pool.limits.late = time.Hour
		}
		var asked atomic.Int64
		var isGiven atomic.Bool
		r.pool.demandOf = func(int) (process.Demand, bool) {
			asked.Add(1)
			return process.Demand{IsRunnable: !isGiven.Load()}, true
		}
		pid := pidOf(t, r, p)
		ctx, cancel := context.WithCancel(t.Context())
		hung := inFlight(ctx, t, r, permit, p, path, 1)
		cancel()
		within(t, 20*time.Second, "some looks at what it is given", func() bool { return asked.Load() > 4 })
		assert.That(t, !gone(pid), "the worker is stopped")
		isGiven.Store(true)
		<-hung
		within(t, 20*time.Second, "the end of a worker that is silent", func() bool { return gone(pid) })
	}
}

// What a silent worker was given decides whether it is starved.
func TestWhoIsStarved(t *testing.T) {
	t.Parallel()
	began := silence{1, time.Now().Add(-time.Second), process.Demand{Used: time.Minute}}
	for _, tt := range []struct {
		name      string
		now       process.Demand
		isKnown   bool
		isStarved bool
	}{
		{"it waits for a processor", process.Demand{Used: time.Minute + 100*time.Millisecond, IsRunnable: true}, true, true},
		{"it computes", process.Demand{Used: time.Minute + time.Second, IsRunnable: true}, true, false},
		{"it waits for something else", process.Demand{Used: time.Minute}, true, false},
		{"nobody knows", process.Demand{IsRunnable: true}, false, false},
	} {
		p := &pool{demandOf: func(int) (process.Demand, bool) { return tt.now, tt.isKnown }}
		assert.Equal(t, p.isStarved(began), tt.isStarved, "%s", tt.name)
		assert.That(t, !p.isStarved(silence{}), "%s: no process", tt.name)
	}
}

// A worker that is given no processor to start with is not stopped because the time of a call that waits for it is over: the
// next one would have to begin anew.
func TestAStarvedWorkerGoesOnToStart(t *testing.T) {
	t.Parallel()
	for isStarved, workers := range map[bool][]string{
		true:  {"worker that waits to begin"},
		false: {"worker that waits to begin", "worker"},
	} {
		r, p, path := residentRunner(t, Config{Timeout: 2 * time.Second}, workers...) // each of them is started once
		r.pool.demandOf = func(int) (process.Demand, bool) { return process.Demand{IsRunnable: isStarved}, true }
		_, err := r.Run(t.Context(), reads("a.md"), p)
		assert.Equal(t, codeOf(err), CodeTimeout, "starved %v: %v", isStarved, err)
		require.NoError(t, os.WriteFile(path+".begin", nil, 0o600))
		within(t, 20*time.Second, "an answer", func() bool {
			_, err := r.Run(t.Context(), reads("a.md"), p)
			return err == nil
		})
	}
}

func TestAChangeIsNotCutByAnotherCall(t *testing.T) {
	t.Parallel()
	r, p, path := residentRunner(t, Config{}, "worker", "worker")
	r.pool.limits.unheard = 0
	pid := pidOf(t, r, p)
	ctx, cancel := context.WithCancel(t.Context())
	hung := inFlight(ctx, t, r, reads("hang.md"), p, path, 1)
	written := inFlight(t.Context(), t, r, writes("finishes.md"), p, path, 2)
	cancel()
	got := <-hung
	assert.Equal(t, codeOf(got.err), CodeCancelled, "%v", got.err)
	isGone := gone(pid)
	assert.That(t, !isGone, "the worker ends in the middle of a change")
	// The worker is left once the call has ended for its caller, by a timer of its own.
	within(t, 20*time.Second, "another worker", func() bool { return pidOf(t, r, p) != pid })
	require.NoError(t, os.WriteFile(path+".finish", nil, 0o600))
	got = <-written
	require.That(t, got.err == nil, "the change: %q, %v", got.Stdout, got.err)
	assert.Equal(t, got.Stdout, "written\n", "the change")
	within(t, 20*time.Second, "the end of the worker", func() bool { return gone(pid) })
}

func TestWorkersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, do := range []string{"worker of another version", "worker of another folder", "no worker"} {
		r, p, _ := residentRunner(t, Config{}, do)
		out, err := r.Run(t.Context(), writes("a.md"), p)
		assert.Equal(t, codeOf(err), CodeUnsuitable, "%s", do)
		assert.Equal(t, out.ExitCode, process.NoExit, "%s", do)
		assert.That(t, hintOf(err) != "", "%s: %v", do, err)
	}
	r, p, path := residentRunner(t, Config{Timeout: faultLimit}, "silent worker")
	begun := time.Now()
	_, err := r.Run(t.Context(), writes("a.md"), p)
	assert.Equal(t, codeOf(err), CodeTimeout, "%v", err)
	took := time.Since(begun)
	assert.That(t, took <= faultLimit+promise+busyness, "came back after %v", took)
	assert.That(t, len(logged(path)) == 0 || gone(marked(t, path)), "came back after %v", took)
	within(t, soon, "run of the fake", func() bool { return len(logged(path)) > 0 })
}

func TestAProgramThatIsNotThere(t *testing.T) {
	r := New(Config{Self: filepath.Join(t.TempDir(), testenv.ProgramFile("none")), Resident: true})
	defer r.Close()
	p := require.Value(r.Embedded(t.TempDir()))(t)
	out, err := r.Run(t.Context(), reads("a.md"), p)
	assert.Equal(t, codeOf(err), CodeNotFound)
	assert.Equal(t, out.ExitCode, process.NoExit)
}

func TestAMovedVaultHasAnotherWorker(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker", "worker", "worker")
	if _, err := r.Run(t.Context(), writes("moved.md"), p); codeOf(err) != CodeCrashed || !strings.Contains(hintOf(err), "nothing was changed") {
		t.Error(err) // three workers, and none begins
	}
}

func TestInputOfAnyLength(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker")
	for _, size := range []int{2, 4097, protocol.MaxChunk - 1, protocol.MaxChunk, protocol.MaxChunk + 1,
		3*protocol.MaxChunk - 1, 3 * protocol.MaxChunk, 1<<20 - 2} {
		content := strings.Repeat(`\n`, size/2) + strings.Repeat("x", size%2)
		out, err := r.Run(t.Context(), mustPermit("append", params{"path": "echo.md", "content": content}), p)
		require.Equal(t, err, nil, "%d bytes of %d came back, %v", len(out.Stdout), len(content), err)
		assert.Equal(t, out.Stdout, content, "%d bytes of %d came back, %v", len(out.Stdout), len(content), err)
	}
}

func TestAWorkerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r, p, path := residentRunner(t, Config{Timeout: faultLimit}, "worker")
	content := strings.Repeat(`\n`, 300_000)
	begun := time.Now()
	_, err := r.Run(t.Context(), mustPermit("append", params{"path": "deaf.md", "content": content}), p)
	took := time.Since(begun)
	assert.Equal(t, codeOf(err), CodeTimeout, "%v after %v", err, took)
	assert.That(t, took <= faultLimit+promise+busyness, "%v after %v", err, took)
	assert.That(t, gone(marked(t, path)), "the worker lives on")
}

func TestAFloodOfAWorkerIsCut(t *testing.T) {
	t.Parallel()
	const kept = 1 << 20
	r, p, _ := residentRunner(t, Config{MaxKept: kept, Timeout: time.Minute}, "worker")
	out, err := r.Run(t.Context(), reads("flood.md"), p)
	if err != nil || !out.Cut || out.Total != floodSize || len(out.Stdout) != kept || out.CutAt != kept-kept/8 {
		t.Errorf("cut %v at %d, %d of %d bytes, %v", out.Cut, out.CutAt, len(out.Stdout), out.Total, err)
	}
}

func TestAPipeThatAnotherProcessHolds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("our own program starts no other; what it did start would end with the gateway")
	}
	r, p, path := residentRunner(t, Config{Timeout: 20 * time.Second}, "worker")
	pidOf(t, r, p)
	os.Remove(path + ".mark")
	_, err := r.Run(t.Context(), reads("holder.md"), p)
	assert.Equal(t, codeOf(err), CodeCrashed, "%v", err)
	pid := marked(t, path)
	within(t, soon, "end of the group", func() bool { return gone(pid) })
}

func TestWorkersAreReplaced(t *testing.T) {
	t.Parallel()
	t.Run("after a while without calls", func(t *testing.T) {
		r, p, _ := residentRunner(t, Config{}, "worker", "worker")
		r.pool.limits.idle, r.pool.limits.checkHealth = 50*time.Millisecond, 10*time.Millisecond
		pid := pidOf(t, r, p)
		within(t, soon, "end of the idle worker", func() bool { return gone(pid) })
		pidOf(t, r, p)
	})
	t.Run("also when they do not see the end of their input", func(t *testing.T) {
		r, p, _ := residentRunner(t, Config{}, "worker that stays")
		pid := pidOf(t, r, p)
		begun := time.Now()
		r.Close()
		took := time.Since(begun)
		assert.That(t, gone(pid), "gone %v after %v", gone(pid), took)
		assert.That(t, took <= 2*process.StopGrace+busyness, "gone %v after %v", gone(pid), took)
	})
	t.Run("when the right to send texts is taken", func(t *testing.T) {
		r, p, _ := residentRunner(t, Config{Embeddings: Embeddings{Server: "https://api.example/v1 m", KeyFile: "/key", Elsewhere: true}}, "worker", "worker")
		quiet := everything
		quiet.Publish = false
		other := require.Value(quiet.Decide(reads("a.md").Call(), policy.ClearFacts(time.Now())).Permit())(t)
		sends := pidOf(t, r, p)
		out, err := r.Run(t.Context(), other, p)
		stays, bad := strconv.Atoi(strings.TrimSpace(out.Stdout))
		require.Equal(t, err, nil, "%+v, %v: workers %d and %d", out, err, sends, stays)
		require.That(t, bad == nil, "%+v, %v: workers %d and %d", out, err, sends, stays)
		require.That(t, stays != sends, "%+v, %v: workers %d and %d", out, err, sends, stays)
		with := func(permit policy.Permit) bool {
			env := r.withRules(nil, permit, nil)
			return slices.Contains(env, embeddingsVariable+"=https://api.example/v1 m") && slices.Contains(env, embeddingsKeyFile+"=/key")
		}
		assert.That(t, !with(other), "a server elsewhere is for callers who may publish, and no others")
		assert.That(t, with(reads("a.md")), "a server elsewhere is for callers who may publish, and no others")
		r.StopSending()
		within(t, soon, "end of the worker that may send", func() bool { return gone(sends) })
		assert.That(t, !gone(stays), "another worker ended")
	})
	if runtime.GOOS != "linux" {
		return // nothing is known about memory there
	}
	t.Run("with much memory when no one waits", func(t *testing.T) {
		r, p, _ := residentRunner(t, Config{}, "worker")
		r.pool.limits.checkHealth = 10 * time.Millisecond
		r.pool.limits.retireAbove = 90 << 20
		pid := 0
		out, err := r.Run(t.Context(), reads("grow.md"), p)
		require.NoError(t, err)
		require.Equal(t, out.Stdout, "grown\n")
		pid = marked(t, p.path)
		within(t, soon, "end of the large worker", func() bool { return gone(pid) })
	})
	t.Run("with too much memory at once", func(t *testing.T) {
		r, p, path := residentRunner(t, Config{Timeout: 20 * time.Second}, "worker")
		r.pool.limits.checkHealth = 10 * time.Millisecond
		r.pool.limits.stopAbove = 1
		_, err := r.Run(t.Context(), reads("hang.md"), p)
		assert.Equal(t, codeOf(err), CodeCrashed)
		assert.That(t, strings.Contains(err.Error(), "memory") || strings.Contains(err.Error(), "again"), "%v", err)
		assert.That(t, gone(marked(t, path)), "the worker lives on")
	})
}

func TestCloseEndsOpenCalls(t *testing.T) {
	r, p, path := residentRunner(t, Config{}, "worker")
	ended := inFlight(t.Context(), t, r, reads("hang.md"), p, path, 1)
	r.Close()
	got := <-ended
	assert.Equal(t, codeOf(got.err), CodeCrashed)
	assert.That(t, gone(marked(t, path)), "%v", got.err)
}

func TestResidentCallsLeaveNothingBehind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("descriptors are counted on Linux")
	}
	r, p, _ := residentRunner(t, Config{}, "worker")
	pidOf(t, r, p)
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range testenv.Count(200, 1000) {
		pidOf(t, r, p)
	}
	within(t, soon, "end of the goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
	now := descriptors(t)
	assert.That(t, now <= files, "%d descriptors, %d before", now, files)
}
