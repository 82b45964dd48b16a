//go:build unix

package httpguard

import (
	"math"
	"syscall"
)

// fileLimit returns how many files the process may have open. isLimited is false if the limit is
// unknown.
func fileLimit() (files int, isLimited bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)), true
}
