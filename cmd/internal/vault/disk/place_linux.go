package disk

import (
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// descriptor is a place that asks the kernel directly: an os.Root takes three
// times as many calls for a file, and an os.File enters each one into a poller
// that regular files have no use for.
//
// It is as confined as an os.Root, for the same reasons. A name is one segment
// without a slash and not a parent, so the kernel looks it up in this folder
// alone; O_NOFOLLOW refuses a link in the same step that opens, whatever
// happened since the folder was listed; and the descriptor stays with its
// folder when that is moved.
type descriptor struct {
	fd     int
	single bool // a file with further names is refused, see [IsHardLinked]
}

const (
	openAsFolder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	// openAsFile does not wait for the writer of a pipe and takes no terminal.
	openAsFile = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
)

func openPlace(root *os.Root, single bool) (place, error) {
	handle, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	raw, err := handle.SyscallConn()
	if err != nil {
		return nil, err
	}
	var own int
	var failure error
	err = raw.Control(func(fd uintptr) { own, failure = openat(int(fd), ".", openAsFolder) })
	if err == nil && failure != nil {
		err = &fs.PathError{Op: "openat", Path: ".", Err: failure}
	}
	if err != nil {
		return nil, err
	}
	return descriptor{own, single}, nil
}

func (d descriptor) close() { unix.Close(d.fd) }

func (d descriptor) step(name string) (place, error) {
	sub, err := openat(d.fd, name, openAsFolder)
	switch err {
	case nil:
		return descriptor{sub, d.single}, nil
	case unix.ENOTDIR, unix.ELOOP: // a file or a link
		return nil, &Refusal{Path: name, Reason: "is not a folder"}
	}
	return nil, &fs.PathError{Op: "openat", Path: name, Err: err}
}

func (d descriptor) info(name string) (fs.FileInfo, error) {
	stat, err := d.stat(name)
	if err != nil {
		return nil, err
	}
	return regular{name, stat}, nil
}

func (d descriptor) stamp(name string) (system.Stamp, error) {
	stat, err := d.stat(name)
	if err != nil {
		return system.Stamp{}, err
	}
	return stampOfStat(&stat), nil
}

// stat looks at the regular file name.
func (d descriptor) stat(name string) (unix.Stat_t, error) {
	stat, err := fstatat(d.fd, name)
	if err != nil {
		return stat, &fs.PathError{Op: "fstatat", Path: name, Err: err}
	}
	return stat, judge(name, &stat, d.single)
}

// judge refuses what is no regular file, and one with further names if it has to
// be single.
func judge(name string, stat *unix.Stat_t, alone bool) error {
	if reason := irregular(modeOf(stat.Mode)); reason != "" {
		return &Refusal{Path: name, Reason: reason}
	}
	if alone {
		return single(name, uint64(stat.Nlink))
	}
	return nil
}

func (d descriptor) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	fd, err := openat(d.fd, name, openAsFile)
	if err != nil {
		// A look tells a link or a socket, which cannot be opened, from a file
		// that may not be.
		if _, refused := d.stat(name); refused != nil {
			return nil, system.Stamp{}, refused
		}
		return nil, system.Stamp{}, &fs.PathError{Op: "openat", Path: name, Err: err}
	}
	defer unix.Close(fd)
	return readStamped(openFile{fd, name, d.single}, buf, MaxNote)
}

// openFile is a file that is open for reading, and its name in its folder.
type openFile struct {
	fd     int
	name   string
	single bool
}

func (f openFile) stamp() (system.Stamp, error) {
	var stat unix.Stat_t
	err := fstat(f.fd, &stat)
	if err != nil {
		return system.Stamp{}, &fs.PathError{Op: "fstat", Path: f.name, Err: err}
	}
	if err := judge(f.name, &stat, f.single); err != nil {
		return system.Stamp{}, err
	}
	return stampOfStat(&stat), nil
}

func (f openFile) Read(text []byte) (int, error) {
	n, err := read(f.fd, text)
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	case n == 0 && len(text) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f openFile) title() string { return f.name }

// regular is what is known about a regular file.
type regular struct {
	name string
	stat unix.Stat_t
}

func (r regular) Name() string       { return r.name }
func (r regular) Size() int64        { return r.stat.Size }
func (r regular) Mode() fs.FileMode  { return modeOf(r.stat.Mode) }
func (r regular) ModTime() time.Time { return time.Unix(r.stat.Mtim.Unix()) }
func (r regular) IsDir() bool        { return false }
func (r regular) Sys() any           { return &r.stat }

func stampOfStat(stat *unix.Stat_t) system.Stamp {
	return system.Stamp{Size: stat.Size, Modified: stat.Mtim.Nano(), Changed: stat.Ctim.Nano(), Inode: stat.Ino}
}

// modeOf returns the kind of a file and who may do what with it.
func modeOf(mode uint32) fs.FileMode {
	perm := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return perm
	case unix.S_IFDIR:
		return perm | fs.ModeDir
	case unix.S_IFLNK:
		return perm | fs.ModeSymlink
	}
	return perm | fs.ModeIrregular
}
