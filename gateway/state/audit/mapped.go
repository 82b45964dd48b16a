package audit

import (
	"os"
	"runtime/debug"
	"syscall"
)

// mappedEnd tells without a system call where a file ends that several processes append to: the
// end of the file is mapped into memory.
//
// A mapping shows what any process has written at once, on file systems that keep one copy of a
// file in memory. Those known to do so are listed by name; on others, such as network file
// systems, and on systems other than Linux and macOS nothing is mapped. The mapping is read-only.
//
// The zero mappedEnd has no file. It is for one goroutine at a time, and must be closed.
type mappedEnd struct {
	part []byte // of the file, nil if none is mapped
	from int64  // where the part begins
	none bool   // of this file nothing can be mapped
}

// partSize is the size of a mapping: a multiple of any page size, and small, because the pages
// that were read count as memory of the process.
const partSize = 256 << 10

// IsAt reports whether the file still ends at size: a line ends there, and nothing follows. False
// means that it does not, or that the mapping does not tell; then the system has to be asked.
//
// A NUL after size, which no text has, is not seen.
func (e *mappedEnd) IsAt(size int64) bool {
	at := size - e.from
	if size%int64(os.Getpagesize()) == 0 || at < 0 || at >= int64(len(e.part)) {
		return false // the page after the end is not in the file, and cannot be read
	}
	last, next, ok := bytesAround(e.part, at)
	return ok && last == '\n' && next == 0
}

// bytesAround reads the bytes before and at an offset. ok is false if the file was made shorter by
// whole pages, or the disk does not return them.
func bytesAround(part []byte, at int64) (before, here byte, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	return part[at-1], part[at], true
}

// Map maps the part of a file that ends at size. [mappedEnd.IsAt] reports on this file from then
// on. Without a mapping, such as on another file system, it reports false.
func (e *mappedEnd) Map(file syscall.Conn, size int64) {
	from := size - size%partSize
	if e.none || e.part != nil && e.from == from {
		return
	}
	e.Close()
	raw, err := file.SyscallConn()
	if err != nil {
		e.none = true
		return
	}
	failed := raw.Control(func(fd uintptr) { e.part, err = mapPart(int(fd), from) })
	e.from, e.none = from, failed != nil || err != nil
}

// Close takes the mapping out of memory. The End can be used for another file then.
func (e *mappedEnd) Close() {
	if e.part != nil {
		unmap(e.part)
	}
	*e = mappedEnd{}
}
