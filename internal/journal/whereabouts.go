package journal

import (
	"context"
	"slices"
)

// Whereabouts is what became of a note after a change. The zero Whereabouts is not known: it has gone without this program.
type Whereabouts struct {
	Path string // where it is now, "" if it was removed or nothing is known
	// Removed is the last text of a note that was removed; the zero Image for another one.
	Removed Image
}

// Trails are what became of notes, for one who goes through all entries from the newest one back.
type Trails struct{ of map[string]Whereabouts }

// at returns what became of what was at a path, before the entries that were passed.
func (f *Trails) at(path string) Whereabouts {
	if now, passed := f.of[path]; passed {
		return now
	}
	return Whereabouts{Path: path}
}

// Pass goes back over an entry, and returns for each of its steps what became of its note.
func (f *Trails) Pass(e Entry) []Whereabouts {
	if f.of == nil {
		f.of = map[string]Whereabouts{}
	}
	trails := make([]Whereabouts, len(e.Steps))
	for i, s := range slices.Backward(e.Steps) {
		after := f.at(s.Path)
		source, before := s.back(e, after)
		trails[i] = after
		if s.isRemoval(e) {
			trails[i] = before
		}
		f.of[s.Path] = Whereabouts{} // what was there before a move is not known
		f.of[source] = before
	}
	return trails
}

// back returns where the note of a step was before it, and what became of what was there, by what became of the note that
// is there after it.
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

// isRemoval reports whether a step has removed a file for good, as far as is known.
func (s Step) isRemoval(e Entry) bool {
	isGone := s.Before.Exists && !s.After.Exists
	return e.State == Done && s.From == "" && isGone
}

// WhereaboutsOf returns what became of the note that was at a path after the change with an id, by the entries since. The error is
// that of ctx, or of a journal that cannot be read.
func (j *Journal) WhereaboutsOf(ctx context.Context, path, id string) (Whereabouts, error) {
	for range maxMoves {
		var since []Entry // the newest first
		_, err := j.Each(ctx, Filter{Path: path}, func(e Entry) bool {
			if e.ID > id {
				since = append(since, e)
			}
			return e.ID > id
		})
		if err != nil {
			return Whereabouts{}, err
		}
		moved := false
		for _, e := range slices.Backward(since) {
			for _, s := range e.Steps {
				isMove := s.From == path && (e.State == Done || e.State == Undone)
				switch {
				case isMove:
					path = s.Path
					id = e.ID
					moved = true
				case s.Path == path && s.isRemoval(e):
					return Whereabouts{Removed: s.Before}, nil
				}
			}
			if moved {
				break
			}
		}
		if !moved {
			return Whereabouts{Path: path}, nil
		}
	}
	return Whereabouts{}, nil
}

// maxMoves is through how many moves a note is followed.
const maxMoves = 1000
