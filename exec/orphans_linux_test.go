package exec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// leaving runs a client that leaves an orphan behind, so often. It fails where a
// call does not get the exit status of its own process.
func leaving(t *testing.T, times int) (orphans func() []string) {
	t.Helper()
	argv := []string{"leave"}
	path := fake(t, "obsidian", script{Any: true, Parts: []part{{Argv: argv, Exit: 7, Do: "orphan"}}})
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			for range times / 2 {
				e := child{path: path, name: path, args: argv, keep: minKept}.run(t.Context())
				if err := errors.Join(e.broken, e.stopped); e.exit != 7 || err != nil || e.crash != "" {
					t.Errorf("exit %d, %v, %q", e.exit, err, e.crash)
				}
			}
		})
	}
	calls.Wait()
	return func() (zombies []string) {
		text, err := os.ReadFile(path + ".orphans")
		if err != nil || strings.Count(string(text), "\n") != times {
			t.Fatalf("%d orphans: %q, %v", times, text, err)
		}
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
	within(t, 20*time.Second, "orphan that nobody has reaped", func() bool { return len(zombies()) == 4 })

	ctx, cancel := context.WithCancel(t.Context())
	var reaper sync.WaitGroup
	reaper.Go(func() { children.reapUntil(ctx, 0) })
	defer reaper.Wait()
	defer cancel()
	within(t, 20*time.Second, "end of the orphans that were there", func() bool { return len(zombies()) == 0 })
	zombies = leaving(t, 200) // while the reaper looks as often as it can
	within(t, 20*time.Second, "end of all orphans", func() bool { return len(zombies()) == 0 })
}

// A child that has ended, and that package os/exec has not waited for, is left
// alone: this is the moment in which it could be stolen.
func TestAnEndedChildOfOursIsLeftToItsWaiter(t *testing.T) {
	path := fake(t, "obsidian", script{Parts: []part{{Argv: []string{"end"}, Exit: 7}}})
	cmd, err := child{path: path, name: path, args: []string{"end"}}.command(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := children.start(cmd.Start, cmd); err != nil {
		t.Fatal(err)
	}
	within(t, 20*time.Second, "end of the child", func() bool { return gone(cmd.Process.Pid) })
	children.reap()
	_ = children.wait(cmd) // an exit status is an error of it
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the child was reaped by somebody else: %v", cmd.ProcessState)
	}
}

func TestOnlyTheFirstProcessReaps(t *testing.T) {
	if os.Getpid() == firstProcess {
		t.Skip("this is the first process")
	}
	ReapOrphans(context.Background()) // comes back
}
