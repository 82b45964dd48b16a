// Package ranking orders the files of a vault by how well they answer a question that is written as people
// write: in other word forms, with typing errors, in several languages, in whole sentences.
//
// [Index] is an inverted index of the words of files, [View] the part of it that a caller may see, and
// [View.Ask] answers a question. The ranking opens no file: texts are given to it, and those of the best
// files are asked for. [Embeddings] are a second ranking, by meaning.
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

// Kind says what a file is.
type Kind uint8

const (
	Note Kind = iota
	Canvas
	Base
	Attachment // any other file
)

// Doc is what a file is found by. All but Path may be empty.
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
	Links      []string // texts that links show
	Body       string
}

// fields are where a word occurs besides the body, a bit each. fieldWeights has their weights.
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

// file is what is kept of a Doc.
type file struct {
	path     string
	stamp    uint64
	kind     Kind
	language languageSet // none where it is not known
	length   int32       // of the body, in words
	key      lookup.Key  // of its name
}

// segment is an inverted index of some files. It does not change.
type segment struct {
	files []file
	words []string // sorted
	// letters has a bit for each of the letters a to z of a word, to rule out quickly words that cannot be
	// misspellings of each other.
	letters []uint32
	ends    []uint32 // of the postings of each word
	// postings of a word are pairs of a difference of places in files (uvarint) and a byte: the
	// number of occurrences in the body, at most 127, and in the highest bit whether a byte of
	// fields follows.
	postings string
	saved    *blocks // has the postings in place of postings, unless it is nil
}

// builder makes a segment. Files are numbered in the order in which they are added.
type builder struct {
	files []file
	ids   map[string]int
	words []building
	forms map[string][]int // caches idsOf, because most words occur often
	seen  []int            // ids in the file that is being added
}

type building struct {
	word     string
	last     int // the place of the last posting, -1 for none
	count    int // in the body of the file that is being added
	fields   fields
	postings []byte
}

// maxForms bounds the memory of a builder for written words.
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
			b.words = append(b.words, building{word: w, last: -1})
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
				w.count = min(w.count+1, 127)
				n++
				if of := stopWords()[w.word]; of != 0 {
					for set := uint16(of); set != 0; set &= set - 1 {
						counts[bits.TrailingZeros16(set)]++
					}
				}
			}
		}
	})
	return n
}

func (b *builder) add(d Doc) {
	place := len(b.files)
	counts := make([]int, len(languages))
	folder, title := splitPath(d.Path, d.Kind)
	length := b.count(d.Body, 0, counts)
	b.count(title, inTitle, nil)
	b.count(folder, inFolder, nil)
	for _, of := range []struct {
		field fields
		texts []string
	}{{inAlias, d.Aliases}, {inHeading, d.Headings}, {inTag, d.Tags}, {inProperty, d.Properties}, {inLink, d.Links}} {
		for _, text := range of.texts {
			b.count(text, of.field, nil)
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
	// The language is the one with most stop words, none where there is no lead over the others: a word of
	// several languages counts in each of them.
	language := languageSet(0)
	best := 0
	second := -1
	for i := 1; i < len(counts); i++ {
		if counts[i] > counts[best] {
			best, second = i, counts[best]
		} else {
			second = max(second, counts[i])
		}
	}
	if counts[best] >= 3 && counts[best]*10 >= second*11 {
		language = 1 << best
	}
	b.files = append(
		b.files,
		file{
			path:     d.Path,
			stamp:    d.Stamp,
			kind:     d.Kind,
			language: language,
			length:   length,
			key:      lookup.Keys(d.Path)[0],
		},
	)
}

// splitPath returns the folder and the name without its extension. An attachment is found by its extension as well.
func splitPath(path string, kind Kind) (folder, title string) {
	slash := strings.LastIndexByte(path, '/')
	title = path[slash+1:]
	if dot := strings.LastIndexByte(title, '.'); dot > 0 && kind != Attachment {
		title = title[:dot]
	}
	return path[:max(slash, 0)], title
}

func appendPosting(to []byte, step, count int, in fields) []byte {
	to = binary.AppendUvarint(to, uint64(step))
	if in == 0 {
		return append(to, byte(count))
	}
	return append(to, byte(count)|0x80, byte(in))
}

// writer makes a segment of words in their order.
type writer struct {
	segment
	postings []byte
}

func (w *writer) add(word string, postings []byte) {
	w.words = append(w.words, word)
	w.letters = append(w.letters, lettersOf(word))
	w.postings = append(w.postings, postings...)
	w.ends = append(w.ends, uint32(len(w.postings)))
}

func (w *writer) done() *segment {
	w.segment.postings = string(w.postings)
	return &w.segment
}

func lettersOf(word string) (set uint32) {
	for i := range len(word) {
		if c := word[i] - 'a'; c < 26 {
			set |= 1 << c
		}
	}
	return set
}

// list returns the postings of a word. Its error is [ErrDamaged].
func (s *segment) list(word int) (string, error) {
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

// each calls visit with each posting of a word. It stops at malformed postings, which a damaged saved index can have.
func (s *segment) each(postings string, visit func(place, count int, in fields)) {
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
		count := postings[i] & 0x7f
		in := fields(0)
		if postings[i] >= 0x80 && i+1 < len(postings) {
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

// merge makes one segment of several, without the files that are dead. Its error is [ErrDamaged].
func merge(parts []*segment, dead []map[int]bool) (*segment, error) {
	s := &writer{}
	for i, p := range parts {
		if p.saved != nil {
			whole := *p
			var err error
			if whole.postings, err = p.saved.read(0, uint32(p.saved.from.Size())); err != nil {
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
				places[i][j] = int32(len(s.files))
				s.files = append(s.files, f)
			}
		}
	}
	at := make([]int, len(parts))
	var postings []byte
	for {
		word := ""
		found := false
		for i, p := range parts {
			if at[i] < len(p.words) && (!found || p.words[at[i]] < word) {
				word = p.words[at[i]]
				found = true
			}
		}
		if !found {
			return s.done(), nil
		}
		postings = postings[:0]
		last := -1
		for i, p := range parts {
			if at[i] == len(p.words) || p.words[at[i]] != word {
				continue
			}
			list, err := p.list(at[i])
			if err != nil {
				return nil, err
			}
			p.each(list, func(place, count int, in fields) {
				if to := int(places[i][place]); to >= 0 {
					postings = appendPosting(postings, to-last, count, in)
					last = to
				}
			})
			at[i]++
		}
		if last >= 0 {
			s.add(word, postings)
		}
	}
}

// Index finds files by their words. It does not change: [Index.Update] makes another one that
// shares what is the same. The zero Index is empty.
type Index struct {
	segments []*segment
	dead     []map[int]bool // by segment: the places of files that are gone or in a later segment
	places   map[string]placeOf
}

type placeOf struct{ segment, place int32 }

// maxSegments bounds how many segments a question has to look at.
const maxSegments = 6

// Stale compares the index with the files that there are. changed are the paths that it lacks, or has with another
// stamp or with 0; gone are those that it has and stamps does not.
func (x *Index) Stale(stamps iter.Seq2[string, uint64]) (changed, gone []string) {
	there := make([][]bool, len(x.segments))
	for i, s := range x.segments {
		there[i] = make([]bool, len(s.files))
	}
	for path, stamp := range stamps {
		at, known := x.places[path]
		if known {
			there[at.segment][at.place] = true
		}
		if !known || stamp == 0 || x.segments[at.segment].files[at.place].stamp != stamp {
			changed = append(changed, path)
		}
	}
	for i, s := range x.segments {
		for j := range s.files {
			if !there[i][j] && !x.dead[i][j] {
				gone = append(gone, s.files[j].path)
			}
		}
	}
	slices.Sort(changed)
	slices.Sort(gone)
	return changed, gone
}

// Update returns an index with docs in place of what x has under their paths, and without the paths in gone. Its
// error is [ErrDamaged].
func (x *Index) Update(docs func(add func(Doc)), gone []string) (*Index, error) {
	b := &builder{ids: map[string]int{}, forms: map[string][]int{}}
	docs(b.add)
	next := &Index{segments: slices.Clone(x.segments)}
	for _, dead := range x.dead {
		next.dead = append(next.dead, maps.Clone(dead))
	}
	kill := func(path string) {
		if at, known := x.places[path]; known {
			next.dead[at.segment][int(at.place)] = true
		}
	}
	for _, path := range gone {
		kill(path)
	}
	for _, f := range b.files {
		kill(f.path)
	}
	if len(b.files) > 0 {
		slices.SortFunc(b.words, func(x, y building) int { return cmp.Compare(x.word, y.word) })
		n := len(b.words)
		w := writer{
			segment: segment{
				files:   slices.Clone(b.files),
				words:   make([]string, 0, n),
				letters: make([]uint32, 0, n),
				ends:    make([]uint32, 0, n),
			},
		}
		for _, of := range b.words {
			w.add(of.word, of.postings)
		}
		next.segments = append(next.segments, w.done())
		next.dead = append(next.dead, map[int]bool{})
	}
	// The smaller segments are merged when there are many, and dead files dropped when they are more than a
	// quarter.
	from := len(next.segments)
	if from > maxSegments {
		from = 1 // all but the first, which is the largest
		if len(next.segments[0].files) < 4*next.len(1) {
			from = 0
		}
	}
	for i, s := range next.segments {
		if 4*len(next.dead[i]) > len(s.files) {
			from = min(from, i)
		}
	}
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
	next.place()
	return next, nil
}

// place notes where each file is.
func (x *Index) place() {
	x.places = make(map[string]placeOf, x.len(0))
	for i, s := range x.segments {
		for j, f := range s.files {
			if !x.dead[i][j] {
				x.places[f.path] = placeOf{int32(i), int32(j)}
			}
		}
	}
}

func (x *Index) len(from int) (files int) {
	for i := from; i < len(x.segments); i++ {
		files += len(x.segments[i].files)
	}
	return files
}

// named returns the files to which links with some keys may lead, hidden ones too.
func (x *Index) named(keys map[lookup.Key]bool) (paths []string) {
	for i, s := range x.segments {
		for j := range s.files {
			if x.dead[i][j] {
				continue
			}
			f := &s.files[j]
			at := len(f.path) - len(".md.md")
			hasTwoKeys := at > 0 && f.path[at] == '.'
			if keys[f.key] || hasTwoKeys && keys[lookup.Keys(f.path)[1]] {
				paths = append(paths, f.path)
			}
		}
	}
	return paths
}
