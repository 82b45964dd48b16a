package fake

import (
	"errors"
	"syscall"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// ErrDisk is the error of a call that fails.
var ErrDisk = errors.New("no space left on device")

// FailingDisk is an [ownerfiles.System] that counts the calls that change the disk, those on
// open files included, and lets one of them fail. The zero FailingDisk fails none. It is not
// safe for use by several goroutines.
type FailingDisk struct {
	disk ownerfiles.Disk

	N       int    // the call that fails, counted from 1; 0 and less for none
	Lasting bool   // every later call fails too, as if the process had been killed
	Before  func() // called before the N-th call, if not nil
	Calls   int    // how many calls there were
}

var _ ownerfiles.System = &FailingDisk{}

func (s *FailingDisk) fails() bool {
	s.Calls++
	if s.Calls == s.N && s.Before != nil {
		s.Before()
	}
	return s.Calls == s.N || s.Lasting && s.Calls > s.N
}

func (s *FailingDisk) do(call func() error) error {
	if s.fails() {
		return ErrDisk
	}
	return call()
}

// Mkdir implements [ownerfiles.System].
func (s *FailingDisk) Mkdir(name string) error {
	return s.do(func() error { return s.disk.Mkdir(name) })
}

// Create implements [ownerfiles.System].
func (s *FailingDisk) Create(name string) (ownerfiles.File, error) {
	return s.open(func() (ownerfiles.File, error) { return s.disk.Create(name) })
}

// Open implements [ownerfiles.System].
func (s *FailingDisk) Open(name string, flag int) (ownerfiles.File, error) {
	return s.open(func() (ownerfiles.File, error) { return s.disk.Open(name, flag) })
}

func (s *FailingDisk) open(call func() (ownerfiles.File, error)) (ownerfiles.File, error) {
	if s.fails() {
		return nil, ErrDisk
	}
	opened, err := call()
	if err != nil {
		return nil, err
	}
	return &failingFile{opened, s}, nil
}

// Truncate implements [ownerfiles.System].
func (s *FailingDisk) Truncate(name string, size int64) error {
	return s.do(func() error { return s.disk.Truncate(name, size) })
}

// Rename implements [ownerfiles.System].
func (s *FailingDisk) Rename(from, to string) error {
	return s.do(func() error { return s.disk.Rename(from, to) })
}

// Remove implements [ownerfiles.System].
func (s *FailingDisk) Remove(name string) error {
	return s.do(func() error { return s.disk.Remove(name) })
}

// SyncFolder implements [ownerfiles.System].
func (s *FailingDisk) SyncFolder(dir string) error {
	return s.do(func() error { return s.disk.SyncFolder(dir) })
}

// failingFile is an open file whose calls are counted too.
type failingFile struct {
	ownerfiles.File
	system *FailingDisk
}

// Write writes half before it fails.
func (f *failingFile) Write(data []byte) (int, error) {
	if f.system.fails() {
		n, _ := f.File.Write(data[:len(data)/2])
		return n, ErrDisk
	}
	return f.File.Write(data)
}

// WriteAt writes nothing if it fails: what is written in place is one sector.
func (f *failingFile) WriteAt(data []byte, at int64) (int, error) {
	if f.system.fails() {
		return 0, ErrDisk
	}
	return f.File.WriteAt(data, at)
}

// SyscallConn is that of the file, for what does not change it.
func (f *failingFile) SyscallConn() (syscall.RawConn, error) {
	conn, ok := f.File.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}

func (f *failingFile) Sync() error { return f.system.do(f.File.Sync) }

// Close closes the file also if it fails.
func (f *failingFile) Close() error {
	err := f.File.Close()
	if f.system.fails() {
		return ErrDisk
	}
	return err
}
