package change

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Several changes that are made as one touch a file more than once: an undo of a batch, a batch. What is broken off can only be
// settled if each file has one state before and one after. So the steps of a file become one.

// file is what becomes of one file by all steps together.
type file struct {
	origin  disk.Path // where it is before them; the zero Path for one that is made
	path    disk.Path // where it is now
	before  FileState
	now     FileState
	removed bool
	last    Step // the one that says how it is made, removed or left
}

// mergeSteps returns steps with the same result, of which none concerns a file that another one does. The error is that of
// steps that exchange large files with each other, which are not in memory.
func mergeSteps(steps []Step) ([]Step, error) {
	if !touchesTwice(steps) {
		return steps, nil
	}
	var folders []Step
	var files []*file
	at := map[disk.Path]*file{}      // by where it is now
	removed := map[disk.Path]*file{} // by where it was at first
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
		case removed[s.Path] != nil: // another file takes its place
			f = removed[s.Path]
			f.removed = false
			delete(removed, s.Path)
		default:
			f = &file{}
			files = append(files, f)
		}
		delete(at, s.source())
		if f.now, f.last = s.After, keepTimes(f.last, s); !s.After.Exists {
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

// keepTimes returns the later step of a file; the time and the mode that an earlier one sets stay, unless it sets others.
func keepTimes(earlier, later Step) Step {
	if later.Modified == 0 {
		later.Modified = earlier.Modified
	}
	if later.Mode == 0 {
		later.Mode = earlier.Mode
	}
	later.of = append(slices.Clone(earlier.of), later.of...)
	return later
}

// touchesTwice reports whether a file is concerned by two steps.
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

// mergeFolder adds a step of a folder. One that takes back an earlier one leaves both out.
func mergeFolder(folders []Step, s Step) []Step {
	earlier := slices.IndexFunc(folders, func(f Step) bool { return f.Path == s.Path })
	if earlier >= 0 {
		return slices.Delete(folders, earlier, earlier+1)
	}
	return append(folders, s)
}

// orderFiles returns the steps of files in an order in which each path is free when it is taken: folders are made, then files are
// removed, moved, changed and made, and folders are removed at last.
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
		case f.origin == (disk.Path{}) && f.removed: // it was made and removed
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

// appendMoves appends the move of a file, after those of the files that are where it is to go. In a ring of files that take
// each other's place each gets the text of the one that comes there.
func appendMoves(steps []Step, f *file, moving map[disk.Path]*file) ([]Step, error) {
	chain := []*file{f}
	for next := moving[f.path]; next != nil && next != f; next = moving[next.path] {
		chain = append(chain, next)
	}
	isRing := moving[chain[len(chain)-1].path] == f
	for _, one := range slices.Backward(chain) {
		delete(moving, one.origin)
		s := one.last
		s.Path = one.path
		s.From = one.origin
		s.Before = one.before
		s.After = one.now
		if isRing {
			i := slices.IndexFunc(chain, func(other *file) bool { return other.origin == one.path })
			s.From = disk.Path{}
			s.Before = chain[i].before
			if s.Before.Image.Exists || s.After.Image.Exists {
				return nil, answer.Failure(
					"Files that took each other's place cannot be changed together, because %q is large. Take the changes back one by one.",
					answer.Verbatim(one.path.String()),
				)
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}
