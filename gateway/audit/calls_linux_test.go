package audit

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// mostCalls is how many system calls the log makes for a read: it opens and takes the lock,
// looks at the file and the head, writes the lines and the head, and gives the lock back.
const mostCalls = 10

const tracedReads = 100

// ofTheRuntime are system calls that no code of the log makes.
var ofTheRuntime = []int{
	syscall.SYS_FUTEX, syscall.SYS_SCHED_YIELD, syscall.SYS_NANOSLEEP, syscall.SYS_CLOCK_GETTIME, syscall.SYS_MADVISE, syscall.SYS_MMAP,
	syscall.SYS_TGKILL, syscall.SYS_GETPID, syscall.SYS_RT_SIGRETURN, syscall.SYS_RT_SIGPROCMASK,
}

func init() { parts["reads"] = writeReads }

// writeReads writes the lines of reads on one thread, between two system calls that nothing
// else makes.
func writeReads(l *Log) {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	for n := range 4 { // it finds the end
		_ = l.Write(sample(n), Buffered)
	}
	fmt.Println(syscall.Gettid())
	_, _ = syscall.Read(0, make([]byte, 1))
	syscall.Getppid()
	for n := range tracedReads {
		decision, end := sample(n), sample(n)
		decision.Kind = "decision"
		if err := l.WriteAll(Buffered, decision, end); err != nil {
			fmt.Println(err)
		}
	}
	syscall.Getppid()
}

// TestAReadTakesTenSystemCalls counts all of them, in a process that this one traces.
func TestAReadTakesTenSystemCalls(t *testing.T) {
	l := newLog(t, Limits{})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childOf+"="+l.folder.dir, "PART=reads")
	in := require.Value(cmd.StdinPipe())(t)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	thread := 0
	if lines.Scan() {
		_, err = fmt.Sscan(lines.Text(), &thread)
	}
	require.NoError(t, err)
	runtime.LockOSThread() // only the thread that traces another may ask of it
	defer runtime.UnlockOSThread()
	counts, err := trace(cmd.Process.Pid, thread, func() { _, _ = in.Write([]byte{'\n'}) })
	if errors.Is(err, syscall.EPERM) || errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("a process cannot be traced here: %v", err)
	}
	require.NoError(t, err)
	for lines.Scan() {
		t.Error(lines.Text())
	}
	r := verified(t, l)
	require.That(t, r.Broken == nil, "%+v", r)
	assert.Equal(t, r.Lines, 4+2*tracedReads)
	all := 0
	for _, number := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("system call %d: %d times", number, counts[number])
		all += counts[number]
	}
	if all < tracedReads || all > mostCalls*tracedReads {
		t.Errorf("%.2f system calls for a read, want at most %d", float64(all)/tracedReads, mostCalls)
	}
}

// trace counts the system calls of a thread of another process, by their numbers: those
// between two calls of getppid. It has the thread begin by calling start.
func trace(process, thread int, start func()) (counts map[int]int, err error) {
	if err := syscall.PtraceAttach(thread); err != nil {
		return nil, err
	}
	if err := stopped(thread); err != nil {
		return nil, err
	}
	const systemCallsAreMarked = 1 // PTRACE_O_TRACESYSGOOD
	if err := syscall.PtraceSetOptions(thread, systemCallsAreMarked); err != nil {
		return nil, err
	}
	start()
	for pass, isEntry := 0, false; ; {
		if err := syscall.PtraceSyscall(thread, pass); err != nil {
			return nil, err
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(thread, &status, syscall.WALL, nil); err != nil {
			return nil, err
		}
		if !status.Stopped() {
			return nil, fmt.Errorf("thread %d ended: %#x", thread, status)
		}
		if pass = 0; status.StopSignal() != syscall.SIGTRAP|0x80 {
			pass = int(status.StopSignal()) // it is not about a call, and the thread is to get it
			continue
		}
		number, err := systemCall(process, thread)
		if err != nil {
			return nil, err
		}
		if isEntry = number != inNoCall && !isEntry; !isEntry {
			continue
		}
		switch {
		case number == syscall.SYS_GETPPID && counts == nil:
			counts = map[int]int{}
		case number == syscall.SYS_GETPPID:
			return counts, syscall.PtraceDetach(thread)
		case counts != nil && !slices.Contains(ofTheRuntime, number):
			counts[number]++
		}
	}
}

// stopped waits until a thread has stopped for the one that traces it.
func stopped(thread int) error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(thread, &status, syscall.WALL, nil); err != nil {
		return err
	}
	if !status.Stopped() {
		return fmt.Errorf("thread %d ended: %#x", thread, status)
	}
	return nil
}

const inNoCall = -1

// systemCall returns the number of the system call that a stopped thread is in.
func systemCall(process, thread int) (number int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", process, thread))
	if err != nil {
		return 0, err
	}
	word, _, _ := strings.Cut(string(text), " ")
	_, err = fmt.Sscan(word, &number)
	return number, err
}
