package consent

import (
	"maps"
	"path"
	"strings"
	"sync"
	"time"
)

const (
	// maxStanding is the maximum number of approved folders, so that the user can remember them.
	maxStanding = 64
	// standingLife is how long an approval for a folder is valid.
	standingLife = 8 * time.Hour
)

// standing keeps the user's approvals of a session for the notes in a folder, in memory only.
// It is safe for concurrent use.
type standing struct {
	mu    sync.Mutex
	watch stopwatch
	until map[area]time.Duration
}

// area is a session and a folder with everything in it.
type area struct{ session, folder string }

func newStanding(now func() time.Time) *standing {
	return &standing{watch: newStopwatch(now), until: map[area]time.Duration{}}
}

// grant stores an approval of a session for all notes below a folder, a path in the vault as the gateway
// spells it. It ignores the root of the vault, paths that are not plain, and folders beyond maxStanding:
// the user is asked again.
func (s *standing) grant(session, folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.watch.elapsed()
	maps.DeleteFunc(s.until, func(_ area, end time.Duration) bool { return now >= end })
	_, isRenewal := s.until[area{session, folder}]
	if isPlain(folder) && (isRenewal || len(s.until) < maxStanding) {
		s.until[area{session, folder}] = now + standingLife
	}
}

// covers reports whether there is an approval for a call on a note, a path as the gateway spells it;
// never for a destructive call. Folders are compared by whole segments, byte for byte: another
// spelling of the same folder is not covered.
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
		if end, isGranted := s.until[area{session, folder}]; isGranted && now < end {
			return true
		}
	}
	return false
}

// maxPath is the maximum length of a path on common systems, in bytes.
const maxPath = 4096

// isPlain reports whether a path means the same on every system: it has no relative, empty or hidden
// segments, no other separators, and no segment whose end Windows would strip.
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
// and sleep of the machine advance it; setting the clock back does not turn it back.
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
	// The monotonic clock stops while some machines sleep, and the wall clock can be set back: use
	// the larger step.
	w.run += max(0, now.Sub(w.last), now.Round(0).Sub(w.last.Round(0)))
	w.last = now
	return w.run
}
