package process

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// adopting gives this process the orphans of its children, as the first process of
// a container gets them.
func adopting(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		children.reap()
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	})
}

// leaving runs a program that leaves an orphan behind, so often. The orphan outlives its
// shell, which would sometimes reap it. It fails where a
// call does not get the exit status of its own process.
func leaving(t *testing.T, times int) (orphans func() []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "orphans")
	args := []string{"-c", "/bin/sleep 0.05 >/dev/null 2>&1 & echo $! >>\"$0\"; exit 7", file}
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			for range times / 2 {
				e := Child{Path: "/bin/sh", Name: "sh", Args: args, Keep: 1 << 10}.Run(t.Context())
				assert.Equal(t, e.Kind, Exited, "kind %d, exit %d, %v, %q", e.Kind, e.Exit, e.Cause, e.How)
				assert.Equal(t, e.Exit, 7, "kind %d, exit %d, %v, %q", e.Kind, e.Exit, e.Cause, e.How)
			}
		})
	}
	calls.Wait()
	return func() (zombies []string) {
		text, err := os.ReadFile(file)
		require.Equal(t, err, nil, "%d orphans: %q", times, text)
		require.Equal(t, strings.Count(string(text), "\n"), times, "%d orphans: %q", times, text)
		for pid := range strings.FieldsSeq(string(text)) {
			if stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat")); err == nil && isEndedChildOf(stat, os.Getpid()) {
				zombies = append(zombies, pid)
			}
		}
		return zombies
	}
}

func TestOrphansAreReapedAndNoChildOfOurs(t *testing.T) {
	adopting(t)
	zombies := leaving(t, 4)
	require.Within(t, 20*time.Second, "orphan that nobody has reaped", func() bool { return len(zombies()) == 4 })

	ctx, cancel := context.WithCancel(t.Context())
	var reaper sync.WaitGroup
	reaper.Go(func() { children.reapUntil(ctx, 0) })
	defer reaper.Wait()
	defer cancel()
	require.Within(t, 20*time.Second, "end of the orphans that were there", func() bool { return len(zombies()) == 0 })
	zombies = leaving(t, 200) // while the reaper looks as often as it can
	require.Within(t, 20*time.Second, "end of all orphans", func() bool { return len(zombies()) == 0 })
}

// A child that has ended, and that package os/exec has not waited for, is left
// alone: this is the moment in which it could be stolen.
func TestAnEndedChildOfOursIsLeftToItsWaiter(t *testing.T) {
	cmd := require.Value(Child{Path: "/bin/sh", Name: "sh", Args: []string{"-c", "exit 7"}}.command(t.Context()))(t)
	require.NoError(t, children.start(cmd.Start, cmd))
	require.Within(t, 20*time.Second, "end of the child", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "stat"))
		return err == nil && isEndedChildOf(stat, os.Getpid())
	})
	children.reap()
	_ = children.wait(cmd) // an exit status is an error of it
	require.That(t, cmd.ProcessState != nil, "the child was reaped by another process: %v", cmd.ProcessState)
	assert.Equal(t, cmd.ProcessState.ExitCode(), 7, "the child was reaped by another process")
}

func TestOnlyTheFirstProcessReaps(t *testing.T) {
	if os.Getpid() == firstProcess {
		t.Skip("this is the first process")
	}
	ReapOrphans(context.Background()) // returns
}

// Who waits for the end of a child is told of it while the child is still there: its exit
// status is not lost, and its output not yet read to the end.
func TestTheEndIsToldBeforeTheExitStatusIsTaken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	told := 0
	c := Child{Path: "/bin/sh", Name: "sh", Args: []string{"-c", `echo $$ >"$0"; echo out; exit 7`, file}, Keep: 1 << 10, Ended: func() {
		told++
		pid, err := os.ReadFile(file)
		assert.That(t, err == nil, "%v", err)
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
		require.Equal(t, err, nil, "%q", stat)
		assert.That(t, isEndedChildOf(stat, os.Getpid()), "%q", stat)
	}}
	e := c.Run(t.Context())
	out, _ := e.Stdout.Text()
	assert.Equal(t, told, 1, "told %d times, kind %d, exit %d", told, e.Kind, e.Exit)
	assert.Equal(t, e.Kind, Exited, "told %d times, kind %d, exit %d", told, e.Kind, e.Exit)
	assert.Equal(t, e.Exit, 7, "told %d times, kind %d, exit %d", told, e.Kind, e.Exit)
	assert.Equal(t, out, "out\n", "told %d times, kind %d, exit %d", told, e.Kind, e.Exit)
	c.Path = "/nowhere"
	assert.Equal(t, c.Run(t.Context()).Kind, NotStarted, "the end of a program that was never started was told")
	assert.Equal(t, told, 1, "the end of a program that was never started was told")
}

func TestTheLifelineIsOpenWhileThisProcessLives(t *testing.T) {
	line := require.Value(lifeline())(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = line.reader.Read(make([]byte, 1))
	}()
	child := Child{Path: "/bin/sh", Name: "sh",
		Args: []string{"-c", "test \"$VAULTWICKET_LIFELINE\" = 3 && test -e /dev/fd/3"}, Env: []string{"PATH=/bin"},
		Embedded: true}
	e := child.Run(t.Context())
	assert.Equal(t, e.Kind, Exited, "a child has no lifeline: kind %d, exit %d", e.Kind, e.Exit)
	assert.Equal(t, e.Exit, 0, "a child has no lifeline: kind %d, exit %d", e.Kind, e.Exit)
	select {
	case <-done:
		t.Fatal("the lifeline ended while the gateway lives")
	default:
	}
	// A byte ends the reader above; no one else reads at that time.
	_, _ = line.writer.Write([]byte{0})
	<-done
}
