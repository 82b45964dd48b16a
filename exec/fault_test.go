package exec

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// promise is what a stopped call may take beyond its limit. The tests allow for a busy machine on
// top, because they share it.
const promise = 500 * time.Millisecond

// Where processes start slowly there must be time for that.
var (
	faultLimit = time.Second // of a call that is meant to run into it
	busyness   = 2 * time.Second
	soon       = 5 * time.Second // for what has to follow by itself
)

func init() {
	if testenv.ProgramsStartSlowly() {
		faultLimit, busyness, soon = 5*time.Second, 5*time.Second, 20*time.Second
	}
}

func TestFaultsOfTheClient(t *testing.T) {
	t.Parallel()
	version := []string{"version"}
	tests := []struct {
		name         string
		part         part
		code, stdout string
		clientLives  bool // what the client started must live on
	}{
		{"it hangs", part{Argv: version, Out: []byte("half"), Do: "hang"}, CodeTimeout, "half", false},
		{"it ignores the request to stop", part{Argv: version, Do: "ignore"}, CodeTimeout, "", false},
		{"it stops slowly", part{Argv: version, Do: "slow"}, CodeTimeout, "bye", false},
		{"it ends and leaves the pipe to another process", part{Argv: version, Out: []byte(goodVersion), Do: "holder"}, "", goodVersion, true},
		{"it has started the app and hangs", part{Argv: version, Do: "app"}, CodeTimeout, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.part.Do == "slow" && runtime.GOOS == "windows" {
				t.Skip("a process without a console cannot be asked to stop")
			}
			t.Parallel() // it waits for the limit
			r, p, path := appRunner(t, Config{Timeout: faultLimit}, tt.part)
			begun := time.Now()
			out, err := r.Run(t.Context(), mustPermit("version", nil), p)
			took := time.Since(begun)
			assert.Equal(t, codeOf(err), tt.code, "stdout %q", out.Stdout)
			assert.Equal(t, out.Stdout, tt.stdout, "stdout %q", out.Stdout)
			assert.That(t, took <= faultLimit+promise+busyness, "came back after %v", took)
			pid := marked(t, path)
			assert.That(t, gone(pid) != tt.clientLives, "process %d gone %v", pid, gone(pid))
			if tt.clientLives {
				kill(pid)
				assert.That(t, len(out.Notices)+len(tt.code) != 0, "no notice of the held pipe")
			}
		})
	}
}

func TestGroupOfOurOwnProgramIsStopped(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("our own program starts no other; what it did start would end with the gateway")
	}
	for _, do := range []string{"holder", "app"} {
		r, p, path := embeddedRunner(t, Config{Timeout: faultLimit}, script{Parts: []part{{Argv: []string{"--facts", "version"}, Do: do}}})
		_, _ = r.Run(t.Context(), mustPermit("version", nil), p)
		pid := marked(t, path)
		within(t, soon, "end of the group of "+do, func() bool { return gone(pid) })
	}
}

// The embedded program has nothing to do with Obsidian: what is told of its end does not speak of it.
func TestAnEndOfTheEmbeddedProgramIsNotOfObsidian(t *testing.T) {
	died := attempt{Ending: process.Ending{Kind: process.Crashed, How: "a panic", Started: true}, embedded: true}
	for effect, want := range map[tiers.Effect]string{tiers.Reads: "nothing was changed", tiers.Writes: "may have been made"} {
		err := died.endingError(time.Second, effect)
		assert.Equal(t, codeOf(err), CodeCrashed)
		assert.Contains(t, hintOf(err), want)
		assert.NotContains(t, hintOf(err), "Obsidian")
	}
	ending := process.Ending{Held: true, Stdout: &process.Stream{}, Stderr: &process.Stream{}}
	held := attempt{Ending: ending, embedded: true}.outcome()
	assert.Contains(t, strings.Join(held.Notices, ""), "output of the embedded CLI open")
	assert.NotContains(t, strings.Join(held.Notices, ""), "Obsidian")
}

func TestStoppedWritesAreUnknown(t *testing.T) {
	t.Parallel()
	permit := mustPermit("delete", params{"path": "a.md"})
	hang := part{Argv: []string{"delete", "path=a.md"}, Do: "hang"}
	t.Run("by the limit", func(t *testing.T) {
		r, p, _ := appRunner(t, Config{Timeout: faultLimit}, probed, hang)
		_, err := r.Run(t.Context(), permit, p)
		assert.Equal(t, codeOf(err), CodeOutcomeUnknown, "%v", err)
	})
	t.Run("by the caller", func(t *testing.T) {
		r, p, path := appRunner(t, Config{}, probed, hang)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			marked(t, path)
			cancel()
		}()
		_, err := r.Run(ctx, permit, p)
		assert.Equal(t, codeOf(err), CodeOutcomeUnknown, "%v", err)
	})
	t.Run("not when only the probe was started", func(t *testing.T) {
		r, p, _ := appRunner(t, Config{Timeout: faultLimit}, part{Argv: []string{"version"}, Do: "hang"})
		out, err := r.Run(t.Context(), permit, p)
		assert.Equal(t, codeOf(err), CodeTimeout)
		assert.Equal(t, out.ExitCode, process.NoExit)
	})
	t.Run("a crash says that the change may have been made", func(t *testing.T) {
		r, p, _ := appRunner(t, Config{}, probed, part{Argv: hang.Argv, Do: "crash"})
		_, err := r.Run(t.Context(), permit, p)
		assert.Equal(t, codeOf(err), CodeCrashed, "%v %v", err, hintOf(err))
		assert.Contains(t, hintOf(err), "may have been made", "%v %v", err, hintOf(err))
	})
}

func TestCancelInTheQueue(t *testing.T) {
	r, p, path := appRunner(t, Config{Timeout: time.Minute}, part{Argv: []string{"version"}, Do: "hang"})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := r.Run(ctx, mustPermit("version", nil), p)
		first <- err
	}()
	marked(t, path)
	waiting, cancelCall := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancelCall()
	out, err := r.Run(waiting, mustPermit("delete", params{"path": "a.md"}), p)
	assert.Equal(t, codeOf(err), CodeTimeout, "in the queue: status %d", out.ExitCode)
	assert.Equal(t, out.ExitCode, process.NoExit, "in the queue: status %d", out.ExitCode)
	cancel()
	assert.Equal(t, codeOf(<-first), CodeCancelled)
}

func TestFloods(t *testing.T) {
	t.Parallel()
	const kept = 1 << 20
	for _, do := range []string{"flood-out", "flood-err"} {
		t.Run(do, func(t *testing.T) {
			r, p, _ := appRunner(t, Config{MaxKept: kept, Timeout: time.Minute}, probed,
				part{Argv: []string{"help"}, Out: []byte("head"), Do: do, Number: floodSize})
			out := require.Value(r.Run(t.Context(), mustPermit("help", nil), p))(t)
			if do == "flood-out" && (!out.Cut || out.Total != floodSize+4 || len(out.Stdout) != kept ||
				out.CutAt != kept-kept/8 || !strings.HasPrefix(out.Stdout, "head111")) {
				t.Errorf("cut %v at %d, %d of %d bytes", out.Cut, out.CutAt, len(out.Stdout), out.Total)
			}
			if do == "flood-err" && (out.Cut || out.Stdout != "head" || len(out.Stderr) != kept || len(out.Notices) != 1) {
				t.Errorf("cut %v, stdout %q, %d bytes on stderr, %q", out.Cut, out.Stdout, len(out.Stderr), out.Notices)
			}
		})
	}
}

func TestFloodWithoutEnd(t *testing.T) {
	t.Parallel()
	testenv.OnlyLong(t) // reads a gigabyte
	r, p, _ := appRunner(t, Config{Timeout: time.Minute}, part{Argv: []string{"version"}, Do: "flood-out", Number: 4 * process.FloodLimit})
	out, err := r.Run(t.Context(), mustPermit("version", nil), p)
	assert.Equal(t, codeOf(err), CodeOutputLimit, "cut %v", out.Cut)
	assert.That(t, out.Cut, "cut %v, %d bytes, %v", out.Cut, len(out.Stdout), err)
	assert.Equal(t, len(out.Stdout), defaultKept, "cut %v", out.Cut)
}

func TestProgramsThatCannotStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a program with the ending .com is always tried")
	}
	dir := t.TempDir()
	for text, want := range map[string]string{
		"#!/no/such/interpreter\n": CodeNotFound,
		"\x7fELF nothing":          CodeUnsuitable,
	} {
		path := filepath.Join(dir, "obsidian")
		writeProgram(t, path, text)
		r, p := runnerFor(t, Config{}, path)
		out, err := r.Run(t.Context(), mustPermit("version", nil), p)
		assert.Equal(t, codeOf(err), want, "%q: status %d", text, out.ExitCode)
		assert.Equal(t, out.ExitCode, process.NoExit, "%q: status %d", text, out.ExitCode)
	}
}

// quick is a client that starts faster than the test binary does.
func quick(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "obsidian")
	writeProgram(t, path, "#!/bin/sh\n[ $1 = version ] && echo '1.12.7 (installer 1.12.7)' || echo x\n")
	return path
}

func TestCallsLeaveNothingBehind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is a shell script")
	}
	r, p := runnerFor(t, Config{}, quick(t))
	permit := mustPermit("read", params{"path": "a.md"})
	call := func() {
		out, err := r.Run(t.Context(), permit, p)
		require.NoError(t, err)
		require.Equal(t, out.Stdout, "x\n")
	}
	call()
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range testenv.Count(100, 1000) {
		call()
	}
	within(t, soon, "end of the goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
	now := descriptors(t)
	assert.That(t, now <= files, "%d descriptors, %d before", now, files)
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}
