package change

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Several changes that are made as one may touch a file more than once, as in a batch or the undo of a batch.
// An interrupted change can only be settled if each file has one state before and one after it. So all steps of
// a file are merged into one.

// file is the joint effect of all steps on one file.
type file struct {
	origin  disk.Path // path before all steps; the zero Path for a file that is created
	path    disk.Path // path after the steps so far
	before  FileState
	now     FileState
	removed bool
	last    Step // has the mode, times and trash of the merged step
}

// mergeSteps returns steps with the same effect, no two of which concern the same file. It returns an error if
// large files, which are not in memory, exchange their places.
func mergeSteps(steps []Step) ([]Step, error) {
	if !touchesTwice(steps) {
		return steps, nil
	}
	var folders []Step
	var files []*file
	at := map[disk.Path]*file{}      // by current path
	removed := map[disk.Path]*file{} // by original path
	for _, s := range steps {
		if s.Before.Folder || s.After.Folder {
			folders = mergeFolder(folders, s)
			continue
		}
		f := at[s.source()]
		switch {
		case f != nil:
		case s.Before.Exists:
			f = &file{origin: s.source(), path: s.source(), before: s.Before, now: s.Before}
			files = append(files, f)
		case removed[s.Path] != nil: // another file takes its path
			f = removed[s.Path]
			f.removed = false
			delete(removed, s.Path)
		default:
			f = &file{}
			files = append(files, f)
		}
		delete(at, s.source())
		f.now = s.After
		f.last = keepTimes(f.last, s)
		if !s.After.Exists {
			f.removed = true
			if f.origin != (disk.Path{}) {
				removed[f.origin] = f
			}
			continue
		}
		f.path = s.Path
		at[s.Path] = f
	}
	return orderFiles(files, folders)
}

// keepTimes returns the later step of a file, with the modification time and the mode of the earlier one unless
// it sets its own.
func keepTimes(earlier, later Step) Step {
	if later.Modified == 0 {
		later.Modified = earlier.Modified
	}
	if later.Mode == 0 {
		later.Mode = earlier.Mode
	}
	later.origins = append(slices.Clone(earlier.origins), later.origins...)
	return later
}

// touchesTwice reports whether two steps concern the same file.
func touchesTwice(steps []Step) bool {
	sources := map[disk.Path]bool{}
	targets := map[disk.Path]bool{}
	for _, s := range steps {
		if s.Before.Folder || s.After.Folder {
			continue
		}
		if sources[s.source()] || targets[s.source()] || targets[s.Path] {
			return true
		}
		sources[s.source()] = true
		targets[s.Path] = true
	}
	return false
}

// mergeFolder adds a step for a folder. A step that reverses an earlier one removes that one instead.
func mergeFolder(folders []Step, s Step) []Step {
	earlier := slices.IndexFunc(folders, func(f Step) bool { return f.Path == s.Path })
	if earlier >= 0 {
		return slices.Delete(folders, earlier, earlier+1)
	}
	return append(folders, s)
}

// orderFiles returns the steps of files in an order in which each path is free when it is needed: folders are
// created, files are removed, moved, changed and created, and at last folders are removed.
func orderFiles(files []*file, folders []Step) ([]Step, error) {
	var steps, changed []Step
	for _, f := range folders {
		if f.After.Exists {
			steps = append(steps, f)
		}
	}
	moving := map[disk.Path]*file{} // by origin
	for _, f := range files {
		s := f.last
		s.Before = f.before
		s.After = f.now
		s.From = disk.Path{}
		switch {
		case f.origin == (disk.Path{}) && f.removed: // created and removed again
		case f.origin == (disk.Path{}):
			s.Path = f.path
			changed = append(changed, s)
		case f.removed:
			s.Path = f.origin
			s.After = FileState{}
			steps = append(steps, s)
		case f.origin != f.path:
			moving[f.origin] = f
		case !f.before.Equal(f.now):
			s.Path = f.path
			changed = append(changed, s)
		}
	}
	for _, f := range files {
		if moving[f.origin] != f {
			continue
		}
		var err error
		if steps, err = appendMoves(steps, f, moving); err != nil {
			return nil, err
		}
	}
	steps = append(steps, changed...)
	for _, f := range folders {
		if !f.After.Exists {
			steps = append(steps, f)
		}
	}
	return steps, nil
}

// appendMoves appends the move of a file, after the moves of the files that are at its target. In a ring of
// files that take each other's place, each file gets the text of the one that moves to its path.
func appendMoves(steps []Step, f *file, moving map[disk.Path]*file) ([]Step, error) {
	chain := []*file{f}
	for next := moving[f.path]; next != nil && next != f; next = moving[next.path] {
		chain = append(chain, next)
	}
	isRing := moving[chain[len(chain)-1].path] == f
	for _, member := range slices.Backward(chain) {
		delete(moving, member.origin)
		s := member.last
		s.Path = member.path
		s.From = member.origin
		s.Before = member.before
		s.After = member.now
		if isRing {
			i := slices.IndexFunc(chain, func(other *file) bool { return other.origin == member.path })
			s.From = disk.Path{}
			s.Before = chain[i].before
			if s.Before.Image.Exists || s.After.Image.Exists {
				return nil, answer.Failure(
					"Files that took each other's place cannot be changed together, because %q is large. Take the changes back one by one.",
					answer.Verbatim(member.path.String()),
				)
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}
