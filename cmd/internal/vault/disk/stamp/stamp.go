// Package stamp tells the states of a file apart without reading it.
package stamp

import (
	"io/fs"
	"time"
)

// Stamp tells the states of one file apart without reading it. Two equal
// stamps that are settled mean the same content. The zero Stamp means that
// nothing is known: it is never settled, and nothing may be remembered under it.
type Stamp struct {
	Size     int64
	Modified int64 // Unix nanoseconds; a program can set it to what it likes
	// Changed is when the file or what is known about it was last changed, in
	// Unix nanoseconds. Nobody can set it. It is 0 where the system does not tell.
	Changed int64
	Inode   uint64 // another one for a file that was replaced; 0 as above
}

// settling is how long a file has to be left alone before its stamp can be
// trusted. The clocks of file systems are coarse, the one of FAT counts in two
// seconds: of two changes within one tick the second leaves no trace.
const settling = 2 * time.Second

// ahead is how far in the future the time of a file has to be for no clock to have written
// it: a program did, or a machine whose clock was wrong by days.
const ahead = 24 * time.Hour

// Settled reports whether a stamp that was taken at the moment read, or later,
// was old enough then. A change after a younger stamp may have left it as it
// is. The moment is therefore that before the read, not that after it.
//
// A time of modification that is far in the future says nothing about that. Where the
// system tells when the file was changed, that counts alone.
func (s Stamp) Settled(read time.Time) bool {
	last := time.Unix(0, max(s.Modified, s.Changed))
	if s.Changed != 0 && time.Unix(0, s.Modified).After(read.Add(ahead)) {
		last = time.Unix(0, s.Changed)
	}
	return s != Stamp{} && !last.Add(settling).After(read)
}

// portable is the stamp of a file where the system tells no more than Go does.
func portable(info fs.FileInfo) Stamp {
	return Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
}
