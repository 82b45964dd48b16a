//go:build unix && !linux && !darwin

package serving

import (
	"errors"
	"syscall"
)

// lookUpProcess only reports whether a process exists.
func lookUpProcess(pid int) (processInfo, error) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return processInfo{}, errNoProcess
	}
	return processInfo{}, errHidden
}
