// Package lookup finds the file that a link leads to.
//
// The rules are those of the app, as observed there on whole vaults: an exact
// path first, then the folder of the note that holds the link, then the
// shortest path. Wikilinks and Markdown links share them. Aliases, headings and
// blocks play no part.
package lookup

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/order"
)

// Files are the files of a vault, ready for looking up. It does not change and
// may be used by several goroutines.
type Files struct {
	paths  []string
	folded []string           // the same as they are compared
	byPath map[string][]int32 // folded path: several where only case differs
	byName map[string][]int32 // folded last segment: those with the shortest paths first
}

// New returns the files with these paths, which count from the vault's folder.
// They may come in any order.
func New(paths []string) *Files {
	f := &Files{
		paths:  paths,
		folded: make([]string, len(paths)),
		byPath: make(map[string][]int32, len(paths)),
		byName: make(map[string][]int32, len(paths)),
	}
	for i, p := range paths {
		key := Fold(p)
		f.folded[i] = key
		name := key[strings.LastIndexByte(key, '/')+1:]
		f.byPath[key] = append(f.byPath[key], int32(i))
		f.byName[name] = append(f.byName[name], int32(i))
	}
	for _, same := range f.byName {
		f.sort(same)
	}
	return f
}

// sort puts those with the fewest characters first, and of several the first in the order
// of listings.
func (f *Files) sort(same []int32) {
	if len(same) < 2 {
		return
	}
	type sized struct {
		place int32
		units int
	}
	sizes := make([]sized, len(same))
	for n, i := range same {
		sizes[n] = sized{i, units(f.paths[i])}
	}
	slices.SortFunc(sizes, func(a, b sized) int {
		return cmp.Or(cmp.Compare(a.units, b.units), order.Compare(f.paths[a.place], f.paths[b.place]))
	})
	for n, s := range sizes {
		same[n] = s.place
	}
}

// Len returns how many files there are.
func (f *Files) Len() int { return len(f.paths) }

// Path returns the path of the i-th file.
func (f *Files) Path(i int) string { return f.paths[i] }

// Index returns the place of the file with exactly this path.
func (f *Files) Index(path string) (i int, ok bool) {
	for _, i := range f.byPath[Fold(path)] {
		if f.paths[i] == path {
			return int(i), true
		}
	}
	return 0, false
}

// Named returns how many files have this name, which is the last segment of a
// path with its extension.
func (f *Files) Named(name string) int { return len(f.byName[Fold(name)]) }

// Resolve returns the place of the file to which a link in the note source
// leads. target is the path part of the link, without heading or block and
// percent-decoded; an empty one is the note itself. A source of "" stands for
// the vault's folder, from which the parameter file= is resolved.
func (f *Files) Resolve(target, source string) (i int, ok bool) {
	if target == "" {
		return f.Index(source)
	}
	folder := parent(source)
	wanted, fixed := anchor(target, folder)
	for _, name := range candidates(wanted) {
		if i, ok := f.find(Fold(name), folder, fixed); ok {
			return i, true
		}
	}
	return 0, false
}

// anchor turns a link that counts from a certain folder into a path of the
// vault. Such a link is not looked for elsewhere.
func anchor(target, folder string) (wanted string, fixed bool) {
	switch {
	case strings.HasPrefix(target, "/"):
		return strings.TrimLeft(target, "/"), true
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		return path.Join(folder, target), true // a path that leaves the vault keeps its "..", which no file has
	}
	return target, false
}

// candidates are the names a link may stand for, in the order in which they
// are tried: as it is where it has an extension, and as the name of a note. A
// file without an extension can therefore never be linked to.
func candidates(wanted string) []string {
	note := wanted + ".md"
	if strings.Contains(wanted[strings.LastIndexByte(wanted, '/')+1:], ".") {
		return []string{wanted, note}
	}
	return []string{note}
}

// find returns the best file for one folded name.
func (f *Files) find(wanted, folder string, fixed bool) (int, bool) {
	if whole := f.byPath[wanted]; len(whole) > 0 {
		return f.shortest(whole), true
	}
	if fixed {
		return 0, false
	}
	if near := f.byPath[join(Fold(folder), wanted)]; len(near) > 0 {
		return f.shortest(near), true
	}
	suffix := "/" + wanted
	for _, i := range f.byName[wanted[strings.LastIndexByte(wanted, '/')+1:]] {
		if strings.HasSuffix(f.folded[i], suffix) {
			return int(i), true
		}
	}
	return 0, false
}

// shortest returns the file whose path has the fewest characters, the first of
// several in the order of listings.
func (f *Files) shortest(among []int32) int {
	best := slices.MinFunc(among, func(a, b int32) int {
		return cmp.Or(cmp.Compare(units(f.paths[a]), units(f.paths[b])), order.Compare(f.paths[a], f.paths[b]))
	})
	return int(best)
}

// units counts characters as the app does, in UTF-16.
func units(path string) (n int) {
	for _, r := range path {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// Fold is the form in which names are compared: case is ignored, and the two
// spellings that Unicode has of many letters are one, because systems differ in
// which they store.
func Fold(name string) string {
	lower := strings.ToLower(name)
	if norm.NFC.IsNormalString(lower) {
		return lower
	}
	return norm.NFC.String(lower)
}

func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)]
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}
