package search

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Scope says which notes a search is about.
type Scope struct {
	Folder   disk.Path
	Excluded func(path string) bool
	Texts    bool // the texts of the notes are needed
	// Seen, if it is not nil, counts the notes.
	Seen *atomic.Int64
	// Wanted, if it is not nil, is called for each note before there is a text: whether the
	// note is to be visited. It may use only the path and the filter. It is called from
	// several goroutines.
	Wanted func(*Note) bool
}

func (s Scope) wants(n *Note) bool { return s.Wanted == nil || s.Wanted(n) }

// EachNote visits every wanted note, from several goroutines. Texts are from the cache file
// where it has them, for one large file is read in a fraction of the time that thousands
// of small ones take; the others are read from the vault, and only if the visit needs them.
func (k *Store) EachNote(from View, s Scope, visit func(*Note)) error {
	if x, ok := k.IndexIfCurrent(from); ok {
		from.tell(slices.DeleteFunc(slices.Clone(x.Unread), func(path string) bool {
			return s.Folder != (disk.Path{}) && !strings.HasPrefix(path, s.Folder.String()+"/")
		})...)
		k.eachIndexed(x, from, s, visit)
		return nil
	}
	return k.eachWalked(from, s, visit)
}

// eachWalked looks at the stamp of every note. Texts that had to be read are kept for the
// next search.
func (k *Store) eachWalked(from View, s Scope, visit func(*Note)) error {
	w := walked{Scope: s, begun: from.Now(), visit: visit, judges: from.Folder.Judges()}
	if k.Resident { // the cache is only read: there the index is saved
		k.awaitSaving()
		k.keep.RLock()
		w.saver = k.saver()
		if w.saver.begun = true; w.saver.cache != nil {
			w.saver.cache = w.saver.cache.Share()
		}
		k.keep.RUnlock()
	} else {
		k.mu.Lock()
		k.attend(from)
		k.awaitSaving()
		w.saver = k.saver()
		k.mu.Unlock()
	}
	err := cmp.Or(from.Own, from.Folder).Counting(from.Tally.Found).WalkUnread(s.Folder, func(e disk.Entry) {
		if e.IsDir {
			return
		}
		if from.Ctx.Err() == nil && index.IsRead(e.Path) {
			w.take(e)
		}
		from.Tally.Done()
	})
	w.visitKept(from)
	switch {
	case k.Resident:
		if w.saver.cache != nil {
			_ = w.saver.cache.Close()
		}
	case err != nil || from.Ctx.Err() != nil || s.Folder != (disk.Path{}): // not all notes were seen
		w.saver.update.Discard()
	default:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.adopt(w.saver.save())
	}
	return err
}

// walked is a search by walking. It is used by several goroutines.
type walked struct {
	Scope
	begun time.Time
	saver *saver
	visit func(*Note)
	// judges says that a note is read before it is visited: its text may close it.
	judges bool

	mu   sync.Mutex
	kept []keptNote
}

func (w *walked) take(e disk.Entry) {
	var record cache.Record
	if w.saver.cache != nil && w.saver.cache.Len() > 0 {
		stamp, err := e.Stamp()
		if err != nil {
			return // it is gone
		}
		record, _ = w.saver.find(e.Path, stamp)
	}
	if e.Path.Ext() != "md" || w.Excluded(e.Path.String()) {
		return
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	n := &Note{File: e.Path.String(), read: func() ([]byte, error) { return w.read(e, buf) }}
	if w.judges && !record.Has(cache.TextPart) && !record.Has(cache.FactsPart) {
		text, err := w.read(e, buf)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, system.ErrElsewhere) {
			return
		}
		n.text = text
		n.hasText = true
		n.failed = err
	}
	if w.Seen != nil {
		w.Seen.Add(1)
	}
	if w.Texts && record.Has(cache.TextPart) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.kept = append(w.kept, keptNote{e.Path, record})
		return
	}
	if w.wants(n) {
		w.visit(n)
	}
}

// read reads a note and keeps its text.
func (w *walked) read(e disk.Entry, buf *[]byte) ([]byte, error) {
	text, stamp, err := e.ReadInto(*buf)
	if err != nil {
		return nil, err
	}
	*buf = text
	if stamp.Settled(w.begun) {
		w.saver.writing().Put(e.Path.String(), stamp, text, cache.Found{Filter: string(index.TrigramsOf(text))})
	}
	return text, nil
}

// visitKept visits the notes whose texts are in the cache.
func (w *walked) visitKept(from View) {
	records := make([]cache.Record, len(w.kept))
	notes := make([]*Note, len(w.kept))
	for i, kept := range w.kept {
		records[i] = kept.record
		notes[i] = &Note{File: kept.path.String(), from: &from, path: kept.path}
	}
	c := w.saver.cache
	wanted := make([]bool, len(notes))
	c.Each(records, cache.FilterPart, func(i int, filter []byte, ok bool) {
		if ok {
			notes[i].Filter = index.ReadTrigrams(filter)
		}
		wanted[i] = w.wants(notes[i])
	})
	n := 0
	for i, is := range wanted {
		if is {
			records[n], notes[n] = records[i], notes[i]
			n++
		}
	}
	records = records[:n]
	notes = notes[:n]
	visitTexts(c, records, notes, func(i int) {
		n := notes[i]
		kept := n.hasText
		w.visit(n)
		if kept && !records[i].Has(cache.FilterPart) {
			if update := w.saver.writing(); update != nil {
				update.Add(n.path.String(), records[i], cache.FilterPart, string(index.TrigramsOf(n.text)))
			}
		}
	})
}

// buffers are for the texts of notes during a search. A hit keeps no reference to them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// eachIndexed reads only the files that the cache does not have.
func (k *Store) eachIndexed(x *index.Index, from View, s Scope, visit func(*Note)) {
	k.withAimed(x, func(c *cache.Cache, has aimed) {
		notes := make([]*Note, len(has.files))
		budget.InParallel(len(has.files), share, func(start, end int) {
			var next *Note // one that was not wanted makes room for the next
			seen := 0
			for i := start; i < end; i++ {
				f := &has.files[i]
				if !f.isNote || s.Excluded(f.path.String()) || !f.path.Below(s.Folder) {
					continue
				}
				seen++
				if next == nil {
					next = new(Note)
				}
				*next = Note{
					File:   f.path.String(),
					Rank:   i + 1,
					Filter: f.filter,
					from:   &from,
					path:   f.path,
					isNFC:  f.isNFC,
				}
				if s.wants(next) {
					next.indexed = x.Files[i]
					notes[i], next = next, nil
				}
			}
			if s.Seen != nil {
				s.Seen.Add(int64(seen))
			}
		})
		var records []cache.Record
		var cached, rest []*Note
		for i, n := range notes {
			switch {
			case n == nil:
			case s.Texts && has.files[i].record.Has(cache.TextPart):
				records = append(records, has.files[i].record)
				cached = append(cached, n)
			default:
				rest = append(rest, n)
			}
		}
		visitTexts(c, records, cached, func(i int) { visit(cached[i]) })
		budget.InParallel(len(rest), share, func(start, end int) {
			for _, n := range rest[start:end] {
				visit(n)
			}
		})
	})
}

// visitTexts sets the texts of notes from the cache, except damaged ones, and visits each by
// its index.
func visitTexts(c *cache.Cache, records []cache.Record, notes []*Note, visit func(i int)) {
	c.Each(records, cache.TextPart, func(i int, text []byte, ok bool) {
		if ok {
			notes[i].text = text
			notes[i].hasText = true
		}
		visit(i)
	})
}

// share is how many notes one goroutine takes at a time.
const share = 64

// Note is a note during a search. It is read at most once, and scanned only if the query
// needs that and the index has no facts.
type Note struct {
	File string
	// Rank is above that of the notes before it in the order of listings, or 0 if
	// there was no index.
	Rank int

	from    *View
	path    disk.Path
	isNFC   bool                   // File is known to be in normal form C
	read    func() ([]byte, error) // instead of a read by its path
	text    []byte
	hasText bool
	failed  error       // of the read of the text
	indexed *index.File // nil if there was no index
	// Filter is that of the text, the zero one if it is not known.
	Filter index.Trigrams
	found  *index.Found // nil until it is needed
}

// Path is the path of the note in Unicode normal form C, in which queries compare it.
func (s *Note) Path() string {
	if s.isNFC {
		return s.File
	}
	for i := range len(s.File) {
		if s.File[i] >= utf8.RuneSelf {
			return norm.NFC.String(s.File)
		}
	}
	return s.File
}

// Text is empty for a note that cannot be read: it is found by its name alone, and [View].Own tells of it.
func (s *Note) Text() []byte {
	switch {
	case s.hasText:
	case s.read != nil:
		s.text, s.failed = s.read()
	default:
		s.text, _, s.failed = cmp.Or(s.from.Own, s.from.Folder).ReadHere(s.path)
	}
	s.hasText = true
	return s.text
}

// IsUnread reports whether the text is that of a note that could not be read.
func (s *Note) IsUnread() bool { return disk.IsUnread(s.failed) }

// Scan returns the parts of the note, from the index where it has them.
func (s *Note) Scan() *markdown.Note {
	switch {
	case s.found != nil:
	case s.indexed != nil && s.indexed.HasFacts():
		s.found = s.indexed.Facts().Found()
	default:
		s.found = index.ReadNote(s.Text())
	}
	return &s.found.Note
}

// Properties returns the properties of the note, from the index where it has them.
func (s *Note) Properties() frontmatter.Properties {
	s.Scan()
	return s.found.Properties
}

// aimed are the records of the cache for each file of an index, by its place there.
type aimed struct {
	index *index.Index // nil before the first use
	files []aimedFile
}

// aimedFile is all that a search looks at of each file, contiguous in memory: large vaults
// do not fit into the caches of a processor.
type aimedFile struct {
	path   disk.Path
	filter index.Trigrams // of the text of the record, or of the one read for the index
	record cache.Record
	isNote bool
	isNFC  bool // the path is in Unicode normal form C, as queries compare it
	isMade bool // the filter was made of the text in the cache, which has none
}

// withAimed calls use with the cache, and with its records of the files of an index. Both
// are use's own, and no lock is held meanwhile.
func (k *Store) withAimed(x *index.Index, use func(*cache.Cache, aimed)) {
	k.awaitSaving()
	k.keep.RLock()
	for k.aimed.index != x {
		k.keep.RUnlock()
		k.aim(x)
		k.keep.RLock()
	}
	c := k.cache
	has := k.aimed
	if c != nil {
		c = c.Share()
		defer c.Close()
	}
	k.keep.RUnlock()
	use(c, has)
}

// aim looks up the record of each file of an index.
func (k *Store) aim(x *index.Index) {
	k.keep.Lock()
	defer k.keep.Unlock()
	if k.aimed.index == x {
		return
	}
	next := aimed{x, make([]aimedFile, len(x.Files))}
	var before []*index.File
	if k.aimed.index != nil {
		before = k.aimed.index.Files
	}
	places := index.Kept(before, x.Files)
	var unread []int // files whose filter or text is in the cache
	for i, f := range x.Files {
		if place := places[i]; place >= 0 {
			next.files[i] = k.aimed.files[place]
			continue
		}
		to := &next.files[i]
		*to = aimedFile{path: f.Path, isNote: f.IsNote(), isNFC: norm.NFC.IsNormalString(f.Path.String())}
		if !f.HasFacts() || !f.Settled() {
			continue // its text is read each time
		}
		if k.cache != nil {
			to.record, _ = k.cache.Find(f.Path.String(), f.Stamp)
		}
		to.filter = f.Filter
		if f.Filter == "" && to.record.Has(cache.TextPart) && to.isNote {
			unread = append(unread, i)
		}
	}
	// Filters are read from the cache, or made of the texts there. Damaged ones count as missing.
	kept := make([]cache.Record, 0, len(unread))
	made := make([]cache.Record, 0, len(unread))
	var keptOf, madeOf []int
	for _, place := range unread {
		if record := next.files[place].record; record.Has(cache.FilterPart) {
			kept = append(kept, record)
			keptOf = append(keptOf, place)
		} else {
			made = append(made, record)
			madeOf = append(madeOf, place)
		}
	}
	k.cache.Each(kept, cache.FilterPart, func(i int, filter []byte, ok bool) {
		if ok {
			next.files[keptOf[i]].filter = index.ReadTrigrams(filter)
		}
	})
	k.cache.Each(made, cache.TextPart, func(i int, text []byte, ok bool) {
		if ok {
			f := &next.files[madeOf[i]]
			f.filter = index.TrigramsOf(text)
			f.isMade = f.filter != "" // a very large text has none
		}
	})
	k.aimed = next
}
