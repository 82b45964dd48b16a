//go:build linux || darwin

package doctor

import "golang.org/x/sys/unix"

// Free returns how many bytes this user can write to the file system of a folder.
func Free(folder string) (bytes uint64, known bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return 0, false
	}
	return stat.Bavail * uint64(stat.Bsize), true
}
