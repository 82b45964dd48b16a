//go:build unix

package ownerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// noFollow has flags for opening: do not follow links, and do not wait for pipes.
	noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

	// CanRenameOpen reports whether a file can be renamed while a process has it open.
	CanRenameOpen = true
)

// effectiveUser returns the effective user of this process, which does not change while it runs.
var effectiveUser = sync.OnceValue(os.Geteuid)

// checkAccess returns an *[Unsafe] unless the file or folder belongs to this user and
// has no permissions for the group and others.
func checkAccess(name string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(stat.Uid) != effectiveUser():
		return &Unsafe{Path: name, Problem: OtherOwner}
	case info.Mode().Perm()&0o077 != 0:
		return &Unsafe{Path: name, Problem: Accessible, Mode: info.Mode().Perm()}
	}
	return nil
}

// hasSecondLink reports whether a file does not have exactly one hard link.
func hasSecondLink(info fs.FileInfo, _ *os.File) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Nlink != 1
}

// Mkdir implements [System].
func (Disk) Mkdir(name string) error { return os.Mkdir(name, 0o700) }

// Rename implements [System].
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Unwritable returns an error if no file can be created in a folder, which need not exist yet. It
// creates nothing.
func Unwritable(dir string) error {
	for {
		err := unix.Access(dir, unix.W_OK|unix.X_OK)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return err
		}
		dir = filepath.Dir(dir)
	}
}

// lockFile tries to acquire the exclusive lock of an open file.
func lockFile(file *os.File) (locked bool, err error) {
	err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(file *os.File) error { return flock(file, syscall.LOCK_UN) }

// flock calls flock(2). It does not use Fd, which would set the file to blocking mode.
func flock(file *os.File, operation int) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		for {
			if err = syscall.Flock(int(fd), operation); err != syscall.EINTR {
				return
			}
		}
	})
	return errors.Join(failed, err)
}

// Remedy returns the command with which the user can fix the problem, "" if there is none: it removes the
// rights of other users.
func (e *Unsafe) Remedy() string {
	if e.Problem != Accessible {
		return ""
	}
	mode := "600"
	if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
		mode = "700"
	}
	return fmt.Sprintf("chmod %s %q", mode, e.Path)
}
