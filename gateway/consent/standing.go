package consent

import (
	"maps"
	"path"
	"strings"
	"sync"
	"time"
)

const (
	// maxStanding is how many folders the user can have approved and still know which.
	maxStanding = 64
	// standingYes is how long an approval for a folder is good.
	standingYes = 8 * time.Hour
)

// standing has a user's approvals for sessions and the notes in some folders, in memory only.
// It is safe for concurrent use.
type standing struct {
	mu    sync.Mutex
	watch stopwatch
	until map[area]time.Duration
}

// area is a folder, with everything in it, for a session.
type area struct{ session, folder string }

func newStanding(now func() time.Time) *standing {
	return &standing{watch: newStopwatch(now), until: map[area]time.Duration{}}
}

// grant takes an approval of a session for the notes in a folder and the folders in it. The folder is
// a path in the vault as the gateway writes it. The vault as a whole, a path that is not plain, and more
// than maxStanding folders are not granted: the user is asked again.
func (s *standing) grant(session, folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.watch.elapsed()
	maps.DeleteFunc(s.until, func(_ area, end time.Duration) bool { return now >= end })
	_, again := s.until[area{session, folder}]
	if isPlain(folder) && (again || len(s.until) < maxStanding) {
		s.until[area{session, folder}] = now + standingYes
	}
}

// covers reports whether there is an approval for a call on the note at a path, as the gateway
// writes it; never for a destructive call. Folders are compared by whole segments, byte for byte:
// another spelling of the same folder is not covered.
func (s *standing) covers(session, note string, destructive bool) bool {
	if destructive || !isPlain(note) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.until) == 0 {
		return false
	}
	now := s.watch.elapsed()
	for folder := path.Dir(note); folder != "."; folder = path.Dir(folder) {
		if end, granted := s.until[area{session, folder}]; granted && now < end {
			return true
		}
	}
	return false
}

// maxPath is what systems take of a path.
const maxPath = 4096

// isPlain reports whether a path leads nowhere else on any system: no relative, empty or hidden
// segments, no other separators, and no segment that Windows would shorten to one.
func isPlain(p string) bool {
	if p == "" || len(p) > maxPath || strings.ContainsAny(p, "\\\x00") {
		return false
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == "" || segment[0] == '.' || strings.TrimRight(segment, ". ") != segment {
			return false
		}
	}
	return true
}

// stopwatch measures time so that nothing expired becomes valid again. Setting the clock forward
// and sleep of the machine move it forward; setting the clock back does not move it.
type stopwatch struct {
	now  func() time.Time
	last time.Time
	run  time.Duration
}

func newStopwatch(now func() time.Time) stopwatch {
	if now == nil {
		now = time.Now
	}
	return stopwatch{now: now, last: now()}
}

// elapsed returns the time since the stopwatch was made.
func (w *stopwatch) elapsed() time.Duration {
	now := w.now()
	// The monotonic clock stops while some machines sleep, and the wall clock can be set: the
	// larger step counts.
	w.run += max(0, now.Sub(w.last), now.Round(0).Sub(w.last.Round(0)))
	w.last = now
	return w.run
}
