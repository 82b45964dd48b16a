package index

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
)

// Update returns the index after changes at some paths: of files, or of folders
// with everything below them, that may be new, changed or gone. Paths that no
// file of the vault can have are passed over.
func (x *Index) Update(folder *disk.Folder, paths []string, memory Memory, begun time.Time) (*Index, error) {
	l := newLook(nil, memory, begun)
	changes := topmost(append(namesOf(folder, paths), paths...))
	for _, changed := range changes {
		path, err := disk.ParsePath(changed)
		if err != nil {
			continue
		}
		if _, err := folder.Stamp(path); err == nil {
			l.add(l.at(path, byPath{folder, path}))
			continue
		}
		// It is gone, shut, or a folder.
		if err := folder.WalkParallel(path, l.visit); err != nil && !disk.IsMissing(err) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
	}
	return newIndex(x.replace(changes, l.files), x), nil
}

// With returns the index of the vault in which a file has been written.
func (x *Index) With(path disk.Path, text []byte, written time.Time) *Index {
	s := system.Stamp{Size: int64(len(text)), Modified: written.UnixNano()}
	return newIndex(x.replace([]string{path.String()}, []*File{newFile(path, s, Read(path, text), false)}), x)
}

// namesOf returns paths as the disk has them: a change may be told of a file in
// another spelling, or by its short name.
func namesOf(folder *disk.Folder, paths []string) []string {
	var named []string
	for _, told := range paths {
		if path, err := disk.ParsePath(told); err == nil {
			if path, err = folder.Named(path); err == nil {
				named = append(named, path.String())
			}
		}
	}
	return named
}

// byPath is a file that is read by its path.
type byPath struct {
	folder *disk.Folder
	path   disk.Path
}

func (b byPath) Stamp() (system.Stamp, error) { return b.folder.Stamp(b.path) }

func (b byPath) ReadInto([]byte) ([]byte, system.Stamp, error) { return b.folder.ReadHere(b.path) }

// topmost returns the paths that lie below no other, sorted.
func topmost(paths []string) []string {
	sorted := slices.Sorted(slices.Values(paths))
	var top []string
	for _, path := range sorted {
		if !isBelow(path, top) {
			top = append(top, path)
		}
	}
	return top
}

// few is how many paths are compared with a path one by one.
const few = 8

// isBelow reports whether a path, or a folder above it, is one of the sorted
// paths.
func isBelow(path string, paths []string) bool {
	if len(paths) <= few {
		return slices.ContainsFunc(paths, func(above string) bool {
			rest, ok := strings.CutPrefix(path, above)
			return ok && (rest == "" || rest[0] == '/')
		})
	}
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if _, found := slices.BinarySearch(paths, path[:end]); found {
			return true
		}
	}
	return false
}

// replace returns the files with those below the changed paths taken out and
// others put in, in the order of listings.
func (x *Index) replace(changed []string, fresh []*File) []*File {
	sortFiles(fresh)
	kept := make([]*File, 0, len(x.Files))
	for _, f := range x.Files {
		if !isBelow(f.Path.String(), changed) {
			kept = append(kept, f)
		}
	}
	if len(fresh) == 0 {
		return kept
	}
	files := make([]*File, 0, len(kept)+len(fresh))
	for _, f := range fresh {
		before, _ := slices.BinarySearchFunc(kept, f, inOrder)
		files = append(append(files, kept[:before]...), f)
		kept = kept[before:]
	}
	return append(files, kept...)
}
