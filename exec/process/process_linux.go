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

// dieWithParent makes the kernel kill the child when the thread that started it ends, which happens when this
// process is killed. SIGTERM would not do: the Obsidian CLI was seen to ignore it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitEnd waits until a child has ended, without reaping it. It reports whether that succeeded.
func awaitEnd(pid int) bool {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err == nil
		}
	}
}

// pipeSize is the capacity in bytes of the pipe for an answer, so that the process can continue to write while
// earlier output is read. A pipe uses memory only for its content.
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

// MemoryOf returns the resident memory of a process in bytes, 0 if it is unknown.
func MemoryOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64) // 0, for unknown, on an error
	return pages * int64(os.Getpagesize())
}

// firstProcess is the process that adopts orphans: the first of a machine or of a container.
const firstProcess = 1

// reapDelay is how long an orphan may wait to be reaped, so that one scan can reap several.
const reapDelay = time.Second

// ReapOrphans reaps orphaned children of the Obsidian CLI until ctx ends. Only the first process of a container
// inherits orphans; in any other process it returns at once. It does not wait for running processes, nor reap those
// that this process started.
func ReapOrphans(ctx context.Context) {
	if os.Getpid() == firstProcess {
		children.reapUntil(ctx, reapDelay)
	}
}

// reapUntil reaps orphans at the start and, after delay, whenever children have ended, until ctx ends.
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

// reap reaps the orphans that have ended. If a process id was reused meanwhile, that does no harm: it does not block.
func (f *childSet) reap() {
	proc, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // a partial list will do
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
		if _, isOwn := f.pids.Load(pid); !isOwn {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// isEndedChildOf reports whether a line of /proc/PID/stat is that of an ended child of parent. The line has the
// process id, the name in parentheses, which may contain anything, the state, and the parent, see proc_pid_stat(5).
func isEndedChildOf(stat []byte, parent int) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 1 && string(fields[0]) == "Z" && string(fields[1]) == strconv.Itoa(parent)
}
