package journal

import (
	"slices"
	"time"
)

// Version is a note as it was before a change.
type Version struct {
	ID      string // of the entry that changed it
	Time    time.Time
	Command string
	State   State
	Path    string // what it was called then
	Image   Image  // its bytes can be had by [Journal.Object]
}

// Versions returns what the note at path was before each change, the newest
// first, at most limit of them, a thousand if that is 0. It follows a note to
// where it was moved from, as far as moves are known to have been made; what
// another note of the same name once was is there too.
func (j *Journal) Versions(path string, limit int) (versions []Version, damage []Damage, err error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	damage, err = j.each("", false, func(e Entry) (stop bool) {
		for _, s := range slices.Backward(e.Steps) {
			// Of a move that failed it is not known where the note was.
			moved := s.From != "" && (e.State == Done || e.State == Undone)
			if s.Path != path && (moved || s.Source() != path) {
				continue
			}
			if moved {
				path = s.From
			}
			if s.Before.Exists && !s.isPureMove() && len(versions) < limit {
				versions = append(versions, Version{e.ID, e.Time, e.Command, e.State, s.Source(), s.Before})
			}
		}
		return len(versions) >= limit
	})
	return versions, damage, err
}
