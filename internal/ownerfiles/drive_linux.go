package ownerfiles

import "golang.org/x/sys/unix"

// isWindowsDrive reports whether a path is on a drive of Windows as WSL mounts it (9p).
func isWindowsDrive(path string) bool {
	var system unix.Statfs_t
	return unix.Statfs(path, &system) == nil && system.Type == unix.V9FS_MAGIC
}
