package audit

import "syscall"

// hasOneCopy reports whether a file system is one of the machine alone that keeps a file in
// memory once, for mappings and for all else: APFS or HFS+.
func hasOneCopy(info *syscall.Statfs_t) bool {
	var name [8]byte
	for i := range name {
		name[i] = byte(info.Fstypename[i])
	}
	return string(name[:5]) == "apfs\x00" || string(name[:4]) == "hfs\x00"
}
