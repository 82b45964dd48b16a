//go:build linux || darwin

package audit

import (
	"errors"
	"syscall"
)

// mapPart maps a part of an open file. It may extend past the end of the file.
func mapPart(fd int, from int64) ([]byte, error) {
	var info syscall.Statfs_t
	if err := syscall.Fstatfs(fd, &info); err != nil {
		return nil, err
	}
	if !hasOneCopy(&info) {
		return nil, errors.ErrUnsupported
	}
	return syscall.Mmap(fd, from, partSize, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmap(part []byte) { _ = syscall.Munmap(part) }
