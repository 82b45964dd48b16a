package system

import (
	"io/fs"
	"time"
)

// Stamp tells the states of one file apart without reading it. Two equal stamps that are
// settled mean the same content. The zero Stamp means that nothing is known: it is never
// settled, and nothing may be cached under it.
type Stamp struct {
	Size     int64
	Modified int64 // Unix nanoseconds; a program can set it to any value
	// Changed is the time of the last change of the file or its metadata (ctime), in Unix
	// nanoseconds. No program can set it. It is 0 where the system does not report it.
	Changed int64
	Inode   uint64 // differs after a file was replaced; 0 as above
}

// settling is how long a file must be left alone before its stamp can be trusted. The
// clocks of file systems are coarse, that of FAT counts in two seconds: of two changes
// within one tick the second leaves no trace.
const settling = 2 * time.Second

// ahead is how far in the future the time of a file must be for no clock to have written
// it: a program did, or a machine whose clock was wrong by days.
const ahead = 24 * time.Hour

// Settled reports whether a stamp that was taken at the moment read, or later, was old
// enough then. A change after a younger stamp may leave it unchanged, so read is the
// moment before the read, not that after it.
//
// A time of modification far in the future is ignored where the system reports the time
// of change.
func (s Stamp) Settled(read time.Time) bool {
	last := time.Unix(0, max(s.Modified, s.Changed))
	if s.Changed != 0 && time.Unix(0, s.Modified).After(read.Add(ahead)) {
		last = time.Unix(0, s.Changed)
	}
	return s != Stamp{} && !last.Add(settling).After(read)
}

// portable is the stamp of a file where the system reports no more than Go does.
func portable(info fs.FileInfo) Stamp {
	return Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
}
