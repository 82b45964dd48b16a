// Package ranking orders the files of a vault by how well they answer a question in natural language: with
// other word forms, with typing errors, in several languages, in whole sentences.
//
// [Index] is an inverted index of the words of files, [View] is the part of it that a caller may see, and
// [View.Ask] answers a question. The package opens no files: callers pass texts to the index, and a [Vault]
// that reads the best files. [Embeddings] are a second ranking, by meaning.
package ranking

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

// Kind is the kind of a file.
type Kind uint8

const (
	Note Kind = iota
	Canvas
	Base
	Attachment // any other file
)

// Doc is the content by which a file is found. All fields but Path may be empty.
type Doc struct {
	Path string // in the vault, with /
	Kind Kind
	// Stamp identifies this content: a Doc with the same Path and Stamp need not be given to the index again, unless
	// Stamp is 0.
	Stamp      uint64
	Aliases    []string
	Headings   []string
	Tags       []string // with or without "#"
	Properties []string // values as text
	Links      []string // displayed texts of links
	Body       string
}

// fields is a set of the fields of a Doc, besides the body, in which a word occurs. fieldWeights has their weights.
type fields uint8

const (
	inTitle fields = 1 << iota
	inAlias
	inHeading
	inTag
	inProperty
	inLink
	inFolder
)

// file is what the index stores of a Doc.
type file struct {
	path     string
	stamp    uint64
	kind     Kind
	language languageSet // empty if it is not known
	length   int32       // of the body, in words
	key      lookup.Key  // of its name
}

// segment is an immutable inverted index of some files.
type segment struct {
	files []file
	words []string // sorted
	// letters has a bit for each of the letters a to z of a word, to rule out quickly words that cannot be
	// misspellings of each other.
	letters []uint32
	ends    []uint32 // of the postings of each word
	// postings has a sequence for each word: the distance from the previous place in files (uvarint), and a
	// byte with the number of occurrences in the body, at most maxCount. The flag hasFields in that byte
	// means that a byte of fields follows.
	postings string
	saved    *blocks // if not nil, it has the postings, and postings is empty
}

// An encoded posting has the number of occurrences in the low bits of a byte, and a flag.
const (
	maxCount  = 0x7f
	hasFields = 0x80 // a byte of fields follows
)

// builder makes a segment. Files are numbered in the order in which they are added.
type builder struct {
	files []file
	ids   map[string]int
	words []wordBuilder
	forms map[string][]int // caches idsOf, because most words occur often
	seen  []int            // ids in the file that is being added
}

// wordBuilder collects the postings of a word.
type wordBuilder struct {
	word     string
	last     int    // place of the last posting, or -1
	count    int    // occurrences in the body of the file that is being added
	fields   fields // of that file
	postings []byte
}

// maxForms is the maximum number of written words that a builder caches, to bound its memory.
const maxForms = 1 << 17

// idsOf returns the ids of the forms of a written word.
func (b *builder) idsOf(written string) []int {
	if ids, known := b.forms[written]; known {
		return ids
	}
	var ids []int
	for _, w := range forms(written) {
		id, known := b.ids[w]
		if !known {
			id = len(b.words)
			w = strings.Clone(w)
			b.ids[w] = id
			b.words = append(b.words, wordBuilder{word: w, last: -1})
		}
		ids = append(ids, id)
	}
	if len(b.forms) < maxForms {
		b.forms[strings.Clone(written)] = ids
	}
	return ids
}

// count counts the words of a text in a field; field 0 is the body. It returns how many words the body text has, and
// adds its stop words to counts, by language.
func (b *builder) count(text string, field fields, counts []int) (n int32) {
	eachWritten(text, nil, func(written string, _, _ int) {
		for _, id := range b.idsOf(written) {
			w := &b.words[id]
			if w.count == 0 && w.fields == 0 {
				b.seen = append(b.seen, id)
			}
			w.fields |= field
			if field == 0 {
				w.count = min(w.count+1, maxCount)
				n++
				for set := uint16(stopWords()[w.word]); set != 0; set &= set - 1 {
					counts[bits.TrailingZeros16(set)]++
				}
			}
		}
	})
	return n
}

// add adds a file.
func (b *builder) add(d Doc) {
	place := len(b.files)
	counts := make([]int, len(languages))
	folder, title := splitPath(d.Path, d.Kind)
	length := b.count(d.Body, 0, counts)
	b.count(title, inTitle, nil)
	b.count(folder, inFolder, nil)
	others := []struct {
		field fields
		texts []string
	}{
		{inAlias, d.Aliases},
		{inHeading, d.Headings},
		{inTag, d.Tags},
		{inProperty, d.Properties},
		{inLink, d.Links},
	}
	for _, f := range others {
		for _, text := range f.texts {
			b.count(text, f.field, nil)
		}
	}
	for _, id := range b.seen {
		w := &b.words[id]
		w.postings = appendPosting(w.postings, place-w.last, w.count, w.fields)
		w.last = place
		w.count = 0
		w.fields = 0
	}
	b.seen = b.seen[:0]
	b.files = append(b.files, file{
		path:     d.Path,
		stamp:    d.Stamp,
		kind:     d.Kind,
		language: languageOf(counts),
		length:   length,
		key:      lookup.Keys(d.Path)[0],
	})
}

// languageOf returns the language with most stop words. It returns none without a clear lead, because a word of several
// languages counts for each of them.
func languageOf(counts []int) languageSet {
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	second := 0
	for i, n := range counts {
		if i != best {
			second = max(second, n)
		}
	}
	isClear := counts[best] >= 3 && counts[best]*10 >= second*11
	if !isClear {
		return 0
	}
	return 1 << best
}

// segment returns the segment of the files that were added.
func (b *builder) segment() *segment {
	slices.SortFunc(b.words, func(x, y wordBuilder) int { return cmp.Compare(x.word, y.word) })
	n := len(b.words)
	w := writer{
		segment: segment{
			files:   slices.Clone(b.files),
			words:   make([]string, 0, n),
			letters: make([]uint32, 0, n),
			ends:    make([]uint32, 0, n),
		},
	}
	for _, word := range b.words {
		w.add(word.word, word.postings)
	}
	return w.done()
}

// splitPath returns the folder and the name of a file without the extension. The name of an attachment includes the
// extension, because attachments are also found by that.
func splitPath(path string, kind Kind) (folder, title string) {
	slash := strings.LastIndexByte(path, '/')
	title = path[slash+1:]
	if dot := strings.LastIndexByte(title, '.'); dot > 0 && kind != Attachment {
		title = title[:dot]
	}
	return path[:max(slash, 0)], title
}

// appendPosting appends a posting that is step places after the previous one.
func appendPosting(to []byte, step, count int, in fields) []byte {
	to = binary.AppendUvarint(to, uint64(step))
	if in == 0 {
		return append(to, byte(count))
	}
	return append(to, byte(count)|hasFields, byte(in))
}

// writer makes a segment from words in sorted order.
type writer struct {
	segment
	buf []byte // of the postings
}

func (w *writer) add(word string, postings []byte) {
	w.words = append(w.words, word)
	w.letters = append(w.letters, lettersOf(word))
	w.buf = append(w.buf, postings...)
	w.ends = append(w.ends, uint32(len(w.buf)))
}

func (w *writer) done() *segment {
	w.segment.postings = string(w.buf)
	return &w.segment
}

// lettersOf returns the set of the letters a to z in a word, see segment.
func lettersOf(word string) (set uint32) {
	for i := range len(word) {
		if c := word[i] - 'a'; c < 26 {
			set |= 1 << c
		}
	}
	return set
}

// postingsOf returns the encoded postings of a word. The error is [ErrDamaged].
func (s *segment) postingsOf(word int) (string, error) {
	from := uint32(0)
	to := s.ends[word]
	if word > 0 {
		from = s.ends[word-1]
	}
	if s.saved != nil {
		return s.saved.read(from, to)
	}
	return s.postings[from:to], nil
}

// eachPosting calls visit with each of some encoded postings. It stops at malformed ones, which a damaged saved index
// may have.
func (s *segment) eachPosting(postings string, visit func(place, count int, in fields)) {
	place := -1
	for i := 0; i < len(postings); {
		step := uint64(postings[i])
		n := 1
		if step >= 0x80 {
			step, n = uvarint(postings[i:])
		}
		if n <= 0 || i+n >= len(postings) {
			return
		}
		if step == 0 || step > uint64(len(s.files)) {
			return
		}
		place += int(step)
		i += n
		count := postings[i] & maxCount
		in := fields(0)
		if postings[i]&hasFields != 0 && i+1 < len(postings) {
			i++
			in = fields(postings[i])
		}
		i++
		if place >= len(s.files) {
			return
		}
		visit(place, int(count), in)
	}
}

// merge returns a segment of the files of several segments, without their dead files. It replaces saved parts in
// parts by loaded ones. The error is [ErrDamaged].
func merge(parts []*segment, dead []map[int]bool) (*segment, error) {
	out := &writer{}
	for i, p := range parts {
		if p.saved != nil {
			whole := *p
			var err error
			whole.postings, err = p.saved.read(0, uint32(p.saved.from.Size()))
			if err != nil {
				return nil, err
			}
			whole.saved = nil
			parts[i] = &whole
		}
	}
	places := make([][]int32, len(parts)) // by the place in the part, -1 for a dead file
	for i, p := range parts {
		places[i] = make([]int32, len(p.files))
		for j, f := range p.files {
			places[i][j] = -1
			if !dead[i][j] {
				places[i][j] = int32(len(out.files))
				out.files = append(out.files, f)
			}
		}
	}
	at := make([]int, len(parts))
	var postings []byte
	for {
		word, ok := smallestWord(parts, at)
		if !ok {
			return out.done(), nil
		}
		postings = postings[:0]
		last := -1
		for i, p := range parts {
			if at[i] == len(p.words) || p.words[at[i]] != word {
				continue
			}
			list, err := p.postingsOf(at[i])
			if err != nil {
				return nil, err
			}
			p.eachPosting(list, func(place, count int, in fields) {
				if to := int(places[i][place]); to >= 0 {
					postings = appendPosting(postings, to-last, count, in)
					last = to
				}
			})
			at[i]++
		}
		if last >= 0 {
			out.add(word, postings)
		}
	}
}

// smallestWord returns the first of the next words of the parts, which are at the places at. ok is false at the end
// of all parts.
func smallestWord(parts []*segment, at []int) (word string, ok bool) {
	for i, p := range parts {
		if at[i] < len(p.words) && (!ok || p.words[at[i]] < word) {
			word = p.words[at[i]]
			ok = true
		}
	}
	return word, ok
}

// Index finds files by their words. It is immutable: [Index.Update] returns a new index, which shares unchanged
// segments. The zero Index is empty.
type Index struct {
	segments []*segment
	dead     []map[int]bool // by segment: places of files that are gone or in a later segment
	places   map[string]location
}

// location is the location of a file in an index.
type location struct{ segment, place int32 }

// maxSegments is the maximum number of segments, because a question has to search all of them.
const maxSegments = 6

// Stale compares the index with the current files and their stamps. It returns the sorted paths of files that the index
// lacks or has with another stamp, or whose stamp is 0, and of files in the index that are gone.
func (x *Index) Stale(stamps iter.Seq2[string, uint64]) (changed, gone []string) {
	isThere := make([][]bool, len(x.segments))
	for i, s := range x.segments {
		isThere[i] = make([]bool, len(s.files))
	}
	for path, stamp := range stamps {
		at, known := x.places[path]
		if known {
			isThere[at.segment][at.place] = true
		}
		if !known || stamp == 0 || x.segments[at.segment].files[at.place].stamp != stamp {
			changed = append(changed, path)
		}
	}
	for i, s := range x.segments {
		for j := range s.files {
			if !isThere[i][j] && !x.dead[i][j] {
				gone = append(gone, s.files[j].path)
			}
		}
	}
	slices.Sort(changed)
	slices.Sort(gone)
	return changed, gone
}

// Update returns an index with docs, which replace files of x with the same paths, and without the paths in gone.
// docs must call add for each file. The error is [ErrDamaged].
func (x *Index) Update(docs func(add func(Doc)), gone []string) (*Index, error) {
	b := &builder{ids: map[string]int{}, forms: map[string][]int{}}
	docs(b.add)
	next := &Index{segments: slices.Clone(x.segments)}
	for _, dead := range x.dead {
		next.dead = append(next.dead, maps.Clone(dead))
	}
	markDead := func(path string) {
		if at, known := x.places[path]; known {
			next.dead[at.segment][int(at.place)] = true
		}
	}
	for _, path := range gone {
		markDead(path)
	}
	for _, f := range b.files {
		markDead(f.path)
	}
	if len(b.files) > 0 {
		next.segments = append(next.segments, b.segment())
		next.dead = append(next.dead, map[int]bool{})
	}
	from := next.mergeFrom()
	if from < len(next.segments) {
		merged, err := merge(slices.Clone(next.segments[from:]), next.dead[from:])
		if err != nil {
			return nil, err
		}
		next.segments = next.segments[:from]
		next.dead = next.dead[:from]
		if len(merged.files) > 0 {
			next.segments = append(next.segments, merged)
			next.dead = append(next.dead, map[int]bool{})
		}
	}
	next.indexPlaces()
	return next, nil
}

// mergeFrom returns the index of the first segment that is to be merged with all behind it, or the number of segments
// if none is. The smaller segments are merged if there are many, and segments with more than a quarter of dead files
// are merged to drop these.
func (x *Index) mergeFrom() int {
	from := len(x.segments)
	if from > maxSegments {
		from = 1 // all but the first, which is the largest
		if len(x.segments[0].files) < 4*x.countFiles(1) {
			from = 0
		}
	}
	for i, s := range x.segments {
		hasManyDead := 4*len(x.dead[i]) > len(s.files)
		if hasManyDead {
			return min(from, i)
		}
	}
	return from
}

// indexPlaces sets the location of each file.
func (x *Index) indexPlaces() {
	x.places = make(map[string]location, x.countFiles(0))
	for i, s := range x.segments {
		for j, f := range s.files {
			if !x.dead[i][j] {
				x.places[f.path] = location{int32(i), int32(j)}
			}
		}
	}
}

// countFiles returns the number of files, with dead ones, in the segments from an index on.
func (x *Index) countFiles(from int) (files int) {
	for i := from; i < len(x.segments); i++ {
		files += len(x.segments[i].files)
	}
	return files
}

// linkTargets returns the files to which links with one of the keys may lead, including hidden ones.
func (x *Index) linkTargets(keys map[lookup.Key]bool) (paths []string) {
	for i, s := range x.segments {
		for j := range s.files {
			if x.dead[i][j] {
				continue
			}
			f := &s.files[j]
			// A name such as Plan.md.md is also found without both extensions.
			at := len(f.path) - len(".md.md")
			mayHaveTwoKeys := at > 0 && f.path[at] == '.'
			if keys[f.key] || mayHaveTwoKeys && keys[lookup.Keys(f.path)[1]] {
				paths = append(paths, f.path)
			}
		}
	}
	return paths
}
