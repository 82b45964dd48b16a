package disk

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// descriptor is a place that looks at files and reads them by calls of the kernel: an os.Root
// takes three times as many for a file, and an os.File registers each one with a poller that
// regular files have no use for.
//
// It is as confined as an os.Root, for the same reasons. A name is one segment without a
// slash and not "..", so the kernel looks it up in this folder alone; O_NOFOLLOW refuses a
// link in the same step that opens, even if the folder was changed since it was listed; and the
// descriptor stays with its folder when that is moved.
type descriptor struct {
	rooted
	folder *os.File // the same
}

// openAsFile does not wait for the writer of a pipe and acquires no terminal.
const openAsFile = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

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

// native returns the place that costs less here. An error closes r.
func native(r rooted) (place, error) {
	folder, err := r.dir.Open(".")
	if err != nil {
		r.close()
		return nil, err
	}
	return descriptor{r, folder}, nil
}

func (d descriptor) close() {
	d.folder.Close()
	d.rooted.close()
}

func (d descriptor) step(name string) (place, error) {
	sub, err := step(d.dir, name)
	if err != nil {
		return nil, err
	}
	return native(rooted{sub, d.single})
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
	stat, err := d.look(name)
	if err != nil {
		return stat, &fs.PathError{Op: "fstatat", Path: name, Err: err}
	}
	return stat, judge(name, &stat, d.single)
}

func (d descriptor) look(name string) (stat unix.Stat_t, err error) {
	_, err = retried(func() (struct{}, error) {
		return struct{}{}, unix.Fstatat(int(d.folder.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	})
	return stat, err
}

// judge refuses what is no regular file, and one with further names if it must be single.
func judge(name string, stat *unix.Stat_t, single bool) error {
	kind := fs.ModeIrregular
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		kind = 0
	case unix.S_IFDIR:
		kind = fs.ModeDir
	case unix.S_IFLNK:
		kind = fs.ModeSymlink
	}
	if reason := irregular(kind); reason != "" {
		return &Refusal{Path: name, Reason: reason}
	}
	if single {
		return isSingle(name, uint64(stat.Nlink), nil)
	}
	return nil
}

func (d descriptor) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	fd, err := retried(func() (int, error) { return unix.Openat(int(d.folder.Fd()), name, openAsFile, 0) })
	if err != nil {
		// A look tells a link or a socket, which cannot be opened, from a file without
		// permission.
		if _, refused := d.stat(name); refused != nil {
			return nil, system.Stamp{}, refused
		}
		return nil, system.Stamp{}, &fs.PathError{Op: "openat", Path: name, Err: err}
	}
	defer unix.Close(fd)
	return readStamped(openFile{fd, name, d.single}, name, buf, MaxNote)
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
		n, err := unix.ReadDirent(int(d.folder.Fd()), buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			_, _ = unix.Seek(int(d.folder.Fd()), 0, io.SeekStart) // for another try
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
			switch stat, err := d.look(string(name)); {
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

func stampOfStat(stat *unix.Stat_t) system.Stamp {
	return system.Stamp{Size: stat.Size, Modified: stat.Mtim.Nano(), Changed: stat.Ctim.Nano(), Inode: stat.Ino}
}

// Born returns when the note was created, or when it was last changed where the file
// system does not record that.
func (f *File) Born() time.Time {
	file := f.onDisk()
	if file == nil {
		return f.Info.ModTime()
	}
	born, ok := system.Born(file)
	if !ok {
		return f.Info.ModTime()
	}
	return born
}
