package index

import (
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/processors"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// File is one file of the vault. It does not change.
type File struct {
	Path disk.Path
	// Stamp is that of the moment in which the file was read. It is zero for a file that
	// was written meanwhile, and for one that is not read.
	Stamp system.Stamp
	// Filter is that of the text of a note. It is "" where the text was not read for this
	// index.
	Filter trigram.Filter

	settled  bool // the stamp can be trusted: as long as it stays, the facts do
	closed   bool // by its text: it has no facts
	hasFacts bool
	facts    atomic.Pointer[Facts] // nil while they are on the shelf
	shelf    atomic.Pointer[Shelf]
}

func newFile(path disk.Path, s system.Stamp, facts Facts, settled bool) *File {
	f := &File{Path: path, Stamp: s, settled: settled, hasFacts: facts.Known()}
	f.facts.Store(&facts)
	return f
}

// IsNote reports whether the file is a Markdown note.
func (f *File) IsNote() bool { return f.Path.Ext() == "md" }

// Settled reports whether the facts are valid as long as the stamp stays the same.
func (f *File) Settled() bool { return f.settled }

// HasFacts reports whether there are facts, wherever they are.
func (f *File) HasFacts() bool { return f.hasFacts }

// Facts are those of a note or a canvas. They are "" for other files and for one that could
// not be read.
func (f *File) Facts() Facts {
	if facts := f.facts.Load(); facts != nil {
		return *facts
	}
	facts := f.shelf.Load().Get(f)
	f.facts.Store(&facts)
	return facts
}

// Shelf returns facts that were taken out of memory. It is used by several goroutines.
type Shelf struct {
	// Get returns the facts of a file. It never fails: damaged facts are computed again.
	Get func(*File) Facts
	// GetAll calls give for those of many files that it can read together, with the place
	// of each, from several goroutines.
	GetAll func(files []*File, give func(i int, facts Facts))
}

// fewShelved is how many files are read one by one.
const fewShelved = 64

// unshelve brings the facts of many files into memory, as far as they can be read together.
func unshelve(files []*File) {
	var shelved []*File
	for _, f := range files {
		if f.facts.Load() == nil {
			shelved = append(shelved, f)
		}
	}
	if len(shelved) > fewShelved {
		shelved[0].shelf.Load().GetAll(shelved, func(i int, facts Facts) { shelved[i].facts.Store(&facts) })
	}
}

// Shelve takes the facts of a file out of memory. The shelf returns them when they are
// needed next.
func (f *File) Shelve(on *Shelf) {
	f.shelf.Store(on)
	f.facts.Store(nil)
}

// share is how many files one goroutine takes at a time.
const share = 64

// Collect calls ask for the facts of each file that has some, on all processors, and
// returns the results in the order of the files. That of a file without facts is the zero
// value.
func Collect[T any](files []*File, ask func(Facts) T) []T {
	unshelve(files)
	answers := make([]T, len(files))
	processors.Each(len(files), share, func(start, end int) {
		for i := start; i < end; i++ {
			if files[i].HasFacts() {
				answers[i] = ask(files[i].Facts())
			}
		}
	})
	return answers
}
