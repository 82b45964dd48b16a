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
	// maxSession is a working day: an approval from yesterday has expired.
	maxSession = 12 * time.Hour
)

// Standing has a user's approvals for one session and the notes in some folders, in memory only.
// It is safe for concurrent use. The zero Standing covers nothing and takes nothing.
type Standing struct {
	mu    sync.Mutex
	watch stopwatch
	until map[area]time.Duration
}

// area is a folder of a vault, with everything in it.
type area struct{ vault, folder string }

// NewStanding makes a Standing that covers nothing. A nil clock is the system's.
func NewStanding(now func() time.Time) *Standing {
	return &Standing{watch: newStopwatch(now), until: map[area]time.Duration{}}
}

// Grant takes an approval for the notes in a folder and the folders in it, until a moment within
// twelve hours. The folder is a path in the vault as the gateway writes it; the vault as a whole
// cannot be granted. A second approval for the same folder replaces the first.
//
// Its errors are *[Invalid] and *[Full].
func (s *Standing) Grant(vault, folder string, until time.Time) error {
	if vault == "" {
		return &Invalid{"vault", "is empty"}
	}
	if !isPlain(folder) {
		return &Invalid{"folder", "is not a plain path of a folder in the vault"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		return &Full{"standing answers", 0}
	}
	now := s.watch.elapsed()
	life := until.Sub(s.watch.last)
	if life <= 0 || life > maxSession {
		return &Invalid{"until", "is not within twelve hours"}
	}
	maps.DeleteFunc(s.until, func(_ area, end time.Duration) bool { return now >= end })
	if _, again := s.until[area{vault, folder}]; !again && len(s.until) >= maxStanding {
		return &Full{"standing answers", maxStanding}
	}
	s.until[area{vault, folder}] = now + life
	return nil
}

// Covers reports whether there is an approval for a call on the note at a path, as the gateway
// writes it; never for a destructive call. Folders are compared by whole segments, byte for byte:
// another spelling of the same folder is not covered.
func (s *Standing) Covers(vault, note string, destructive bool) bool {
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
		if end, granted := s.until[area{vault, folder}]; granted && now < end {
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
