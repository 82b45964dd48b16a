package watch

import (
	"slices"

	"golang.org/x/sys/unix"
)

// local lists the file systems all of whose changes go through this kernel, which therefore reports them
// (inotify(7)). Network shares, folders of a virtual machine's host and file systems in user space can change
// without that.
var local = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	unix.F2FS_SUPER_MAGIC, unix.RAMFS_MAGIC, zfsMagic, bcachefsMagic,
}

const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
)

// reportsChanges reports whether a folder is on a file system that can be watched.
func reportsChanges(folder string) bool {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return false
	}
	return slices.Contains(local, int64(stat.Type)) // the type of Type depends on the architecture
}
