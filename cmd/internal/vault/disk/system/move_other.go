//go:build unix && !linux && !darwin

package system

import "golang.org/x/sys/unix"

// moveat says that this system cannot rename a file without replacing another.
func moveat(int, string, int, string) error { return unix.ENOTSUP }
