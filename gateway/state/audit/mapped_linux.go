package audit

import "syscall"

// hasOneCopy reports whether a file system is one of the machine alone that keeps a file in
// memory once, for mappings and for all else. ZFS keeps two copies and is left out.
func hasOneCopy(info *syscall.Statfs_t) bool {
	switch uint32(info.Type) {
	case 0xef53, // ext2, ext3, ext4
		0x58465342, // XFS
		0x9123683e, // Btrfs
		0xf2f52010, // F2FS
		0x01021994, // tmpfs
		0x794c7630: // overlayfs, which maps the file of the file system below
		return true
	}
	return false
}
