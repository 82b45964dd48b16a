package approvals

import (
	"io"
	"os"
	"runtime"
)

// disk is the handful of calls that change a folder. It is an interface so that
// a test can let the n-th of them fail.
type disk interface {
	// mkdir makes a folder that only its owner can look into.
	mkdir(name string) error
	// create makes the new file name for its owner alone; it never opens one
	// that is there.
	create(name string) (handle, error)
	rename(from, to string) error
	remove(name string) error
	// sync makes the names in a folder durable.
	sync(dir string) error
}

// handle is a file that is being written.
type handle interface {
	io.WriteCloser
	Sync() error
}

type realDisk struct{}

func (realDisk) mkdir(name string) error { return os.Mkdir(name, 0o700) }

func (realDisk) create(name string) (handle, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|cautious, 0o600)
	if err != nil {
		return nil, err // and no handle that is not nil
	}
	return file, nil
}

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) remove(name string) error { return os.Remove(name) }

func (realDisk) sync(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there; the file system's journal does it
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
