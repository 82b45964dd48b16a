// Package index knows what the files of a vault hold: the headings, links,
// tags, tasks and properties of every note, and which note leads to which.
//
// An [Index] is the state of a vault at one moment and does not change. A new
// one is built from the old: only files whose size or time differ are read
// again. One file that cannot be read, or vanishes meanwhile, never spoils the
// rest. The index holds no text: a search reads the notes.
package index

import (
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/tally"
)

// Index is a vault at one moment. It is safe for use by several goroutines.
type Index struct {
	// Files are all visible files, in the order of listings.
	Files []*File

	derived
}

// Memory keeps facts from one process to the next. Its methods are called from
// several goroutines.
type Memory interface {
	// HasAny reports whether anything can be recalled.
	HasAny() bool
	// Recall returns the facts of the file with exactly this path and stamp.
	Recall(disk.Path, system.Stamp) (Facts, bool)
	// WantsFilters reports whether notes that are read get a filter, which only searches use.
	WantsFilters() bool
	// Learn is told of every file that had to be read, and its text, if its stamp
	// is settled. It does not keep the text.
	Learn(*File, []byte)
	// Learned is called once no other file will be learned by this look.
	Learned()
}

// Forgetful is a Memory of nothing.
type Forgetful struct{}

// HasAny says no.
func (Forgetful) HasAny() bool { return false }

// Recall knows nothing.
func (Forgetful) Recall(disk.Path, system.Stamp) (Facts, bool) { return "", false }

// WantsFilters says yes: what is not kept is used at once.
func (Forgetful) WantsFilters() bool { return true }

// Learn learns nothing.
func (Forgetful) Learn(*File, []byte) {}

// Learned does nothing.
func (Forgetful) Learned() {}

// Build looks at every file below folder and reads those that neither old, which
// may be nil, nor memory knows as they are. Its error is that of listing the
// vault's own folder. begun is a moment before the call: stamps
// that are younger are not trusted. The files are counted, unless t is nil.
func Build(folder *disk.Folder, old *Index, memory Memory, begun time.Time, t *tally.Tally) (*Index, error) {
	l := newLook(old, memory, begun)
	l.tally, l.first = t, old == nil
	if err := folder.Counting(t.Found).WalkParallel(disk.Path{}, l.visit); err != nil {
		return nil, err
	}
	memory.Learned()
	sortFiles(l.files)
	return newIndex(l.files, l.old), nil
}

// newIndex makes an index of files in the order of listings, where old, which
// may be nil, was the one before.
func newIndex(files []*File, old *Index) *Index {
	x := &Index{Files: files}
	x.deriveFrom(old)
	return x
}

// Resolve returns where in Files the file is to which a link leads that stands
// in no note: the one that the parameter file= means.
func (x *Index) Resolve(name string) (place int, ok bool) { return x.names().Resolve(name, "") }

// Place returns where in Files the file with exactly this path is.
func (x *Index) Place(path string) (place int, ok bool) { return x.names().Index(path) }

// ResolveFrom returns where in Files the file is to which a link leads that is in
// the file source. target is the path part of the link.
func (x *Index) ResolveFrom(target, source string) (place int, ok bool) {
	return x.names().Resolve(target, source)
}
