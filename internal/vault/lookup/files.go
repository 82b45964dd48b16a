// Package lookup finds files by name: the file to which a link leads, and the names nearest to a mistyped
// name.
//
// The rules for links are those of the app, as observed on whole vaults: an exact path first, then a path
// in the folder of the note that contains the link, then the shortest path. They are the same for
// wikilinks and Markdown links. Aliases, headings and blocks do not matter.
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

// Files is an index of the paths of a vault. It is immutable and safe for concurrent use.
type Files struct {
	paths  []string
	byPath table // by folded path; paths that differ only in case have the same key
	byName table // by folded last segment
}

// New returns an index of paths, which are relative to the vault and in any order. The index keeps the
// slice, which must not be changed afterwards.
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
	f.byPath = newTable(byPath, f.compare)
	f.byName = newTable(byName, f.compare)
	return f
}

// compare compares the paths at two places by length, then in the order of listings.
func (f *Files) compare(a, b int32) int {
	if c := cmp.Compare(units(f.paths[a]), units(f.paths[b])); c != 0 {
		return c
	}
	return filenames.Compare(f.paths[a], f.paths[b])
}

// Len returns how many files there are.
func (f *Files) Len() int { return len(f.paths) }

// Path returns the path at place i.
func (f *Files) Path(i int) string { return f.paths[i] }

// Index returns the place of the file with exactly this path; case matters.
func (f *Files) Index(path string) (i int, ok bool) {
	var memory [128]byte
	for _, e := range f.byPath.run(hash(appendFolded(memory[:0], path))) {
		if f.paths[e.place] == path {
			return int(e.place), true
		}
	}
	return 0, false
}

// Named returns how many files have a name, which is the last segment of a path with its extension. Case is
// ignored.
func (f *Files) Named(name string) (n int) {
	key := appendFolded(nil, name)
	for _, e := range f.byName.run(hash(key)) {
		if foldsTo(base(f.paths[e.place]), key) {
			n++
		}
	}
	return n
}

// Resolve returns the place of the file to which a link in the note source leads. target is the path in the
// link, percent-decoded, without heading or block. If it is empty, the link leads to source. If source is
// empty, the link is resolved from the root of the vault, like the parameter file=.
func (f *Files) Resolve(target, source string) (i int, ok bool) {
	if target == "" {
		return f.Index(source)
	}
	folder := parent(source)
	wanted, fixed := anchor(target, folder)
	var memory [128]byte
	key := appendFolded(memory[:0], wanted)
	// A link has the name of a file with its extension, or of a note without it. So no link leads to a file
	// without an extension.
	if strings.Contains(base(wanted), ".") {
		if i, ok := f.find(key, folder, fixed); ok {
			return i, true
		}
	}
	return f.find(append(key, note...), folder, fixed)
}

// Namesakes returns the places of all files to which a link that is not in a note may lead, the file to which it does
// lead first. It returns none if the link is the exact path of a file.
func (f *Files) Namesakes(target string) (places []int) {
	wanted, fixed := anchor(target, "")
	key := appendFolded(nil, wanted)
	names := [][]byte{append(bytes.Clone(key), note...)}
	if strings.Contains(base(wanted), ".") {
		names = [][]byte{key, names[0]}
	}
	for _, name := range names {
		if _, isExact := f.at(name); isExact || fixed {
			return nil
		}
		for _, e := range f.byName.run(hash(last(name))) {
			if endsWith(f.paths[e.place], name) {
				places = append(places, int(e.place))
			}
		}
		if len(places) > 0 {
			break // a whole name takes precedence over a note without its extension
		}
	}
	return places
}

// note is the extension that a link may omit.
const note = ".md"

// anchor converts an absolute or relative link to a path in the vault. fixed reports that the path must not be
// searched for in other folders.
func anchor(target, folder string) (wanted string, fixed bool) {
	switch {
	case strings.HasPrefix(target, "/"):
		return strings.TrimLeft(target, "/"), true
	case strings.HasPrefix(target, "./"), strings.HasPrefix(target, "../"):
		return path.Join(folder, target), true // a path that leaves the vault keeps its "..", which no file has
	}
	return target, false
}

// find returns the place of the best file for a folded target, which may have folders.
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
		if endsWith(f.paths[e.place], wanted) {
			return int(e.place), true
		}
	}
	return 0, false
}

// at returns the place of the best file with a folded path.
func (f *Files) at(key []byte) (int, bool) {
	for _, e := range f.byPath.run(hash(key)) {
		if foldsTo(f.paths[e.place], key) {
			return int(e.place), true
		}
	}
	return 0, false
}

// units returns the length of a path in UTF-16 code units, as the app counts.
func units(path string) (n int) {
	for _, r := range path {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// parent returns the folder of a path.
func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)]
}

// base returns the last segment of a path.
func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// last returns the last segment of a folded path.
func last(key []byte) []byte { return key[bytes.LastIndexByte(key, '/')+1:] }

// Key is a hash of the last segment of a link. Links with different keys lead to different files. Links with
// the same key may also lead to different files.
type Key uint32

// keyOf returns the FNV-1a hash. It has to be the same in all processes, because keys are saved.
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
	if shorter, isNote := bytes.CutSuffix(name, []byte(note)); isNote {
		return [2]Key{key, keyOf(shorter)}
	}
	return [2]Key{key, key}
}

// Rivals returns the places of all files to which a link with a path may lead instead. There need not be a file
// with that path.
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

// seed is the seed of hash in this process.
var seed = maphash.MakeSeed()

func hash(key []byte) uint32 { return uint32(maphash.Bytes(seed, key) >> 32) }

// entry is a file in a table. Files with different keys may have the same hash.
type entry struct {
	hash  uint32
	place int32
}

// table is a hash table of files. It contains no pointers and needs twelve bytes for each file, because a vault
// may have 100,000 files.
type table struct {
	shift   uint8   // hash >> shift is the bucket
	starts  []int32 // offsets of the buckets in entries, and the end of the last one
	entries []entry
}

// newTable returns a table of entries. Entries with the same hash are in the order of compare.
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

// run returns the entries with a hash.
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

// Fold returns the form in which names are compared: in lower case and in Unicode normal form C, because file
// systems store different forms.
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
	isASCII := true
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			key = key[:start]
			isASCII = false
			break
		}
		key = append(key, lower(c))
	}
	if isASCII {
		return key
	}
	allComposed := true
	for _, r := range name {
		r = unicode.ToLower(r)
		allComposed = allComposed && isComposed(r)
		key = utf8.AppendRune(key, r)
	}
	// The conversion copies, so that key does not escape to the heap.
	if allComposed || norm.NFC.IsNormalString(string(key[start:])) {
		return key
	}
	return append(key[:start], Fold(name)...)
}

// isComposed reports whether normal form C never changes a character, whatever its neighbours are. It returns
// true only for common Latin and Cyrillic letters and ideographs.
func isComposed(r rune) bool {
	isLatin := r < 0x300
	isCyrillic := 0x400 <= r && r < 0x483
	isIdeograph := 0x4e00 <= r && r < 0xa000
	return isLatin || isCyrillic || isIdeograph
}

// isPlain reports whether Fold(name) only lower-cases the characters of name, without changing their length.
func isPlain(name string) bool {
	for _, r := range name {
		if r < utf8.RuneSelf {
			continue
		}
		lowered := unicode.ToLower(r)
		hasSameLength := utf8.RuneLen(lowered) == utf8.RuneLen(r)
		if !hasSameLength || !isComposed(r) || !isComposed(lowered) {
			return false
		}
	}
	return true
}

// lower lower-cases an ASCII letter.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// foldsTo reports whether Fold(name) equals key, which is folded.
func foldsTo(name string, key []byte) bool {
	if len(name) == len(key) && lowersTo(name, key) {
		return true
	}
	return !isPlain(name) && Fold(name) == string(key)
}

// endsWith reports whether Fold(path) equals key, which is folded, or ends with a slash and key.
func endsWith(path string, key []byte) bool {
	start := len(path) - len(key)
	isSegment := start == 0 || start > 0 && path[start-1] == '/'
	if isSegment && lowersTo(path[start:], key) {
		return true
	}
	if isPlain(path) {
		return false
	}
	before, ok := bytes.CutSuffix([]byte(Fold(path)), key)
	return ok && (len(before) == 0 || before[len(before)-1] == '/')
}

// lowersTo reports whether key is name in lower case. Both have the same length in bytes, and key is in normal
// form.
func lowersTo(name string, key []byte) bool {
	for i := 0; i < len(key); {
		if c := name[i]; c < utf8.RuneSelf {
			if lower(c) != key[i] {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(name[i:])
		wanted, wantedSize := utf8.DecodeRune(key[i:])
		if unicode.ToLower(r) != wanted || size != wantedSize {
			return false
		}
		i += size
	}
	return true
}
