package process

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// firstProcess is the number of the process that orphans are given to: the first
// one of a machine or of a container.
const firstProcess = 1

// reapDelay is how long an orphan may wait to be reaped: many ends in a row are
// one look at the processes.
const reapDelay = time.Second

// ReapOrphans reaps processes that the client has started and left behind, until
// ctx ends. Only the first process of a container gets such ones; in another it
// returns at once. It waits for no process that is alive, and for none that was
// started here.
func ReapOrphans(ctx context.Context) {
	if os.Getpid() == firstProcess {
		children.reapUntil(ctx, reapDelay)
	}
}

func (f *childSet) reapUntil(ctx context.Context, delay time.Duration) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		f.reap()
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
	}
}

// reap reaps the orphans that have ended. A number that was given to another
// process meanwhile does no harm: nobody is waited for who lives.
func (f *childSet) reap() {
	ended := endedChildren()
	f.startMutex.Lock()
	defer f.startMutex.Unlock()
	for _, pid := range ended {
		if _, embedded := f.pids.Load(pid); !embedded {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// endedChildren lists the children of this process that have ended and were not
// reaped.
func endedChildren() (pids []int) {
	all, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer all.Close()
	names, _ := all.Readdirnames(-1) // what was read of them will do
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + name + "/stat")
		if err == nil && isEndedChildOf(text, os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isEndedChildOf reads a line of proc_pid_stat(5): the number, the name in
// parentheses, which may hold anything, the state and the parent.
func isEndedChildOf(stat []byte, parent int) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 1 && string(fields[0]) == "Z" && string(fields[1]) == strconv.Itoa(parent)
}
