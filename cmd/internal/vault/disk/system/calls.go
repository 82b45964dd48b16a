// Package system has the system calls that the standard library lacks or spreads over
// paths: the calls that change a disk, between open folders and names of one segment, so
// that none follows a link that replaced a folder (TOCTOU); locks; the stamps by which two
// states of a file are told apart; files whose content is in a cloud; and the confinement
// of the process to its folders. It knows nothing of vaults.
package system

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// Calls are the calls that change a disk. Each works on open folders and on names of one
// segment in them, so none follows a link that replaced a folder. It is an interface so
// that a test can let the n-th call fail.
type Calls interface {
	// Create makes the new file name; it never opens an existing one.
	Create(dir *os.Root, name string, perm fs.FileMode) (Handle, error)
	Mkdir(dir *os.Root, name string) error
	// Move atomically renames the file from in source to the name to in target. It
	// fails with fs.ErrExist if the name is taken, and with errors.ErrUnsupported
	// where the file system has no such call.
	Move(source *os.Root, from string, target *os.Root, to string) error
	// Rename is Move that replaces a file of that name.
	Rename(source *os.Root, from string, target *os.Root, to string) error
	// Link makes the hard link to in target for the file from in source; it fails
	// with fs.ErrExist if the name is taken.
	Link(source *os.Root, from string, target *os.Root, to string) error
	// Remove removes a file, never a folder.
	Remove(dir *os.Root, name string) error
	// Rmdir removes an empty folder.
	Rmdir(dir *os.Root, name string) error
	// Sync makes the names in dir durable (fsync).
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

// Rmdir implements [Calls].
func (Real) Rmdir(dir *os.Root, name string) error {
	seen, err := dir.Lstat(name)
	if err == nil && !seen.IsDir() {
		err = &os.PathError{Op: "rmdir", Path: name, Err: errors.ErrUnsupported}
	}
	if err != nil {
		return err
	}
	return dir.Remove(name)
}

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

// Interposed calls Ask before every call that changes the disk. If Ask returns an error,
// that is the error of the call, which is not made.
type Interposed struct {
	Calls
	Ask func() error
}

// Create implements [Calls].
func (a Interposed) Create(dir *os.Root, name string, perm fs.FileMode) (file Handle, err error) {
	err = a.unless(func() (err error) {
		file, err = a.Calls.Create(dir, name, perm)
		return err
	})
	return file, err
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

// Rmdir implements [Calls].
func (a Interposed) Rmdir(dir *os.Root, name string) error {
	return a.unless(func() error { return a.Calls.Rmdir(dir, name) })
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

// ErrInUse says that another program has a file open in a way that prevents opening,
// moving, replacing or removing it. Only Windows has that. Nothing was changed.
var ErrInUse = errors.New("is open in another program")

// A virus scanner, a sync client or the app has a file open for moments. The waits add up
// to less than a second; after that the call fails.
const (
	firstWait = 10 * time.Millisecond
	lastWait  = 320 * time.Millisecond
)

// Retrying retries, with exponential backoff, calls that fail while another program has
// the file open.
type Retrying struct {
	Calls
	InUse func(error) bool
	Sleep func(time.Duration)
}

// RetryReads retries calls that only read.
var RetryReads = Retrying{InUse: IsInUse, Sleep: time.Sleep}

// Move implements [Calls].
func (p Retrying) Move(source *os.Root, from string, target *os.Root, to string) error {
	return p.Repeat(from, func() error { return p.Calls.Move(source, from, target, to) })
}

// Rename implements [Calls].
func (p Retrying) Rename(source *os.Root, from string, target *os.Root, to string) error {
	return p.Repeat(to, func() error { return p.Calls.Rename(source, from, target, to) })
}

// Remove implements [Calls].
func (p Retrying) Remove(dir *os.Root, name string) error {
	return p.Repeat(name, func() error { return p.Calls.Remove(dir, name) })
}

// Repeat makes a call that concerns the file name, and retries it for up to a second while
// another program has the file open. Then the error wraps [ErrInUse].
func (p Retrying) Repeat(name string, call func() error) error {
	for wait := firstWait; ; wait *= 2 {
		err := call()
		if !p.InUse(err) {
			return err
		}
		if wait > lastWait {
			return fmt.Errorf("%q %w", name, ErrInUse)
		}
		p.Sleep(wait)
	}
}
