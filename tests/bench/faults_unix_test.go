//go:build unix

package bench

import (
	"os"
	"syscall"
)

// pageFaults returns how many pages a process that has ended touched for the first time,
// without those that were read from a disk.
func pageFaults(ended *os.ProcessState) int {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int(usage.Minflt)
}
