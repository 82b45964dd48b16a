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
// segment in them, so none follows a link that replaced a folder. The functions are for tests,
// which let the n-th call fail; without them the calls are those of the operating system.
type Calls struct {
	Patience
	// Around makes a call: its method, and the names that it is about.
	Around func(call func() error, method string, names ...string) error
	Opened func(Handle) Handle // what Create returns for the file that it made
}

// Handle is a file that is being written.
type Handle interface {
	io.WriteCloser
	Chmod(fs.FileMode) error
	Sync() error
}

func (c Calls) around(call func() error, method string, names ...string) error {
	if c.Around == nil {
		return call()
	}
	return c.Around(call, method, names...)
}

// After returns calls that are made after ask; an error of ask is that of the call, which is not
// made then.
func (c Calls) After(ask func() error) Calls {
	within := c
	c.Around = func(call func() error, method string, names ...string) error {
		if err := ask(); err != nil {
			return err
		}
		return within.around(call, method, names...)
	}
	return c
}

// Create makes the new file name; it never opens an existing one.
func (c Calls) Create(dir *os.Root, name string, perm fs.FileMode) (file Handle, err error) {
	err = c.around(func() (err error) {
		file, err = dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		return err
	}, "Create", name)
	if err == nil && c.Opened != nil {
		file = c.Opened(file)
	}
	return file, err
}

// Mkdir makes a folder.
func (c Calls) Mkdir(dir *os.Root, name string) error {
	return c.around(func() error { return dir.Mkdir(name, 0o755) }, "Mkdir", name)
}

// Move atomically renames the file from in source to the name to in target. It fails with
// fs.ErrExist if the name is taken, and with errors.ErrUnsupported where the file system has
// no such call.
func (c Calls) Move(source *os.Root, from string, target *os.Root, to string) error {
	return c.Repeat(from, func() error {
		return c.around(func() error { return move(source, from, target, to) }, "Move", from, to)
	})
}

// Rename is Move that replaces a file of that name.
func (c Calls) Rename(source *os.Root, from string, target *os.Root, to string) error {
	return c.Repeat(to, func() error {
		return c.around(func() error { return rename(source, from, target, to) }, "Rename", from, to)
	})
}

// Link makes the hard link to in target for the file from in source; it fails with
// fs.ErrExist if the name is taken.
func (c Calls) Link(source *os.Root, from string, target *os.Root, to string) error {
	return c.around(func() error { return link(source, from, target, to) }, "Link", from, to)
}

// Remove removes a file, never a folder.
func (c Calls) Remove(dir *os.Root, name string) error {
	return c.Repeat(name, func() error {
		return c.around(func() error { return remove(dir, name) }, "Remove", name)
	})
}

// Rmdir removes an empty folder.
func (c Calls) Rmdir(dir *os.Root, name string) error {
	return c.around(func() error {
		seen, err := dir.Lstat(name)
		if err == nil && !seen.IsDir() {
			err = &os.PathError{Op: "rmdir", Path: name, Err: errors.ErrUnsupported}
		}
		if err != nil {
			return err
		}
		return dir.Remove(name)
	}, "Rmdir", name)
}

// Sync makes the names in dir durable (fsync).
func (c Calls) Sync(dir *os.Root) error {
	return c.around(func() error {
		if runtime.GOOS == "windows" {
			return nil // folders cannot be synced there; the file system's journal does it
		}
		handle, err := dir.Open(".")
		if err != nil {
			return err
		}
		defer handle.Close()
		return handle.Sync()
	}, "Sync")
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

// Patience retries, with exponential backoff, calls that fail while another program has the
// file open.
type Patience struct {
	InUse func(error) bool
	Sleep func(time.Duration)
}

// Patient retries what the operating system says is in use.
var Patient = Patience{InUse: IsInUse, Sleep: time.Sleep}

// Repeat makes a call that concerns the file name, and retries it for up to a second while
// another program has the file open. Then the error wraps [ErrInUse].
func (p Patience) Repeat(name string, call func() error) error {
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
