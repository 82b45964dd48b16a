// Package confine locks the process into the few folders that it works in, so
// that a fault in reading a note cannot reach anything else of the person whose
// vault it is: other files, the network, other processes.
//
// It is the second wall. The first one, package disk, decides which files are
// notes; this one holds even where the first has a hole. A system that has no
// such wall goes without, and [State] says so.
package confine

import "fmt"

// State says what the process is locked into.
type State struct {
	level int    // of Landlock, 0 when there is none
	why   string // there is none
}

// Unconfined is the state of a process that was not locked in, and why.
func Unconfined(why string) State { return State{why: why} }

// Holds reports whether the process is locked in.
func (s State) Holds() bool { return s.level > 0 }

// String returns the state for people, such as "landlock 7: files, TCP,
// signals" or "none: Landlock is for Linux". Newer kernels hold more:
// https://docs.kernel.org/userspace-api/landlock.html lists what came with
// which level.
func (s State) String() string {
	if !s.Holds() {
		return "none: " + s.why
	}
	held := "files"
	for _, more := range []struct {
		since int
		what  string
	}{{4, "TCP"}, {6, "signals, abstract sockets"}, {9, "sockets in files"}, {10, "UDP"}} {
		if s.level >= more.since {
			held += ", " + more.what
		}
	}
	return fmt.Sprintf("landlock %d: %s", s.level, held)
}
