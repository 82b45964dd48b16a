package budget

import (
	"runtime"
	"runtime/debug"
)

// base counts as heap in use. It is never read or written, so it takes address space and no memory.
var base []byte

// KeepGarbage sets how much garbage the process may have before it is collected: percent of the heap in use, and at
// least least bytes. Without least, a process with a small heap collects after every few calls, which took a quarter of
// the time of a rename with 22 notes.
func KeepGarbage(percent int, least int64) {
	debug.SetGCPercent(percent)
	base = make([]byte, least*100/int64(percent))
	runtime.KeepAlive(base) // nothing else reads it
}
