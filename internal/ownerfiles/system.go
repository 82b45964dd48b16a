package ownerfiles

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// System has the calls that change the disk. [Disk] is the real implementation.
type System interface {
	// Mkdir creates a folder with mode 0700, on Windows for this user, the
	// administrators and the system.
	Mkdir(name string) error
	// Create creates the file name with mode 0600 for reading and appending. If it
	// exists, the error is [fs.ErrExist].
	Create(name string) (File, error)
	// Open is the function [Open].
	Open(name string, flag int) (File, error)
	// Truncate opens the file as [Open] does and changes its size in bytes.
	Truncate(name string, size int64) error
	Rename(from, to string) error
	Remove(name string) error
	// SyncFolder makes the names in a folder durable.
	SyncFolder(dir string) error
}

// File is an open file.
type File interface {
	io.WriteCloser
	io.ReaderAt
	io.WriterAt
	Sync() error
	Stat() (fs.FileInfo, error)
}

// Disk is the file system of the machine.
type Disk struct{}

var _ System = Disk{}

// Create implements [System].
func (Disk) Create(name string) (File, error) {
	return asFile(os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL|noFollow, 0o600))
}

// Open implements [System].
func (Disk) Open(name string, flag int) (File, error) { return asFile(Open(name, flag)) }

// asFile returns a nil File for a nil *os.File.
func asFile(file *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Truncate implements [System]. It opens the file itself, because not every system
// can truncate a file that is open for appending.
func (Disk) Truncate(name string, size int64) error {
	file, err := Open(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(size), file.Close())
}

// Remove implements [System].
func (Disk) Remove(name string) error { return os.Remove(name) }

// SyncFolder implements [System].
func (Disk) SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced on Windows; the journal of the file system does it
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// Replace writes content to the file temporary, makes it durable and renames it to name, which is in
// the same folder: at any moment, name has either its previous or the new content. An existing file
// temporary is replaced. modified becomes the modification time unless it is zero.
//
// If err is not nil and replaced is false, name is unchanged; if replaced is true, the new name may
// not be durable.
func Replace(sys System, temporary, name string, content []byte, modified time.Time) (replaced bool, err error) {
	err = writeNew(sys, temporary, content)
	if errors.Is(err, fs.ErrExist) { // left by a process that was killed
		if err := sys.Remove(temporary); err != nil {
			return false, err
		}
		err = writeNew(sys, temporary, content)
	}
	if err == nil && !modified.IsZero() {
		err = os.Chtimes(temporary, modified, modified)
	}
	if err == nil {
		err = sys.Rename(temporary, name)
	}
	if err != nil {
		_ = sys.Remove(temporary)
		return false, err
	}
	return true, sys.SyncFolder(filepath.Dir(name))
}

// UpdateJSON replaces the file name in the folder state by the value that edit returns, as indented JSON.
// The folder is created if it is missing. edit runs under the lock in the file lock, so that no other
// process changes the file after edit has read it; UpdateJSON waits up to two seconds for the lock. An
// error of edit is returned, and leaves the file unchanged.
func UpdateJSON(state, name, lock string, edit func() (any, error)) error {
	if !EnsureFolder(state) {
		return fmt.Errorf("state folder %q: %s", state, cmp.Or(WhyUnsafe(state), "cannot be made"))
	}
	unlock, err := Lock(context.Background(), filepath.Join(state, lock), 2*time.Second)
	if err != nil {
		return err
	}
	defer unlock()
	content, err := edit()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	name = filepath.Join(state, name)
	_, err = Replace(Disk{}, name+".new", name, append(text, '\n'), time.Time{})
	return err
}

// Publish gives the finished file temporary its name in the same folder. If the name exists, the error is
// [fs.ErrExist]. On a file system without hard links it checks the name before it renames the file,
// which is not atomic.
func Publish(temporary, name string) error {
	err := os.Link(temporary, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, taken := os.Lstat(name); taken == nil {
		return fs.ErrExist
	}
	return os.Rename(temporary, name)
}

func writeNew(sys System, name string, content []byte) error {
	file, err := sys.Create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
