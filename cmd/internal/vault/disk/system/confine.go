package system

import "fmt"

// Confinement says to what the process is confined, so that a fault in reading a note
// cannot reach anything else of the user: other files, the network, other processes.
//
// It is the second line of defence. The first, package disk, decides which files are
// notes; this one works even where the first has a hole. A system without Landlock goes
// without, and the Confinement says so. The zero Confinement is none.
type Confinement struct {
	level int    // ABI version of Landlock, 0 when there is none
	why   string // there is none
}

// Unconfined is the state of a process that was not confined, and why.
func Unconfined(why string) Confinement { return Confinement{why: why} }

// String returns the state for people, such as "landlock 7: files, TCP, signals" or
// "none: Landlock is for Linux". Newer kernels restrict more:
// https://docs.kernel.org/userspace-api/landlock.html lists what came with which level.
func (c Confinement) String() string {
	if c.level == 0 {
		return "none: " + c.why
	}
	held := "files"
	for _, more := range []struct {
		since int
		what  string
	}{{4, "TCP"}, {6, "signals, abstract sockets"}, {9, "sockets in files"}, {10, "UDP"}} {
		if c.level >= more.since {
			held += ", " + more.what
		}
	}
	return fmt.Sprintf("landlock %d: %s", c.level, held)
}
