//go:build unix

package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"vaultwicket/exec/way"
)

// NoFollow opens no link that took the place of the file, and does not wait for
// the writer of a pipe that did.
const NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// checkOwner refuses a file that somebody else owns or can write.
func checkOwner(name string, _ *os.File, info fs.FileInfo) error {
	switch mode := info.Mode().Perm(); {
	case !ours(info):
		return &UnsafeError{"belongs to another user", fmt.Sprintf("copy it, or as root: chown %d %q", os.Geteuid(), name)}
	case mode&0o002 != 0:
		return &UnsafeError{fmt.Sprintf("can be written by others (mode %04o)", mode), fmt.Sprintf("chmod 600 %q", name)}
	case mode&0o020 != 0:
		return &UnsafeError{fmt.Sprintf("can be written by its group (mode %04o)", mode), fmt.Sprintf("chmod 600 %q", name)}
	}
	return nil
}

// ours reports whether a file belongs to us or to root.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

// CheckFolder refuses a folder that others can reach in another way: through a link
// of theirs, or because they can rename what is on the way to it.
func CheckFolder(folder string) error {
	if err := safeFolder("/"); err != nil {
		return err
	}
	err := way.Walk(folder, func(_, entry string, info fs.FileInfo) error {
		if info.Mode()&fs.ModeSymlink == 0 {
			return checkMode(entry, info)
		}
		if !ours(info) {
			return &UnsafeError{fmt.Sprintf("is reached through the link %q, which belongs to another user", entry), "use a path without it"}
		}
		return nil
	})
	if errors.Is(err, syscall.ELOOP) {
		return &UnsafeError{"is reached through too many links", "use a path without them"}
	}
	return err
}

func safeFolder(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	return checkMode(name, info)
}

// checkMode refuses a folder in which anybody can replace what is not theirs.
func checkMode(name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	return &UnsafeError{fmt.Sprintf("is in the folder %q, which others can write (mode %04o)", name, info.Mode().Perm()), fmt.Sprintf("chmod o-w %q", name)}
}
