package main

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// The operations that can fail.
var (
	changing = []string{"setattr", "mkdir", "unlink", "rmdir", "rename", "link", "create", "write", "flush", "fsync"}
	reading  = []string{"lookup", "getattr", "open", "read", "opendir", "readdir", "statfs", "fsyncdir"}
)

// disk is a file system with a fault.
type disk struct {
	fuse.RawFileSystem

	mu    sync.Mutex
	fault fault
}

// fault is which operations fail.
type fault struct {
	errno        syscall.Errno // 0 for slow ones
	delay        time.Duration // of these
	operations   map[string]bool
	from, count  int // the first that fails, counted from 1, and how many; 0 is all
	seen, failed int
}

// set sets the fault, and returns the one before.
func (d *disk) set(next fault) (before fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before = d.fault
	d.fault = next
	return before
}

// fail returns how an operation fails, [fuse.OK] for one that does not.
func (d *disk) fail(operation string) fuse.Status {
	d.mu.Lock()
	f := &d.fault
	if !f.operations[operation] {
		d.mu.Unlock()
		return fuse.OK
	}
	f.seen++
	isBad := f.seen >= f.from && (f.count == 0 || f.seen < f.from+f.count)
	if isBad {
		f.failed++
	}
	errno, delay := f.errno, f.delay
	d.mu.Unlock()
	if isBad && errno == 0 {
		time.Sleep(delay) // a disk that is slow
	}
	if !isBad {
		return fuse.OK
	}
	return fuse.Status(errno)
}

func (d *disk) Lookup(stop <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	for _, operation := range []string{"lookup", "lookup:" + name} {
		if bad := d.fail(operation); !bad.Ok() {
			return bad
		}
	}
	return d.RawFileSystem.Lookup(stop, in, name, out)
}

func (d *disk) GetAttr(stop <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	if bad := d.fail("getattr"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.GetAttr(stop, in, out)
}

func (d *disk) SetAttr(stop <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if bad := d.fail("setattr"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.SetAttr(stop, in, out)
}

func (d *disk) Mkdir(stop <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	if bad := d.fail("mkdir"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Mkdir(stop, in, name, out)
}

func (d *disk) Unlink(stop <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	if bad := d.fail("unlink"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Unlink(stop, in, name)
}

func (d *disk) Rmdir(stop <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	if bad := d.fail("rmdir"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Rmdir(stop, in, name)
}

func (d *disk) Rename(stop <-chan struct{}, in *fuse.RenameIn, name, newName string) fuse.Status {
	if bad := d.fail("rename"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Rename(stop, in, name, newName)
}

func (d *disk) Link(stop <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	if bad := d.fail("link"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Link(stop, in, name, out)
}

func (d *disk) Create(stop <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	if bad := d.fail("create"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Create(stop, in, name, out)
}

func (d *disk) Open(stop <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if bad := d.fail("open"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Open(stop, in, out)
}

func (d *disk) Read(stop <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if bad := d.fail("read"); !bad.Ok() {
		return nil, bad
	}
	return d.RawFileSystem.Read(stop, in, buf)
}

// Write writes half of the data before it fails, as a disk that becomes full.
func (d *disk) Write(stop <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if bad := d.fail("write"); !bad.Ok() {
		_, _ = d.RawFileSystem.Write(stop, in, data[:len(data)/2])
		return 0, bad
	}
	return d.RawFileSystem.Write(stop, in, data)
}

// Writev is what the library calls for a write before it calls Write.
func (d *disk) Writev(stop <-chan struct{}, in *fuse.WriteIn, parts [][]byte) (uint32, fuse.Status) {
	return d.Write(stop, in, slices.Concat(parts...))
}

func (d *disk) Flush(stop <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	if bad := d.fail("flush"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.Flush(stop, in)
}

func (d *disk) Fsync(stop <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if bad := d.fail("fsync"); !bad.Ok() {
		return bad
	}
	return fuse.OK // what is shown belongs to a test
}

func (d *disk) FsyncDir(stop <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if bad := d.fail("fsyncdir"); !bad.Ok() {
		return bad
	}
	return fuse.OK
}

func (d *disk) OpenDir(stop <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if bad := d.fail("opendir"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.OpenDir(stop, in, out)
}

func (d *disk) ReadDir(stop <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if bad := d.fail("readdir"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.ReadDir(stop, in, out)
}

func (d *disk) ReadDirPlus(stop <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if bad := d.fail("readdir"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.ReadDirPlus(stop, in, out)
}

func (d *disk) StatFs(stop <-chan struct{}, in *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	if bad := d.fail("statfs"); !bad.Ok() {
		return bad
	}
	return d.RawFileSystem.StatFs(stop, in, out)
}
