package disk

import (
	"bytes"
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Where the parts of a struct linux_dirent64 begin; they are the same on every
// processor.
const (
	direntLength = 16 // of the whole entry, two bytes
	direntKind   = 18
	direntName   = 19 // up to a NUL
)

func (d descriptor) list() ([]listed, error) {
	var found []listed
	var buf [16 << 10]byte
	for {
		n, err := readDirent(d.fd, buf[:])
		if err != nil {
			return found, &fs.PathError{Op: "readdirent", Path: ".", Err: err}
		}
		if n == 0 {
			return found, nil
		}
		found = d.pick(found, buf[:n])
	}
}

// pick adds the files and folders among the entries that a path may hold the
// names of. Hidden ones are most of what can be left out here at no cost.
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
		if kind == unix.DT_UNKNOWN {
			kind = d.kind(string(name))
		}
		if kind == unix.DT_REG || kind == unix.DT_DIR {
			found = append(found, listed{string(name), kind == unix.DT_DIR})
		}
	}
	return found
}

// kind asks for what some file systems do not write into their folders.
func (d descriptor) kind(name string) byte {
	stat, err := fstatat(d.fd, name)
	if err != nil {
		return unix.DT_UNKNOWN // it is gone
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return unix.DT_REG
	case unix.S_IFDIR:
		return unix.DT_DIR
	}
	return unix.DT_UNKNOWN
}
