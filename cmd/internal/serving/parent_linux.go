package serving

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// The fields of /proc/PID/stat after the name, see proc(5).
const (
	statState   = 0
	statParent  = 1
	statStarted = 19 // in clock ticks since boot
)

// lookUpProcess reads what /proc reports about a process.
func lookUpProcess(pid int) (processInfo, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return processInfo{}, errNoProcess
		}
		return processInfo{}, errHidden
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= statStarted {
		return processInfo{}, errHidden
	}
	if fields[statState] == "Z" || fields[statState] == "X" {
		return processInfo{}, errNoProcess
	}
	parent, err := strconv.Atoi(fields[statParent])
	startTicks, err2 := strconv.ParseUint(fields[statStarted], 10, 64)
	if errors.Join(err, err2) != nil {
		return processInfo{}, errHidden
	}
	return processInfo{started: startTicks, parent: parent}, nil
}
