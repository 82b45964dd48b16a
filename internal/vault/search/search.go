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

// Scope selects the notes that a search visits.
type Scope struct {
	Folder   disk.Path // notes below it; the zero path is the whole vault
	Excluded func(path string) bool
	Texts    bool // visits need the texts of most notes
	// Seen, if it is not nil, counts the notes that are not excluded.
	Seen *atomic.Int64
	// Wanted, if it is not nil, reports whether a note is to be visited. It is called before the
	// text is read, may use only the path and the filter of the note, and must be safe for
	// concurrent use.
	Wanted func(*Note) bool
}

func (s Scope) wants(n *Note) bool { return s.Wanted == nil || s.Wanted(n) }

// EachNote calls visit for every wanted note, from several goroutines. Texts come from the cache file
// if it has them, because reading one large file takes a fraction of the time of reading thousands of
// small ones. Other texts are read from the vault, and only if the visit needs them.
func (k *Store) EachNote(from View, s Scope, visit func(*Note)) error {
	if x, ok := k.IndexIfCurrent(from); ok {
		from.reportUnread(slices.DeleteFunc(slices.Clone(x.Unread), func(path string) bool {
			return s.Folder != (disk.Path{}) && !strings.HasPrefix(path, s.Folder.String()+"/")
		})...)
		k.eachIndexed(x, from, s, visit)
		return nil
	}
	return k.eachWalked(from, s, visit)
}

// eachWalked visits the notes by walking the vault, and compares the stamp of every note with the
// cache. It caches the texts that it has to read for the next search.
func (k *Store) eachWalked(from View, s Scope, visit func(*Note)) error {
	w := walked{Scope: s, begun: from.Now(), visit: visit, judges: from.Folder.Judges()}
	if k.Resident { // the cache is only read, because the index is saved to it
		k.awaitSaving()
		k.cacheMu.RLock()
		w.cacheWriter = k.newCacheWriter()
		w.cacheWriter.begun = true // without an update, so that nothing is written
		if w.cacheWriter.cache != nil {
			w.cacheWriter.cache = w.cacheWriter.cache.Share()
		}
		k.cacheMu.RUnlock()
	} else {
		k.mu.Lock()
		k.openFolder(from)
		k.awaitSaving()
		w.cacheWriter = k.newCacheWriter()
		k.mu.Unlock()
	}
	err := cmp.Or(from.Own, from.Folder).Counting(from.Tally.Found).WalkUnread(s.Folder, func(e disk.Entry) {
		if e.IsDir {
			return
		}
		if from.Ctx.Err() == nil && index.IsRead(e.Path) {
			w.visitEntry(e)
		}
		from.Tally.Done()
	})
	w.visitCached(from)
	switch {
	case k.Resident:
		if w.cacheWriter.cache != nil {
			_ = w.cacheWriter.cache.Close()
		}
	case err != nil || from.Ctx.Err() != nil || s.Folder != (disk.Path{}): // the scan is not complete
		w.cacheWriter.update.Discard()
	default:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.adopt(w.cacheWriter.commit())
	}
	return err
}

// walked is the state of a search that walks the vault. It is safe for concurrent use.
type walked struct {
	Scope
	begun       time.Time
	cacheWriter *cacheWriter
	visit       func(*Note)
	// judges reports whether a note must be read before it is visited, because its text may hide it.
	judges bool

	mu     sync.Mutex
	cached []cachedNote // to be visited after the walk
}

// visitEntry visits the note of an entry, or defers the visit if its text is in the cache.
func (w *walked) visitEntry(e disk.Entry) {
	var record cache.Record
	if w.cacheWriter.cache != nil && w.cacheWriter.cache.Len() > 0 {
		stamp, err := e.Stamp()
		if err != nil {
			return // the note is gone
		}
		record, _ = w.cacheWriter.find(e.Path, stamp)
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
		n.readErr = err
	}
	if w.Seen != nil {
		w.Seen.Add(1)
	}
	if w.Texts && record.Has(cache.TextPart) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cached = append(w.cached, cachedNote{e.Path, record})
		return
	}
	if w.wants(n) {
		w.visit(n)
	}
}

// read reads a note and caches its text.
func (w *walked) read(e disk.Entry, buf *[]byte) ([]byte, error) {
	text, stamp, err := e.ReadInto(*buf)
	if err != nil {
		return nil, err
	}
	*buf = text
	if stamp.Settled(w.begun) {
		w.cacheWriter.pendingUpdate().Put(e.Path.String(), stamp, text, cache.Found{Filter: string(index.TrigramsOf(text))})
	}
	return text, nil
}

// visitCached visits the notes whose texts are in the cache.
func (w *walked) visitCached(from View) {
	records := make([]cache.Record, len(w.cached))
	notes := make([]*Note, len(w.cached))
	for i, cached := range w.cached {
		records[i] = cached.record
		notes[i] = &Note{File: cached.path.String(), from: &from, path: cached.path}
	}
	c := w.cacheWriter.cache
	wanted := make([]bool, len(notes))
	c.Each(records, cache.FilterPart, func(i int, filter []byte, ok bool) {
		if ok {
			notes[i].Filter = index.ReadTrigrams(filter)
		}
		wanted[i] = w.wants(notes[i])
	})
	n := 0
	for i, isWanted := range wanted {
		if isWanted {
			records[n], notes[n] = records[i], notes[i]
			n++
		}
	}
	records = records[:n]
	notes = notes[:n]
	visitTexts(c, records, notes, func(i int) {
		n := notes[i]
		isFromCache := n.hasText
		w.visit(n)
		if isFromCache && !records[i].Has(cache.FilterPart) {
			if update := w.cacheWriter.pendingUpdate(); update != nil {
				update.Add(n.path.String(), records[i], cache.FilterPart, string(index.TrigramsOf(n.text)))
			}
		}
	})
}

// buffers hold the texts of notes while they are visited. Results do not refer to them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// eachIndexed visits the notes of an index, and reads only the texts that the cache does not have.
func (k *Store) eachIndexed(x *index.Index, from View, s Scope, visit func(*Note)) {
	k.withRecords(x, func(c *cache.Cache, table recordTable) {
		var records []cache.Record
		var cached, rest []*Note
		for i, n := range selectNotes(table, from, s) {
			switch {
			case n == nil:
			case s.Texts && table.files[i].record.Has(cache.TextPart):
				records = append(records, table.files[i].record)
				cached = append(cached, n)
			default:
				rest = append(rest, n)
			}
		}
		visitTexts(c, records, cached, func(i int) { visit(cached[i]) })
		budget.InParallel(len(rest), notesPerShare, func(start, end int) {
			for _, n := range rest[start:end] {
				visit(n)
			}
		})
	})
}

// selectNotes returns the wanted notes of an index, each at its place there. The other elements are nil.
func selectNotes(table recordTable, from View, s Scope) []*Note {
	notes := make([]*Note, len(table.files))
	budget.InParallel(len(table.files), notesPerShare, func(start, end int) {
		var next *Note // reused if the note before was not wanted
		count := 0
		for i := start; i < end; i++ {
			f := &table.files[i]
			if !f.isNote || s.Excluded(f.path.String()) || !f.path.Below(s.Folder) {
				continue
			}
			count++
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
				next.indexed = table.index.Files[i]
				notes[i] = next
				next = nil
			}
		}
		if s.Seen != nil {
			s.Seen.Add(int64(count))
		}
	})
	return notes
}

// visitTexts sets the texts of notes from the cache, except damaged ones, and calls visit with the
// index of each note.
func visitTexts(c *cache.Cache, records []cache.Record, notes []*Note, visit func(i int)) {
	c.Each(records, cache.TextPart, func(i int, text []byte, ok bool) {
		if ok {
			notes[i].text = text
			notes[i].hasText = true
		}
		visit(i)
	})
}

// notesPerShare is how many notes a goroutine visits at a time.
const notesPerShare = 64

// Note is a note during a search. It is read at most once, and parsed only if that is needed and the
// index has no facts about it.
type Note struct {
	File string
	// Rank is higher than that of all notes before it in the order of listings. It is 0 if there
	// was no index.
	Rank int

	from    *View
	path    disk.Path
	isNFC   bool                   // File is known to be in normal form C
	read    func() ([]byte, error) // if not nil, reads the text in place of a read by path
	text    []byte
	hasText bool
	readErr error       // from reading the text
	indexed *index.File // nil if there was no index
	// Filter has the trigrams of the text. It is empty if they are not known.
	Filter index.Trigrams
	found  *index.Found // nil until it is needed
}

// Path returns the path of the note in Unicode normal form C, which queries compare.
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

// Text returns the text of the note. It is empty if the note cannot be read: such a note is found by its name alone,
// and [View].Own reports it.
func (s *Note) Text() []byte {
	switch {
	case s.hasText:
	case s.read != nil:
		s.text, s.readErr = s.read()
	default:
		s.text, _, s.readErr = cmp.Or(s.from.Own, s.from.Folder).ReadHere(s.path)
	}
	s.hasText = true
	return s.text
}

// IsUnread reports whether the note could not be read.
func (s *Note) IsUnread() bool { return disk.IsUnread(s.readErr) }

// Scan returns the parsed note, from the index if that has it.
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

// Properties returns the properties of the note, from the index if that has them.
func (s *Note) Properties() frontmatter.Properties {
	s.Scan()
	return s.found.Properties
}

// recordTable has the cache record of each file of an index, in the order of the index.
type recordTable struct {
	index *index.Index // nil before the first use
	files []recordRow
}

// recordRow is all that a search needs of a file before it reads the text. Rows are contiguous in
// memory, because the files of a large vault do not fit into the caches of a processor.
type recordRow struct {
	path   disk.Path
	filter index.Trigrams // of the cached text, or of the text that was read for the index
	record cache.Record
	isNote bool
	isNFC  bool // the path is in Unicode normal form C, which queries compare
	isMade bool // the filter was computed from the cached text and is not in the cache
}

// withRecords calls use with a copy of the cache handle and the cache records for the files of an index.
// It holds no lock while use runs.
func (k *Store) withRecords(x *index.Index, use func(*cache.Cache, recordTable)) {
	k.awaitSaving()
	k.cacheMu.RLock()
	for k.records.index != x {
		k.cacheMu.RUnlock()
		k.lookUpRecords(x)
		k.cacheMu.RLock()
	}
	c := k.cache
	table := k.records
	if c != nil {
		c = c.Share()
		defer c.Close()
	}
	k.cacheMu.RUnlock()
	use(c, table)
}

// lookUpRecords makes the table of records for an index.
func (k *Store) lookUpRecords(x *index.Index) {
	k.cacheMu.Lock()
	defer k.cacheMu.Unlock()
	if k.records.index == x {
		return
	}
	next := recordTable{x, make([]recordRow, len(x.Files))}
	var before []*index.File
	if k.records.index != nil {
		before = k.records.index.Files
	}
	places := index.Kept(before, x.Files)
	var unread []int // files whose filter or text still has to be read from the cache
	for i, f := range x.Files {
		if place := places[i]; place >= 0 {
			next.files[i] = k.records.files[place]
			continue
		}
		row := &next.files[i]
		*row = recordRow{path: f.Path, isNote: f.IsNote(), isNFC: norm.NFC.IsNormalString(f.Path.String())}
		if !f.HasFacts() || !f.Settled() {
			continue // its text is read each time
		}
		if k.cache != nil {
			row.record, _ = k.cache.Find(f.Path.String(), f.Stamp)
		}
		row.filter = f.Filter
		if f.Filter == "" && row.record.Has(cache.TextPart) && row.isNote {
			unread = append(unread, i)
		}
	}
	readFilters(k.cache, next, unread)
	k.records = next
}

// readFilters sets the filters of some rows, from the cache or computed from the texts there. Damaged ones count as
// missing.
func readFilters(c *cache.Cache, table recordTable, rows []int) {
	cached := make([]cache.Record, 0, len(rows))
	computed := make([]cache.Record, 0, len(rows))
	var cachedRows, computedRows []int
	for _, row := range rows {
		record := table.files[row].record
		if record.Has(cache.FilterPart) {
			cached = append(cached, record)
			cachedRows = append(cachedRows, row)
		} else {
			computed = append(computed, record)
			computedRows = append(computedRows, row)
		}
	}
	c.Each(cached, cache.FilterPart, func(i int, filter []byte, ok bool) {
		if ok {
			table.files[cachedRows[i]].filter = index.ReadTrigrams(filter)
		}
	})
	c.Each(computed, cache.TextPart, func(i int, text []byte, ok bool) {
		if ok {
			f := &table.files[computedRows[i]]
			f.filter = index.TrigramsOf(text)
			f.isMade = f.filter != "" // a very large text has no filter
		}
	})
}
