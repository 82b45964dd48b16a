package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill the child when the thread that starts it ends, as it does
// when this process is killed. The client was seen to ignore SIGTERM.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitEnd waits until a child has ended, without reaping it. It reports whether it has.
func awaitEnd(pid int) bool {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err == nil
		}
	}
}

// pipeSize is the capacity of the pipe of an answer: the process prints on while earlier pieces
// are read. A pipe uses memory only for its content.
const pipeSize = 256 << 10

// widen enlarges a pipe if the system allows it.
func widen(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}

// MemoryOf returns the resident memory of a process in bytes, 0 when it is unknown.
func MemoryOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64) // 0 is unknown
	return pages * int64(os.Getpagesize())
}

// firstProcess is the process that adopts orphans: the first of a machine or of a container.
const firstProcess = 1

// reapDelay is how long an orphan may wait to be reaped, so that many ends are one scan.
const reapDelay = time.Second

// ReapOrphans reaps orphaned children of the client until ctx ends. Only the first process of a container gets
// any; in another it returns at once. It waits for no running process, and for none that was started here.
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

// reap reaps the orphans that have ended. A reused process id is harmless, because it does not wait.
func (f *childSet) reap() {
	all, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer all.Close()
	names, _ := all.Readdirnames(-1) // a partial list will do
	var ended []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + name + "/stat")
		if err == nil && isEndedChildOf(text, os.Getpid()) {
			ended = append(ended, pid)
		}
	}
	f.startMutex.Lock()
	defer f.startMutex.Unlock()
	for _, pid := range ended {
		if _, embedded := f.pids.Load(pid); !embedded {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// isEndedChildOf reads a line of proc_pid_stat(5): the number, the name in parentheses, which may
// contain anything, the state and the parent.
func isEndedChildOf(stat []byte, parent int) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 1 && string(fields[0]) == "Z" && string(fields[1]) == strconv.Itoa(parent)
}
