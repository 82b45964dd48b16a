// Package system has the calls of the operating system that change a disk, and that
// lock a folder. They work on open folders and names of one segment, so none
// follows a link that took the place of a folder.
package system

import (
	"io"
	"io/fs"
	"os"
	"runtime"
)

// Calls are the handful of calls that change a disk. Each works on the folders
// that are open and on names of one segment in them, so none follows a link that
// took the place of a folder. It is an interface so that a test can let the n-th
// of them fail.
type Calls interface {
	// Create makes the new file name; it never opens one that is there.
	Create(dir *os.Root, name string, perm fs.FileMode) (Handle, error)
	Mkdir(dir *os.Root, name string) error
	// Move gives the file from in source the name to in target, in one step. It
	// fails with fs.ErrExist if the name is taken, and with errors.ErrUnsupported
	// where the file system has no such call.
	Move(source *os.Root, from string, target *os.Root, to string) error
	// Rename is move that replaces a file of that name.
	Rename(source *os.Root, from string, target *os.Root, to string) error
	// Link gives the file from in source the second name to in target; it fails
	// with fs.ErrExist if that is taken.
	Link(source *os.Root, from string, target *os.Root, to string) error
	// Remove removes a file, never a folder.
	Remove(dir *os.Root, name string) error
	// Sync makes the names in dir durable.
	Sync(dir *os.Root) error
}

// Handle is a file that is being written.
type Handle interface {
	io.WriteCloser
	Chmod(fs.FileMode) error
	Sync() error
}

// Real makes the calls of the operating system.
type Real struct{}

// Create implements [Calls].
func (Real) Create(dir *os.Root, name string, perm fs.FileMode) (Handle, error) {
	return dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

// Mkdir implements [Calls].
func (Real) Mkdir(dir *os.Root, name string) error { return dir.Mkdir(name, 0o755) }

// Sync implements [Calls].
func (Real) Sync(dir *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there; the file system's journal does it
	}
	handle, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer handle.Close()
	return handle.Sync()
}

// Interposed has a function called before every call that changes the disk; an
// error of the function is that of the call, which is not made then.
type Interposed struct {
	Calls
	Ask func() error
}

// Create implements [Calls].
func (a Interposed) Create(dir *os.Root, name string, perm fs.FileMode) (Handle, error) {
	if err := a.Ask(); err != nil {
		return nil, err
	}
	return a.Calls.Create(dir, name, perm)
}

// Mkdir implements [Calls].
func (a Interposed) Mkdir(dir *os.Root, name string) error {
	return a.unless(func() error { return a.Calls.Mkdir(dir, name) })
}

// Move implements [Calls].
func (a Interposed) Move(source *os.Root, from string, target *os.Root, to string) error {
	return a.unless(func() error { return a.Calls.Move(source, from, target, to) })
}

// Rename implements [Calls].
func (a Interposed) Rename(source *os.Root, from string, target *os.Root, to string) error {
	return a.unless(func() error { return a.Calls.Rename(source, from, target, to) })
}

// Link implements [Calls].
func (a Interposed) Link(source *os.Root, from string, target *os.Root, to string) error {
	return a.unless(func() error { return a.Calls.Link(source, from, target, to) })
}

// Remove implements [Calls].
func (a Interposed) Remove(dir *os.Root, name string) error {
	return a.unless(func() error { return a.Calls.Remove(dir, name) })
}

// Sync implements [Calls].
func (a Interposed) Sync(dir *os.Root) error {
	return a.unless(func() error { return a.Calls.Sync(dir) })
}

func (a Interposed) unless(call func() error) error {
	if err := a.Ask(); err != nil {
		return err
	}
	return call()
}
