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
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/processors"
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
	places := make([]int32, len(paths))
	for i := range places {
		places[i] = int32(i)
	}
	byPath, byName := f.entries(places)
	f.byPath, f.byName = newTable(byPath, f.compare), newTable(byName, f.compare)
	return f
}

// entries returns the table entries of files, by path and by name.
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

// compare orders by the number of characters, then by the order of listings.
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

// Moved returns the index after a change of paths, in less time than [New]: the file at
// place i is at to[i], or deleted where that is negative; the paths at all other places
// are of new files. It keeps paths, which must not change afterwards.
func (f *Files) Moved(to []int32, paths []string) *Files {
	if buckets := len(f.byPath.starts) - 1; len(paths) >= 2*buckets || buckets > 4*len(paths)+4 {
		return New(paths)
	}
	kept := make([]bool, len(paths))
	for _, place := range to {
		if place >= 0 {
			kept[place] = true
		}
	}
	var fresh []int32
	for place, known := range kept {
		if !known {
			fresh = append(fresh, int32(place))
		}
	}
	next := &Files{paths: paths}
	byPath, byName := next.entries(fresh)
	next.byPath, next.byName = f.byPath.moved(to, byPath, next.compare), f.byName.moved(to, byName, next.compare)
	return next
}

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
		sortEntries(t.entries[t.starts[b]:t.starts[b+1]], compare)
	}
	return t
}

func sortEntries(entries []entry, compare func(a, b int32) int) {
	if len(entries) < 2 {
		return
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.hash != b.hash {
			return cmp.Compare(a.hash, b.hash)
		}
		return compare(a.place, b.place)
	})
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

// moved returns the table after a change: the file at place i is at to[i], or deleted where
// that is negative; added are new.
func (t *table) moved(to []int32, added []entry, compare func(a, b int32) int) table {
	next := table{shift: t.shift, starts: make([]int32, len(t.starts)), entries: make([]entry, 0, len(t.entries)+len(added))}
	slices.SortFunc(added, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	for b := range len(t.starts) - 1 {
		start := len(next.entries)
		for _, e := range t.entries[t.starts[b]:t.starts[b+1]] {
			if place := to[e.place]; place >= 0 {
				next.entries = append(next.entries, entry{e.hash, place})
			}
		}
		more := len(added) > 0 && added[0].hash>>t.shift == uint32(b)
		for len(added) > 0 && added[0].hash>>t.shift == uint32(b) {
			next.entries, added = append(next.entries, added[0]), added[1:]
		}
		if more {
			sortEntries(next.entries[start:], compare)
		}
		next.starts[b+1] = int32(len(next.entries))
	}
	return next
}

const (
	maxNearest = 3   // suggestions; a reader picks one
	maxWanted  = 256 // bytes; a longer text is not compared

	nameShare = 512 // how many names one goroutine compares at a time
)

// closeness is how much a name resembles the wanted one; less is closer.
type closeness int

const (
	same       closeness = iota // except for case, blanks and punctuation
	sameWords                   // in another order
	begins                      // the name begins with the wanted one
	isBegun                     // the wanted one begins with the name
	contains                    // one contains the other
	mistyped                    // plus the edit distance
	sharesWord closeness = 100
	unlike     closeness = 1000
)

// NearestNames returns up to three of the names that wanted was most likely meant to be
// (of headings, tags, properties), the best first. It suggests only from names: the caller
// passes those that may be shown.
func NearestNames(wanted string, names []string) []string {
	key := newWanted(withoutExt(wanted))
	return best(wanted, key, names, func() func(string) closeness {
		return func(name string) closeness { return key.compare(plain(name)) }
	})
}

// NearestPaths is [NearestNames] for paths, of which the last segment counts more than the
// folders. Link syntax around typed is ignored: [[Note#Heading|text]] is Note.
func NearestPaths(typed string, paths []string) []string {
	typed = strings.TrimSpace(typed)
	typed = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(typed, "!"), "[["), "]]")
	if i := strings.IndexAny(typed, "#|"); i > 0 {
		typed = typed[:i]
	}
	typed = strings.Trim(strings.ReplaceAll(strings.ReplaceAll(typed, "%20", " "), `\`, "/"), "/")
	key, base, folder := newWanted(withoutExt(typed)), newWanted(stem(typed)), plain(path.Dir("/"+typed))
	return best(typed, key, paths, func() func(string) closeness {
		last, plainLast := "", "" // the folder of the previous path: many share one
		return func(candidate string) closeness {
			dir := candidate[:max(0, strings.LastIndexByte(candidate, '/'))]
			if dir != last {
				last, plainLast = dir, plain(dir)
			}
			name := plain(stem(candidate))
			if isSame(key.text, plainLast, name) {
				return same
			}
			found := base.compare(name)
			if found >= unlike {
				return unlike
			}
			if folder != "" && plainLast != folder {
				return 2*found + 1 // of two that are as close, the one in the folder
			}
			return 2 * found
		}
	})
}

// best returns the closest names. closeTo returns a function for one goroutine.
func best(typed string, key wanted, names []string, closeTo func() func(string) closeness) []string {
	if key.text == "" || len(typed) > maxWanted {
		return nil
	}
	type match struct {
		name string
		at   closeness
	}
	found := order.NewFirst(maxNearest, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var mu sync.Mutex
	processors.Each(len(names), nameShare, func(start, end int) {
		closeness := closeTo()
		for _, name := range names[start:end] {
			if at := closeness(name); at < unlike {
				mu.Lock()
				found.Add(match{name, at})
				mu.Unlock()
			}
		}
	})
	var list []string
	for _, m := range found.Sorted() {
		list = append(list, m.name)
	}
	return list
}

// wanted is a name that others are compared to, prepared for the comparisons.
type wanted struct {
	text     string // plain
	inOrder  string // its words, sorted
	letters  []rune
	words    []string
	mistakes int // allowed edit distance
}

func newWanted(name string) wanted {
	text := plain(name)
	w := wanted{text: text, inOrder: sorted(text), letters: []rune(text), words: strings.Fields(text)}
	switch n := len(w.letters); {
	case n >= 5:
		w.mistakes = min(max(2, n/4), 6)
	case n >= 3:
		w.mistakes = 1
	}
	return w
}

// compare says how close a plain name is.
func (w wanted) compare(name string) closeness {
	switch {
	case name == "":
		return unlike
	case isSame(w.text, "", name):
		return same
	case len(w.text) == len(name) && w.inOrder == sorted(name):
		return sameWords
	case len(w.text) >= 3 && strings.HasPrefix(name, w.text):
		return begins
	case len(name) >= 3 && strings.HasPrefix(w.text, name):
		return isBegun
	case len(w.text) >= 4 && strings.Contains(name, w.text), len(name) >= 4 && strings.Contains(w.text, name):
		return contains
	}
	if d := utf8.RuneCountInString(name) - len(w.letters); d <= w.mistakes && -d <= w.mistakes {
		if n := quote.Mistakes(w.letters, []rune(name), w.mistakes); n <= w.mistakes {
			return mistyped + closeness(n)
		}
	}
	if w.sharesWord(name) {
		return sharesWord
	}
	return unlike
}

// isSame reports whether text is folder followed by name, both plain, ignoring blanks.
func isSame(text, folder, name string) bool {
	for _, part := range []string{folder, name} {
		for _, c := range []byte(part) {
			if c == ' ' {
				continue
			}
			if text = strings.TrimPrefix(text, " "); text == "" || text[0] != c {
				return false
			}
			text = text[1:]
		}
	}
	return text == ""
}

// sharesWord reports whether both names have a word of four letters or more, or its
// beginning, in common.
func (w wanted) sharesWord(name string) bool {
	for other := range strings.FieldsSeq(name) {
		for _, word := range w.words {
			if len(word) >= 4 && (strings.HasPrefix(other, word) || len(other) >= 4 && strings.HasPrefix(word, other)) {
				return true
			}
		}
	}
	return false
}

func sorted(name string) string {
	words := strings.Fields(name)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// plain returns the form of a name that is compared: folded, its words separated by one
// blank, without punctuation.
func plain(name string) string {
	folded := Fold(name)
	words := make([]byte, 0, len(folded))
	ended := false
	for len(folded) > 0 {
		r, size := utf8.DecodeRuneInString(folded)
		counts := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.IsSymbol(r)
		if counts && ended && len(words) > 0 {
			words = append(words, ' ')
		}
		if counts {
			words = append(words, folded[:size]...)
		}
		ended, folded = !counts, folded[size:]
	}
	return string(words)
}

// stem is the last segment of a path without its extension.
func stem(p string) string { return withoutExt(p[strings.LastIndexByte(p, '/')+1:]) }

// withoutExt cuts an extension off: a dot and up to eight letters or digits.
func withoutExt(name string) string {
	dot := strings.LastIndexByte(name, '.')
	ext := name[dot+1:]
	if dot <= 0 || ext == "" || len(ext) > 8 || strings.ContainsAny(ext, "/ ") {
		return name
	}
	return name[:dot]
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
	start, composed := len(key), true
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
	return r < 0x300 || 0x400 <= r && r < 0x483 || 0x4e00 <= r && r < 0xa000
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
	if start >= 0 && (start == 0 || path[start-1] == '/') && lowers(path[start:], key) {
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
