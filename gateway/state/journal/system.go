package journal

import (
	"io"
	"os"
	"runtime"
)

// system is the handful of calls that change a disk. It is an interface so that
// a test can let the n-th of them fail.
type system interface {
	// mkdir makes a folder that only its owner can look into.
	mkdir(name string) error
	// create makes the new file name for its owner alone; it never opens one
	// that is there.
	create(name string) (handle, error)
	// open opens a file of ours for appending, and no link to one.
	open(name string) (handle, error)
	truncate(name string, size int64) error
	rename(from, to string) error
	remove(name string) error
	// sync makes the names in a folder durable.
	sync(dir string) error
}

// handle is a file that is being written, always at its end.
type handle interface {
	io.WriteCloser
	Sync() error
}

type realSystem struct{}

func (realSystem) mkdir(name string) error { return os.Mkdir(name, 0o700) }

func (realSystem) create(name string) (handle, error) { return wrap(create(name)) }

func (realSystem) open(name string) (handle, error) {
	return wrap(openOwn(name, os.O_WRONLY|os.O_APPEND))
}

// wrap keeps a nil file from becoming a handle that is not nil.
func wrap(file *os.File, err error) (handle, error) {
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (realSystem) truncate(name string, size int64) error { return os.Truncate(name, size) }

func (realSystem) rename(from, to string) error { return os.Rename(from, to) }

func (realSystem) remove(name string) error { return os.Remove(name) }

func (realSystem) sync(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there; the file system's journal does it
	}
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
