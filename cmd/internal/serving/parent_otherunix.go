//go:build unix && !linux && !darwin

package serving

import (
	"errors"
	"syscall"
)

// lookUpProcess knows whether a process is there, and no more.
func lookUpProcess(pid int) (processInfo, error) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return processInfo{}, errNoProcess
	}
	return processInfo{}, errHidden
}
