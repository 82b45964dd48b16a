package system

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// createdAttribute is the extended attribute with the creation time of a note, as RFC 3339 text in UTC. Linux
// has no call that sets the creation time of a file. Each change replaces the file, so without the attribute a
// note would seem to be created by its last change.
const createdAttribute = "user.vaultwicket.created"

// Born returns the creation time of a file: the one preserved when the file was replaced, otherwise the one
// that the file system records. ok is false if there is neither.
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
		// A file cannot be older than recorded by its own file system: another program wrote the attribute.
		return recorded, true
	}
	return kept, true
}

// keptBirth reads the attribute. ok is false if the file has none with a valid time.
func keptBirth(fd int) (born time.Time, ok bool) {
	value := make([]byte, len(time.RFC3339Nano))
	size, err := unix.Fgetxattr(fd, createdAttribute, value)
	if err != nil {
		return time.Time{}, false
	}
	born, err = time.Parse(time.RFC3339Nano, string(value[:size]))
	return born, err == nil
}

// copyOthers copies what is not an extended attribute: the creation time.
func copyOthers(from, to *os.File) { keepBirth(from, to) }

// keepBirth stores the creation time of a file in the new file that replaces it, if the file system supports
// extended attributes.
func keepBirth(from, to *os.File) {
	born, ok := Born(from)
	if !ok {
		return
	}
	value := []byte(born.UTC().Format(time.RFC3339Nano))
	_ = control(to, func(fd int) error { return unix.Fsetxattr(fd, createdAttribute, value, 0) })
}
