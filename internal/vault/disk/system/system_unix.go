//go:build unix

package system

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// NonBlocking prevents opening a pipe without a writer from waiting.
	NonBlocking = syscall.O_NONBLOCK
	// NoFollow is NonBlocking, and also refuses to open a symbolic link.
	NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
)

func move(source *os.Root, from string, target *os.Root, to string) error {
	return between("move", source, from, target, to, func(old, new int) error {
		return supported(moveat(old, from, new, to))
	})
}

func exchange(source *os.Root, from string, target *os.Root, to string) error {
	return between("exchange", source, from, target, to, func(old, new int) error {
		return supported(exchangeat(old, from, new, to))
	})
}

// supported converts the error of a call with a flag: EINVAL means that the file system does not support it.
func supported(err error) error {
	if err == unix.EINVAL {
		return unix.ENOTSUP
	}
	return err
}

func rename(source *os.Root, from string, target *os.Root, to string) error {
	return between("renameat", source, from, target, to, func(old, new int) error {
		return unix.Renameat(old, from, new, to)
	})
}

func link(source *os.Root, from string, target *os.Root, to string) error {
	return between("linkat", source, from, target, to, func(old, new int) error {
		return unix.Linkat(old, from, new, to, 0)
	})
}

func remove(dir *os.Root, name string) error {
	err := within(dir, func(fd int) error { return unix.Unlinkat(fd, name, 0) })
	if err != nil {
		return &os.PathError{Op: "unlinkat", Path: name, Err: err}
	}
	return nil
}

// between calls a function with the descriptors of two open folders.
func between(op string, source *os.Root, from string, target *os.Root, to string, call func(old, new int) error) error {
	err := within(source, func(old int) error {
		return within(target, func(new int) error { return call(old, new) })
	})
	if err != nil {
		return &os.LinkError{Op: op, Old: from, New: to, Err: err}
	}
	return nil
}

// within calls a function with the descriptor of an open folder, and repeats that after EINTR.
func within(dir *os.Root, call func(fd int) error) error {
	handle, err := OpenFolder(dir)
	if err != nil {
		return err
	}
	defer handle.Close()
	return control(handle, func(fd int) error {
		err := call(fd)
		for err == unix.EINTR {
			err = call(fd)
		}
		return err
	})
}

// control calls a function with the descriptor of an open file.
func control(file *os.File, call func(fd int) error) (err error) {
	raw, connErr := file.SyscallConn()
	if connErr == nil {
		connErr = raw.Control(func(fd uintptr) { err = call(int(fd)) })
	}
	if connErr != nil {
		return connErr
	}
	return err
}

// Lock prevents other processes of this program from writing to dir until unlock is called. It creates no file
// and ends with the process. If the file system has no such locks, or another process holds the lock for too
// long, it does nothing.
func Lock(dir *os.Root) (unlock func()) {
	handle, err := OpenFolder(dir)
	if err != nil {
		return func() {}
	}
	for deadline := time.Now().Add(lockPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if TryLock(handle) != unix.EWOULDBLOCK {
			break
		}
	}
	return func() { handle.Close() }
}

// TryLock acquires the exclusive lock on an open file without waiting. The lock ends when the file is closed,
// or with the process.
func TryLock(file *os.File) error {
	return control(file, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
}

// IsPrivate reports whether dir is a folder (not a link to one) that belongs to this user and that no other
// user can write to.
func IsPrivate(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// IsInUse reports false: on Unix, an open file can be moved, replaced and removed.
func IsInUse(error) bool { return false }

// IsNoName reports whether an error means that no file can have the name. It is always false on Unix, where
// every name is possible.
func IsNoName(error) bool { return false }
