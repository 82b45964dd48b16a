package serving

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of sys/proc.h

// lookUpProcess reads the entry of a process in the kernel's process table.
func lookUpProcess(pid int) (processInfo, error) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return processInfo{}, errNoProcess
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	switch {
	case err != nil:
		return processInfo{}, errHidden
	case info.Proc.P_stat == zombie:
		return processInfo{}, errNoProcess
	}
	began := info.Proc.P_starttime
	return processInfo{started: uint64(began.Sec)*1_000_000 + uint64(began.Usec), parent: int(info.Eproc.Ppid)}, nil
}
