// Package lookup finds files by name: the file that a link leads to, and the names
// nearest to a mistyped one.
//
// The rules for links are those of the app, as observed on whole vaults: an exact path
// first, then the folder of the note that contains the link, then the shortest path.
// Wikilinks and Markdown links share them. Aliases, headings and blocks play no part.
package lookup

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/bits"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
)

// Files is an index of the paths of a vault. It is immutable and safe for use by several
// goroutines.
type Files struct {
	paths  []string
	byPath table // by folded path: several where only case differs
	byName table // by folded last segment
}

// New returns the index of paths, which are relative to the vault's folder and in any
// order. It keeps the slice, which must not change afterwards.
func New(paths []string) *Files {
	f := &Files{paths: paths}
	byPath := make([]entry, len(paths))
	byName := make([]entry, len(paths))
	var key []byte
	for i, path := range paths {
		key = appendFolded(key[:0], path)
		byPath[i] = entry{hash(key), int32(i)}
		byName[i] = entry{hash(last(key)), int32(i)}
	}
	f.byPath, f.byName = newTable(byPath, f.compare), newTable(byName, f.compare)
	return f
}

// compare orders by the number of characters, then by the order of listings.
func (f *Files) compare(a, b int32) int {
	if c := cmp.Compare(units(f.paths[a]), units(f.paths[b])); c != 0 {
		return c
	}
	return filenames.Compare(f.paths[a], f.paths[b])
}

// Len returns how many files there are.
func (f *Files) Len() int { return len(f.paths) }

// Path returns the path of the i-th file.
func (f *Files) Path(i int) string { return f.paths[i] }

// Index returns the place of the file with exactly this path, with regard to case.
func (f *Files) Index(path string) (i int, ok bool) {
	var memory [128]byte
	for _, e := range f.byPath.run(hash(appendFolded(memory[:0], path))) {
		if f.paths[e.place] == path {
			return int(e.place), true
		}
	}
	return 0, false
}

// Named returns how many files have this name (the last segment of a path, with its
// extension), ignoring case.
func (f *Files) Named(name string) (n int) {
	key := appendFolded(nil, name)
	for _, e := range f.byName.run(hash(key)) {
		if folds(base(f.paths[e.place]), key) {
			n++
		}
	}
	return n
}

// Resolve returns the place of the file to which a link in the note source leads. target
// is the path part of the link, percent-decoded, without heading or block; an empty one
// is the note itself. With an empty source the link is resolved from the vault's folder,
// as the parameter file= is.
func (f *Files) Resolve(target, source string) (i int, ok bool) {
	if target == "" {
		return f.Index(source)
	}
	folder := parent(source)
	wanted, fixed := anchor(target, folder)
	var memory [128]byte
	key := appendFolded(memory[:0], wanted)
	// A link names a file with its extension, or a note without it. So a file that has
	// no extension cannot be linked to.
	if strings.Contains(base(wanted), ".") {
		if i, ok := f.find(key, folder, fixed); ok {
			return i, true
		}
	}
	return f.find(append(key, note...), folder, fixed)
}

// Namesakes returns the places of all files to which the link in no note may lead, the one to which it does first; none
// for a link that is the path of a file.
func (f *Files) Namesakes(target string) (places []int) {
	wanted, fixed := anchor(target, "")
	key := appendFolded(nil, wanted)
	names := [][]byte{append(bytes.Clone(key), note...)}
	if strings.Contains(base(wanted), ".") {
		names = [][]byte{key, names[0]}
	}
	for _, name := range names {
		if _, exact := f.at(name); exact || fixed {
			return nil
		}
		for _, e := range f.byName.run(hash(last(name))) {
			if ends(f.paths[e.place], name) {
				places = append(places, int(e.place))
			}
		}
		if len(places) > 0 {
			break // a file with its whole name goes before a note without its extension
		}
	}
	return places
}

// note is the extension that a link may omit.
const note = ".md"

// anchor turns an absolute or relative link into a path of the vault, which is not
// searched for elsewhere (fixed).
func anchor(target, folder string) (wanted string, fixed bool) {
	switch {
	case strings.HasPrefix(target, "/"):
		return strings.TrimLeft(target, "/"), true
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		return path.Join(folder, target), true // a path that leaves the vault keeps its "..", which no file has
	}
	return target, false
}

// find returns the best file for a folded name.
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

// at returns the best of the files with a folded path.
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

// Key is a hash of the last segment of a link. Links with different keys lead to
// different files; links with the same key may, too.
type Key uint32

// keyOf is FNV-1a: keys are saved, so another process has the same.
func keyOf(name []byte) Key {
	key := Key(2166136261)
	for _, c := range name {
		key = (key ^ Key(c)) * 16777619
	}
	return key
}

// KeyOf returns the key of a link. The arguments are those of [Files.Resolve].
func KeyOf(target, source string) Key {
	wanted, _ := anchor(target, parent(source))
	var memory [128]byte
	name := appendFolded(memory[:0], base(wanted))
	return keyOf(bytes.TrimSuffix(name, []byte(note)))
}

// Keys returns the keys of all links that may lead to the file at a path.
func Keys(path string) [2]Key {
	var memory [128]byte
	name := bytes.TrimSuffix(appendFolded(memory[:0], base(path)), []byte(note))
	key := keyOf(name)
	if shorter, has := bytes.CutSuffix(name, []byte(note)); has {
		return [2]Key{key, keyOf(shorter)}
	}
	return [2]Key{key, key}
}

// Rivals returns the places of all files that a link to a path may lead to instead. The
// path need not be one of the files.
func (f *Files) Rivals(path string) (places []int32) {
	name := appendFolded(nil, base(path))
	shorter, isNote := bytes.CutSuffix(name, []byte(note))
	names := [][]byte{name, append(bytes.Clone(name), note...)}
	if isNote {
		names = append(names, shorter)
	}
	for _, key := range names {
		for _, e := range f.byName.run(hash(key)) {
			places = append(places, e.place)
		}
	}
	return places
}

var seed = maphash.MakeSeed()

func hash(key []byte) uint32 { return uint32(maphash.Bytes(seed, key) >> 32) }

// entry is a file in a table. Files with other keys may have the same hash.
type entry struct {
	hash  uint32
	place int32
}

// table is a hash table of files in buckets. It has no pointers and takes twelve bytes a
// file, because a vault may have 100,000 of them.
type table struct {
	shift   uint8   // hash >> shift is the bucket
	starts  []int32 // offsets of the buckets in entries, and the end of the last one
	entries []entry
}

// newTable makes a table; entries with the same hash are ordered by compare.
func newTable(entries []entry, compare func(a, b int32) int) table {
	t := table{shift: uint8(32 - bits.Len(uint(len(entries))))}
	t.starts = make([]int32, 1<<(32-t.shift)+1)
	t.entries = make([]entry, len(entries))
	for _, e := range entries {
		t.starts[e.hash>>t.shift+1]++
	}
	for b := range len(t.starts) - 1 {
		t.starts[b+1] += t.starts[b]
	}
	next := slices.Clone(t.starts)
	for _, e := range entries {
		b := e.hash >> t.shift
		t.entries[next[b]] = e
		next[b]++
	}
	for b := range len(t.starts) - 1 {
		slices.SortFunc(t.entries[t.starts[b]:t.starts[b+1]], func(a, b entry) int {
			if a.hash != b.hash {
				return cmp.Compare(a.hash, b.hash)
			}
			return compare(a.place, b.place)
		})
	}
	return t
}

// run returns the entries that have a hash.
func (t *table) run(hash uint32) []entry {
	b := hash >> t.shift
	bucket := t.entries[t.starts[b]:t.starts[b+1]]
	start := 0
	for start < len(bucket) && bucket[start].hash != hash {
		start++
	}
	end := start
	for end < len(bucket) && bucket[end].hash == hash {
		end++
	}
	return bucket[start:end]
}

// Fold returns the form in which names are compared: lower case, in Unicode normal form C,
// because file systems differ in the form that they store.
func Fold(name string) string {
	lower := strings.ToLower(name)
	if norm.NFC.IsNormalString(lower) {
		return lower
	}
	return norm.NFC.String(lower)
}

// appendFolded appends Fold(name) to key.
func appendFolded(key []byte, name string) []byte {
	start := len(key)
	composed := true
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			key = key[:start]
			composed = false
			break
		}
		key = append(key, lower(c))
	}
	if composed {
		return key
	}
	composed = true
	for _, r := range name {
		r = unicode.ToLower(r)
		composed = composed && isComposed(r)
		key = utf8.AppendRune(key, r)
	}
	if composed || norm.NFC.IsNormalString(string(key[start:])) { // a copy, or the memory of each key is allocated
		return key
	}
	return append(key[:start], Fold(name)...)
}

// isComposed reports whether normal form C keeps a character, whatever its neighbours are.
// It knows Latin and Cyrillic letters and ideographs; others are normalized to find out.
func isComposed(r rune) bool {
	isLatin := r < 0x300
	isCyrillic := 0x400 <= r && r < 0x483
	isIdeograph := 0x4e00 <= r && r < 0xa000
	return isLatin || isCyrillic || isIdeograph
}

// isPlain reports whether Fold(name) is name in lower case, each character in its place.
func isPlain(name string) bool {
	for _, r := range name {
		if r < utf8.RuneSelf {
			continue
		}
		if low := unicode.ToLower(r); !isComposed(r) || !isComposed(low) || utf8.RuneLen(low) != utf8.RuneLen(r) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// folds reports whether Fold(name) equals key, which is folded.
func folds(name string, key []byte) bool {
	if len(name) == len(key) && lowers(name, key) {
		return true
	}
	return !isPlain(name) && Fold(name) == string(key)
}

// ends reports whether Fold(path) equals key, which is folded, or ends with it at a
// segment border.
func ends(path string, key []byte) bool {
	start := len(path) - len(key)
	isSegment := start == 0 || start > 0 && path[start-1] == '/'
	if isSegment && lowers(path[start:], key) {
		return true
	}
	if isPlain(path) {
		return false
	}
	before, ok := bytes.CutSuffix([]byte(Fold(path)), key)
	return ok && (len(before) == 0 || before[len(before)-1] == '/')
}

// lowers reports whether key is name in lower case. Both have the same number of bytes, and
// key is in normal form.
func lowers(name string, key []byte) bool {
	for i := 0; i < len(key); {
		if c := name[i]; c < utf8.RuneSelf {
			if lower(c) != key[i] {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(name[i:])
		if wanted, same := utf8.DecodeRune(key[i:]); unicode.ToLower(r) != wanted || size != same {
			return false
		}
		i += size
	}
	return true
}
