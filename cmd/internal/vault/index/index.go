// Package index knows what the files of a vault hold: the headings, links,
// tags, tasks and properties of every note, and which note leads to which.
//
// An [Index] is the state of a vault at one moment and does not change. A new
// one is built from the old: only files whose size or time differ are read
// again. One file that cannot be read, or vanishes meanwhile, never spoils the
// rest. The index holds no text: a search reads the notes.
package index

import (
	"slices"
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/order"
)

// Index is a vault at one moment. It is safe for use by several goroutines.
type Index struct {
	// Files are all visible files, in the order of listings.
	Files []*File

	names func() *lookup.Files
	graph func() *Graph
}

// File is one file of the vault.
type File struct {
	Path     disk.Path
	Size     int64
	Modified int64 // Unix nanoseconds
	// Facts are what a note or a canvas holds. They are nil for other files and
	// for one that could not be read.
	Facts *Facts
}

// IsNote reports whether the file is a Markdown note.
func (f *File) IsNote() bool { return f.Path.Ext() == "md" }

// Build looks at every file below folder and reads those that old, which may be
// nil, does not know as they are. Its error is that of listing the vault's own
// folder.
func Build(folder *disk.Folder, old *Index) (*Index, error) {
	known := map[disk.Path]*File{}
	if old != nil {
		for _, f := range old.Files {
			known[f.Path] = f
		}
	}
	var mu sync.Mutex
	var files []*File
	err := folder.WalkParallel(disk.Path{}, func(e disk.Entry) {
		if e.IsDir {
			return
		}
		file := look(e, known[e.Path])
		if file == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		files = append(files, file)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b *File) int { return order.Compare(a.Path.String(), b.Path.String()) })
	return of(files), nil
}

// of makes an index of files in the order of listings. What is derived from
// them is made when somebody asks for it.
func of(files []*File) *Index {
	x := &Index{Files: files}
	x.names = sync.OnceValue(x.makeNames)
	x.graph = sync.OnceValue(x.makeGraph)
	return x
}

// look returns a file as it is now: the known one if nothing about it changed,
// nil if it is gone.
func look(e disk.Entry, known *File) *File {
	stamp, err := e.Stamp()
	if err != nil {
		return nil
	}
	if known != nil && known.is(stamp) {
		return known
	}
	file := &File{Path: e.Path}
	file.note(stamp)
	if read := reader(e.Path.Ext()); read != nil {
		text, stamp, err := e.Read()
		switch {
		case err == nil:
			file.note(stamp) // of the text; unknown if it was written meanwhile
			file.Facts = read(text)
		case disk.IsMissing(err):
			return nil
		}
	}
	return file
}

func (f *File) note(s disk.Stamp) { f.Size, f.Modified = s.Size, s.Modified }

func (f *File) is(s disk.Stamp) bool { return f.Size == s.Size && f.Modified == s.Modified }

// Place returns where in Files the file with exactly this path is.
func (x *Index) Place(path string) (place int, ok bool) { return x.names().Index(path) }

func (x *Index) makeNames() *lookup.Files {
	paths := make([]string, len(x.Files))
	for i, f := range x.Files {
		paths[i] = f.Path.String()
	}
	return lookup.New(paths)
}
