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

// descriptor is a place that uses system calls to look up and read files. An os.Root makes three times as many
// calls per file, and an os.File registers each file with a poller, which is useless for regular files.
//
// It is as confined as an os.Root, for the same reasons. A name is one segment without a slash and is not "..",
// so the kernel looks it up in this folder only. O_NOFOLLOW refuses a link in the same call that opens the
// file, even if the folder was changed since it was listed. And the descriptor stays with its folder if that is
// moved.
type descriptor struct {
	rooted
	folder *os.File // the same folder
}

// openAsFile has flags with which opening does not wait for the writer of a pipe, and acquires no terminal.
const openAsFile = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// retried repeats a call after EINTR: the runtime sends signals to its own threads, and network file systems
// return EINTR for them.
func retried[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if err != unix.EINTR {
			return v, err
		}
	}
}

// native returns the cheaper place of this system. After an error, r is closed.
func native(r rooted) (place, error) {
	folder, err := system.OpenFolder(r.dir)
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
	return native(rooted{sub, d.refusesLinks})
}

func (d descriptor) stamp(name string) (system.Stamp, error) {
	stat, err := d.stat(name)
	if err != nil {
		return system.Stamp{}, err
	}
	return stampOfStat(&stat), nil
}

// stat returns the status of the regular file name.
func (d descriptor) stat(name string) (unix.Stat_t, error) {
	stat, err := d.lstat(name)
	if err != nil {
		return stat, &fs.PathError{Op: "fstatat", Path: name, Err: err}
	}
	return stat, judge(name, &stat, d.refusesLinks)
}

func (d descriptor) lstat(name string) (stat unix.Stat_t, err error) {
	_, err = retried(func() (struct{}, error) {
		return struct{}{}, unix.Fstatat(int(d.folder.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	})
	return stat, err
}

// judge returns an error unless the file is a regular one, and with refusesLinks also if it has several names.
func judge(name string, stat *unix.Stat_t, refusesLinks bool) error {
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
	if refusesLinks {
		return checkSingle(name, uint64(stat.Nlink), nil)
	}
	return nil
}

func (d descriptor) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	fd, err := retried(func() (int, error) { return unix.Openat(int(d.folder.Fd()), name, openAsFile, 0) })
	if err != nil {
		// A link or a socket cannot be opened. Its status distinguishes it from a file without permission.
		if _, statErr := d.stat(name); statErr != nil {
			return nil, system.Stamp{}, statErr
		}
		return nil, system.Stamp{}, &fs.PathError{Op: "openat", Path: name, Err: err}
	}
	defer unix.Close(fd)
	return readStamped(openFile{fd, name, d.refusesLinks}, name, buf, MaxNote)
}

// Offsets of the fields of a struct linux_dirent64. They are the same on every architecture.
const (
	direntLength = 16 // of the whole entry, in two bytes
	direntKind   = 18
	direntName   = 19 // up to a NUL byte
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
			_, _ = unix.Seek(int(d.folder.Fd()), 0, io.SeekStart) // allow another attempt
			return found, &fs.PathError{Op: "readdirent", Path: ".", Err: err}
		case n == 0:
			return found, nil
		}
		found = d.pick(found, buf[:n])
	}
}

// pick appends the files and folders among the entries whose names may occur in a path. Leaving out hidden
// names here is cheap, and they are most of the excluded ones.
func (d descriptor) pick(found []listed, entries []byte) []listed {
	for len(entries) > direntName {
		length := int(binary.NativeEndian.Uint16(entries[direntLength:]))
		if length <= direntName || length > len(entries) {
			break // no kernel returns this
		}
		entry := entries[:length]
		entries = entries[length:]
		name, _, _ := bytes.Cut(entry[direntName:], []byte{0})
		if len(name) == 0 || name[0] == '.' {
			continue
		}
		kind := entry[direntKind]
		if kind == unix.DT_UNKNOWN { // some file systems do not store the type in the folder
			switch stat, err := d.lstat(string(name)); {
			case err != nil: // it was removed
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

// openFile is a file that is open for reading, and its name in the folder.
type openFile struct {
	fd           int
	name         string
	refusesLinks bool
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
	if err := judge(f.name, &stat, f.refusesLinks); err != nil {
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

// Born returns the creation time of the note, or the time of its last change if the file system does not record
// that.
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
