package system

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// createdAttribute is the extended attribute with the time at which a note was created, as text of RFC 3339 in UTC. No call
// of Linux sets the time of creation of a file, so without it a note would seem to be created by its last change: each
// change replaces the file.
const createdAttribute = "user.vaultwicket.created"

// Born returns when a file was created: the time that was kept by a replacement, else the one that the file system
// records. ok is false if there is neither.
func Born(file *os.File) (born time.Time, ok bool) {
	_ = control(file, func(fd int) error {
		born, ok = bornOf(fd)
		return nil
	})
	return born, ok
}

func bornOf(fd int) (time.Time, bool) {
	var recorded time.Time
	var stat unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &stat)
	isRecorded := err == nil && stat.Mask&unix.STATX_BTIME != 0
	if isRecorded {
		recorded = time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec))
	}
	kept, isKept := keptBirth(fd)
	switch {
	case !isKept:
		return recorded, isRecorded
	case isRecorded && kept.After(recorded):
		// No file is older than what it is kept in: somebody else wrote the attribute.
		return recorded, true
	}
	return kept, true
}

// keptBirth reads the attribute; ok is false if the file has none that is a time.
func keptBirth(fd int) (born time.Time, ok bool) {
	value := make([]byte, len(time.RFC3339Nano))
	size, err := unix.Fgetxattr(fd, createdAttribute, value)
	if err != nil {
		return time.Time{}, false
	}
	born, err = time.Parse(time.RFC3339Nano, string(value[:size]))
	return born, err == nil
}

// keepMore keeps what is no extended attribute: the time of creation.
func keepMore(from, to *os.File) { keepBirth(from, to) }

// keepBirth has a new file remember when the one that it replaces was created, as far as the file system keeps
// extended attributes.
func keepBirth(from, to *os.File) {
	born, ok := Born(from)
	if !ok {
		return
	}
	value := []byte(born.UTC().Format(time.RFC3339Nano))
	_ = control(to, func(fd int) error { return unix.Fsetxattr(fd, createdAttribute, value, 0) })
}
