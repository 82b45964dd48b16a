package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill the child when the thread that starts it
// ends, which is when this process is killed. SIGTERM would not do: the client
// was seen to ignore it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitEnd waits until a child has ended, and leaves its exit status to whoever waits for
// the child. It reports whether it has.
func awaitEnd(pid int) bool {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err == nil
		}
	}
}
