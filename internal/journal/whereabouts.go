package journal

import (
	"context"
	"slices"
)

// Whereabouts is what became of a note after a change. The zero Whereabouts is unknown: the note disappeared
// without this program.
type Whereabouts struct {
	Path string // its current path; "" if it was removed or is unknown
	// Removed is the last image of a note that was removed, otherwise the zero Image.
	Removed Image
}

// Trails tracks what became of notes, for a caller that goes through all entries from the newest one back.
type Trails struct{ byPath map[string]Whereabouts }

// at returns what became of the file at a path, as of before the entries passed so far.
func (f *Trails) at(path string) Whereabouts {
	if now, known := f.byPath[path]; known {
		return now
	}
	return Whereabouts{Path: path}
}

// Pass steps back over an entry. It returns for each of its steps what became of the note.
func (f *Trails) Pass(e Entry) []Whereabouts {
	if f.byPath == nil {
		f.byPath = map[string]Whereabouts{}
	}
	trails := make([]Whereabouts, len(e.Steps))
	for i, s := range slices.Backward(e.Steps) {
		after := f.at(s.Path)
		source, before := s.back(e, after)
		trails[i] = after
		if s.isRemoval(e) {
			trails[i] = before
		}
		f.byPath[s.Path] = Whereabouts{} // nothing is known about a file at this path before the move
		f.byPath[source] = before
	}
	return trails
}

// back returns the path of a step's note before the step, and what became of the note there, given what became
// of the note at its path after the step.
func (s Step) back(e Entry, after Whereabouts) (source string, now Whereabouts) {
	isMove := s.From != "" && (e.State == Done || e.State == Undone)
	isNew := e.State == Done && e.Undoes == "" && s.creates()
	switch {
	case isMove:
		return s.From, after
	case s.isRemoval(e):
		return s.Path, Whereabouts{Removed: s.Before}
	case isNew:
		return s.Path, Whereabouts{}
	}
	return s.Path, after
}

// isRemoval reports whether a step permanently removed a file, as far as is known.
func (s Step) isRemoval(e Entry) bool {
	isGone := s.Before.Exists && !s.After.Exists
	return e.State == Done && s.From == "" && isGone
}

// WhereaboutsOf returns what became of the note that was at a path after the change with the id, according to
// later entries. The error is that of ctx, or of a journal that cannot be read.
func (j *Journal) WhereaboutsOf(ctx context.Context, path, id string) (Whereabouts, error) {
	for range maxMoves {
		var since []Entry // newest first
		_, err := j.Each(ctx, Filter{Path: path}, func(e Entry) bool {
			if e.ID > id {
				since = append(since, e)
			}
			return e.ID > id
		})
		if err != nil {
			return Whereabouts{}, err
		}
		isMoved := false
		for _, e := range slices.Backward(since) {
			for _, s := range e.Steps {
				isMove := s.From == path && (e.State == Done || e.State == Undone)
				switch {
				case isMove:
					path = s.Path
					id = e.ID
					isMoved = true
				case s.Path == path && s.isRemoval(e):
					return Whereabouts{Removed: s.Before}, nil
				}
			}
			if isMoved {
				break
			}
		}
		if !isMoved {
			return Whereabouts{Path: path}, nil
		}
	}
	return Whereabouts{}, nil
}

// maxMoves limits the moves through which a note is followed.
const maxMoves = 1000
