//go:build unix

package system

import (
	"os"

	"golang.org/x/sys/unix"
)

// Move implements [Calls].
func (Real) Move(source *os.Root, from string, target *os.Root, to string) error {
	return between("move", source, from, target, to, func(old, new int) error {
		err := moveat(old, from, new, to)
		if err == unix.EINVAL {
			return unix.ENOTSUP // how a file system tells that it does not know the flag
		}
		return err
	})
}

// Rename implements [Calls].
func (Real) Rename(source *os.Root, from string, target *os.Root, to string) error {
	return between("renameat", source, from, target, to, func(old, new int) error {
		return unix.Renameat(old, from, new, to)
	})
}

// Link implements [Calls].
func (Real) Link(source *os.Root, from string, target *os.Root, to string) error {
	return between("linkat", source, from, target, to, func(old, new int) error {
		return unix.Linkat(old, from, new, to, 0)
	})
}

// Remove implements [Calls].
func (Real) Remove(dir *os.Root, name string) error {
	err := within(dir, func(fd int) error { return unix.Unlinkat(fd, name, 0) })
	if err != nil {
		return &os.PathError{Op: "unlinkat", Path: name, Err: err}
	}
	return nil
}

// between makes a call with the descriptors of two open folders.
func between(op string, source *os.Root, from string, target *os.Root, to string, call func(old, new int) error) error {
	err := within(source, func(old int) error {
		return within(target, func(new int) error { return call(old, new) })
	})
	if err != nil {
		return &os.LinkError{Op: op, Old: from, New: to, Err: err}
	}
	return nil
}

// within makes a call with the descriptor of an open folder, and makes it again
// when a signal came in between.
func within(dir *os.Root, call func(fd int) error) error {
	handle, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer handle.Close()
	raw, err := handle.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) {
		for result = call(int(fd)); result == unix.EINTR; {
			result = call(int(fd))
		}
	})
	if err != nil {
		return err
	}
	return result
}
