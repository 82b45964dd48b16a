// Package faults is a [ownerfiles.System] in which a chosen call fails, for tests of
// packages that must survive it. No program imports it.
package faults

import (
	"errors"
	"syscall"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Err is the error of a call that fails.
var Err = errors.New("no space left on device")

// System counts the calls that change the disk, those on open files included, and
// lets one of them fail. The zero System fails none. It is not safe for use by
// several goroutines.
type System struct {
	disk ownerfiles.Disk

	N       int    // the call that fails, counted from 1; 0 and less for none
	Lasting bool   // every later call fails too, as if the process had been killed
	Before  func() // called before the N-th call, if not nil
	Calls   int    // how many calls there were
}

var _ ownerfiles.System = &System{}

func (s *System) fails() bool {
	s.Calls++
	if s.Calls == s.N && s.Before != nil {
		s.Before()
	}
	return s.Calls == s.N || s.Lasting && s.Calls > s.N
}

func (s *System) do(call func() error) error {
	if s.fails() {
		return Err
	}
	return call()
}

// Mkdir implements [ownerfiles.System].
func (s *System) Mkdir(name string) error {
	return s.do(func() error { return s.disk.Mkdir(name) })
}

// Create implements [ownerfiles.System].
func (s *System) Create(name string) (ownerfiles.File, error) {
	return s.open(func() (ownerfiles.File, error) { return s.disk.Create(name) })
}

// Open implements [ownerfiles.System].
func (s *System) Open(name string, flag int) (ownerfiles.File, error) {
	return s.open(func() (ownerfiles.File, error) { return s.disk.Open(name, flag) })
}

func (s *System) open(call func() (ownerfiles.File, error)) (ownerfiles.File, error) {
	if s.fails() {
		return nil, Err
	}
	opened, err := call()
	if err != nil {
		return nil, err
	}
	return &file{opened, s}, nil
}

// Truncate implements [ownerfiles.System].
func (s *System) Truncate(name string, size int64) error {
	return s.do(func() error { return s.disk.Truncate(name, size) })
}

// Rename implements [ownerfiles.System].
func (s *System) Rename(from, to string) error {
	return s.do(func() error { return s.disk.Rename(from, to) })
}

// Remove implements [ownerfiles.System].
func (s *System) Remove(name string) error {
	return s.do(func() error { return s.disk.Remove(name) })
}

// SyncFolder implements [ownerfiles.System].
func (s *System) SyncFolder(dir string) error {
	return s.do(func() error { return s.disk.SyncFolder(dir) })
}

// file is an open file whose calls are counted too.
type file struct {
	ownerfiles.File
	system *System
}

// Write writes half before it fails.
func (f *file) Write(data []byte) (int, error) {
	if f.system.fails() {
		n, _ := f.File.Write(data[:len(data)/2])
		return n, Err
	}
	return f.File.Write(data)
}

// WriteAt writes nothing if it fails: what is written in place is one sector.
func (f *file) WriteAt(data []byte, at int64) (int, error) {
	if f.system.fails() {
		return 0, Err
	}
	return f.File.WriteAt(data, at)
}

// SyscallConn is that of the file, for what does not change it.
func (f *file) SyscallConn() (syscall.RawConn, error) {
	conn, ok := f.File.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}

func (f *file) Sync() error { return f.system.do(f.File.Sync) }

// Close closes the file also if it fails.
func (f *file) Close() error {
	err := f.File.Close()
	if f.system.fails() {
		return Err
	}
	return err
}
