package disk

import (
	"io"
	"io/fs"
	"os"
	"runtime"
)

// system is the handful of calls that change a disk. Each works on the folders
// that are open and on names of one segment in them, so none follows a link that
// took the place of a folder. It is an interface so that a test can let the n-th
// of them fail.
type system interface {
	// create makes the new file name; it never opens one that is there.
	create(dir *os.Root, name string, perm fs.FileMode) (handle, error)
	mkdir(dir *os.Root, name string) error
	// move gives the file from in source the name to in target, in one step. It
	// fails with fs.ErrExist if the name is taken, and with errors.ErrUnsupported
	// where the file system has no such call.
	move(source *os.Root, from string, target *os.Root, to string) error
	// rename is move that replaces a file of that name.
	rename(source *os.Root, from string, target *os.Root, to string) error
	// link gives the file from in source the second name to in target; it fails
	// with fs.ErrExist if that is taken.
	link(source *os.Root, from string, target *os.Root, to string) error
	// remove removes a file, never a folder.
	remove(dir *os.Root, name string) error
	// sync makes the names in dir durable.
	sync(dir *os.Root) error
}

// handle is a file that is being written.
type handle interface {
	io.WriteCloser
	Chmod(fs.FileMode) error
	Sync() error
}

type realSystem struct{}

func (realSystem) create(dir *os.Root, name string, perm fs.FileMode) (handle, error) {
	return dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

func (realSystem) mkdir(dir *os.Root, name string) error { return dir.Mkdir(name, 0o755) }

func (realSystem) sync(dir *os.Root) error {
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

// Interpose has ask called before every call that changes the disk; an error of
// ask is that of the call, which is not made then. It is there to find out what
// becomes of work that the disk breaks off, and for nothing else.
func (f *Folder) Interpose(ask func() error) { f.sys = asking{f.sys, ask} }

type asking struct {
	system
	ask func() error
}

func (a asking) create(dir *os.Root, name string, perm fs.FileMode) (handle, error) {
	if err := a.ask(); err != nil {
		return nil, err
	}
	return a.system.create(dir, name, perm)
}

func (a asking) mkdir(dir *os.Root, name string) error {
	return a.unless(func() error { return a.system.mkdir(dir, name) })
}

func (a asking) move(source *os.Root, from string, target *os.Root, to string) error {
	return a.unless(func() error { return a.system.move(source, from, target, to) })
}

func (a asking) rename(source *os.Root, from string, target *os.Root, to string) error {
	return a.unless(func() error { return a.system.rename(source, from, target, to) })
}

func (a asking) link(source *os.Root, from string, target *os.Root, to string) error {
	return a.unless(func() error { return a.system.link(source, from, target, to) })
}

func (a asking) remove(dir *os.Root, name string) error {
	return a.unless(func() error { return a.system.remove(dir, name) })
}

func (a asking) sync(dir *os.Root) error {
	return a.unless(func() error { return a.system.sync(dir) })
}

func (a asking) unless(call func() error) error {
	if err := a.ask(); err != nil {
		return err
	}
	return call()
}
