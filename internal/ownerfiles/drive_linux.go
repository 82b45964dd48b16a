package ownerfiles

import "golang.org/x/sys/unix"

// isWindowsDrive reports whether a path is on a Windows drive that WSL has mounted (9p).
func isWindowsDrive(path string) bool {
	var system unix.Statfs_t
	return unix.Statfs(path, &system) == nil && system.Type == unix.V9FS_MAGIC
}
