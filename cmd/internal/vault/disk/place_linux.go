package disk

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// descriptor is a place that calls the kernel directly: an os.Root takes three times as
// many calls for a file, and an os.File registers each one with a poller that regular
// files have no use for.
//
// It is as confined as an os.Root, for the same reasons. A name is one segment without a
// slash and not "..", so the kernel looks it up in this folder alone; O_NOFOLLOW refuses a
// link in the same step that opens, even if the folder was changed since it was listed; and the
// descriptor stays with its folder when that is moved.
type descriptor struct {
	fd     int
	single bool // a file with further names is refused, see [IsHardLinked]
}

const (
	openAsFolder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	// openAsFile does not wait for the writer of a pipe and acquires no terminal.
	openAsFile = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
)

// retried repeats a call after EINTR: the runtime sends signals to its own threads, and
// network file systems report them.
func retried[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if err != unix.EINTR {
			return v, err
		}
	}
}

func openat(dir int, name string, flags int) (int, error) {
	return retried(func() (int, error) { return unix.Openat(dir, name, flags, 0) })
}

func fstatat(dir int, name string) (stat unix.Stat_t, err error) {
	for {
		err = unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			return stat, err
		}
	}
}

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

// judge refuses what is no regular file, and one with further names if it must be single.
func judge(name string, stat *unix.Stat_t, single bool) error {
	if reason := irregular(modeOf(stat.Mode)); reason != "" {
		return &Refusal{Path: name, Reason: reason}
	}
	if single {
		return isSingle(name, uint64(stat.Nlink), nil)
	}
	return nil
}

func (d descriptor) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	fd, err := openat(d.fd, name, openAsFile)
	if err != nil {
		// A look tells a link or a socket, which cannot be opened, from a file without
		// permission.
		if _, refused := d.stat(name); refused != nil {
			return nil, system.Stamp{}, refused
		}
		return nil, system.Stamp{}, &fs.PathError{Op: "openat", Path: name, Err: err}
	}
	defer unix.Close(fd)
	return readStamped(openFile{fd, name, d.single}, buf, MaxNote)
}

// Where the parts of a struct linux_dirent64 begin; they are the same on every processor.
const (
	direntLength = 16 // of the whole entry, two bytes
	direntKind   = 18
	direntName   = 19 // up to a NUL
)

func (d descriptor) list() ([]listed, error) {
	var found []listed
	var buf [16 << 10]byte
	for {
		n, err := unix.ReadDirent(d.fd, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return found, &fs.PathError{Op: "readdirent", Path: ".", Err: err}
		case n == 0:
			return found, nil
		}
		found = d.pick(found, buf[:n])
	}
}

// pick appends the files and folders among the entries whose names a path may have. Hidden
// ones are most of what can be left out here at no cost.
func (d descriptor) pick(found []listed, entries []byte) []listed {
	for len(entries) > direntName {
		length := int(binary.NativeEndian.Uint16(entries[direntLength:]))
		if length <= direntName || length > len(entries) {
			break // no kernel writes this
		}
		entry := entries[:length]
		entries = entries[length:]
		name, _, _ := bytes.Cut(entry[direntName:], []byte{0})
		if len(name) == 0 || name[0] == '.' {
			continue
		}
		kind := entry[direntKind]
		if kind == unix.DT_UNKNOWN { // some file systems do not write it into their folders
			switch stat, err := fstatat(d.fd, string(name)); {
			case err != nil: // it is gone
			case stat.Mode&unix.S_IFMT == unix.S_IFREG:
				kind = unix.DT_REG
			case stat.Mode&unix.S_IFMT == unix.S_IFDIR:
				kind = unix.DT_DIR
			}
		}
		if kind == unix.DT_REG || kind == unix.DT_DIR {
			found = append(found, listed{string(name), kind == unix.DT_DIR})
		}
	}
	return found
}

// openFile is a file that is open for reading, and its name in its folder.
type openFile struct {
	fd     int
	name   string
	single bool
}

func (f openFile) stamp() (system.Stamp, error) {
	var stat unix.Stat_t
	err := unix.Fstat(f.fd, &stat)
	for err == unix.EINTR {
		err = unix.Fstat(f.fd, &stat)
	}
	if err != nil {
		return system.Stamp{}, &fs.PathError{Op: "fstat", Path: f.name, Err: err}
	}
	if err := judge(f.name, &stat, f.single); err != nil {
		return system.Stamp{}, err
	}
	return stampOfStat(&stat), nil
}

func (f openFile) Read(text []byte) (int, error) {
	n, err := retried(func() (int, error) { return unix.Read(f.fd, text) })
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	case n == 0 && len(text) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f openFile) title() string { return f.name }

// regular is the fs.FileInfo of a regular file.
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

// modeOf returns the type and the permissions of a file.
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

// Born returns when the file was created, or when it was last changed where the file
// system does not record that.
func (f *File) Born() time.Time {
	raw, err := f.SyscallConn()
	if err != nil {
		return f.Info.ModTime()
	}
	var stat unix.Statx_t
	var failure error
	err = raw.Control(func(fd uintptr) {
		failure = unix.Statx(int(fd), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &stat)
	})
	if err != nil || failure != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return f.Info.ModTime()
	}
	return time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec))
}
