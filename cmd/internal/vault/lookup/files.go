// Package lookup finds the file that a link leads to.
//
// The rules are those of the app, as observed there on whole vaults: an exact
// path first, then the folder of the note that holds the link, then the
// shortest path. Wikilinks and Markdown links share them. Aliases, headings and
// blocks play no part.
package lookup

import (
	"bytes"
	"cmp"
	"path"
	"strings"
	"unicode/utf16"

	"vaultwicket/cmd/internal/vault/order"
)

// Files are the files of a vault, ready for looking up. It does not change and
// may be used by several goroutines.
type Files struct {
	paths  []string
	byPath table // by folded path: several where only case differs
	byName table // by folded last segment
}

// New returns the files with these paths, which count from the vault's folder.
// They may come in any order. The slice must not change any more.
func New(paths []string) *Files {
	f := &Files{paths: paths}
	places := make([]int32, len(paths))
	for i := range places {
		places[i] = int32(i)
	}
	byPath, byName := f.entries(places)
	f.byPath, f.byName = newTable(byPath, f.compare), newTable(byName, f.compare)
	return f
}

// entries are those of files, to be found by their paths and by their names.
func (f *Files) entries(places []int32) (byPath, byName []entry) {
	byPath, byName = make([]entry, len(places)), make([]entry, len(places))
	var key []byte
	for n, i := range places {
		key = appendFolded(key[:0], f.paths[i])
		byPath[n] = entry{hash(key), i}
		byName[n] = entry{hash(last(key)), i}
	}
	return byPath, byName
}

// compare puts those with the fewest characters first, and of several the first in the
// order of listings.
func (f *Files) compare(a, b int32) int {
	if c := cmp.Compare(units(f.paths[a]), units(f.paths[b])); c != 0 {
		return c
	}
	return order.Compare(f.paths[a], f.paths[b])
}

// Len returns how many files there are.
func (f *Files) Len() int { return len(f.paths) }

// Path returns the path of the i-th file.
func (f *Files) Path(i int) string { return f.paths[i] }

// Index returns the place of the file with exactly this path.
func (f *Files) Index(path string) (i int, ok bool) {
	var memory [128]byte
	for _, e := range f.byPath.run(hash(appendFolded(memory[:0], path))) {
		if f.paths[e.place] == path {
			return int(e.place), true
		}
	}
	return 0, false
}

// Named returns how many files have this name, which is the last segment of a
// path with its extension.
func (f *Files) Named(name string) (n int) {
	key := appendFolded(nil, name)
	for _, e := range f.byName.run(hash(key)) {
		if folds(base(f.paths[e.place]), key) {
			n++
		}
	}
	return n
}

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
	var memory [128]byte
	key := appendFolded(memory[:0], wanted)
	// A link may stand for the file as it is called where that has an extension, and
	// else for a note. A file without an extension can therefore never be linked to.
	if strings.Contains(base(wanted), ".") {
		if i, ok := f.find(key, folder, fixed); ok {
			return i, true
		}
	}
	return f.find(append(key, note...), folder, fixed)
}

// note is the extension that a link need not have.
const note = ".md"

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

// find returns the best file for one folded name.
func (f *Files) find(wanted []byte, folder string, fixed bool) (int, bool) {
	named := f.byName.run(hash(last(wanted)))
	if fixed || len(named) > 1 {
		if i, ok := f.at(wanted); ok || fixed {
			return i, ok
		}
	}
	if len(named) > 1 && folder != "" {
		near := append(appendFolded(make([]byte, 0, 128), folder), '/')
		if i, ok := f.at(append(near, wanted...)); ok {
			return i, true
		}
	}
	for _, e := range named {
		if ends(f.paths[e.place], wanted) {
			return int(e.place), true
		}
	}
	return 0, false
}

// at returns the best of the files at one folded path.
func (f *Files) at(key []byte) (int, bool) {
	for _, e := range f.byPath.run(hash(key)) {
		if folds(f.paths[e.place], key) {
			return int(e.place), true
		}
	}
	return 0, false
}

// units counts characters as the app does, in UTF-16.
func units(path string) (n int) {
	for _, r := range path {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)]
}

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

func last(key []byte) []byte { return key[bytes.LastIndexByte(key, '/')+1:] }
