package knowledge

import (
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge/cache"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// Scope says which notes a search is about.
type Scope struct {
	Folder   disk.Path
	Excluded func(path string) bool
	Texts    bool // the texts of the notes are asked for
	// Seen, if it is not nil, is told how many notes there are, some at a time.
	Seen *atomic.Int64
	// Wanted, if it is not nil, is called for each note before there is a text: whether
	// the note is to be visited. It may ask for the path and the filter alone. It is
	// called from several goroutines.
	Wanted func(*Note) bool
}

func (s Scope) contains(path disk.Path) bool { return path.Ext() == "md" && !s.Excluded(path.String()) }

func (s Scope) saw(notes int) {
	if s.Seen != nil {
		s.Seen.Add(int64(notes))
	}
}

func (s Scope) wants(n *Note) bool { return s.Wanted == nil || s.Wanted(n) }

// EachNote visits every note that is wanted, from several goroutines. Texts come
// from the cache file where it has them, for one large file is read in a
// fraction of the time that thousands of small ones take; the others are read in
// the vault, and only if the visit asks.
func (k *Store) EachNote(from View, s Scope, visit func(*Note)) error {
	if x, ok := k.IndexIfCurrent(from); ok {
		k.eachIndexed(x, from, s, visit)
		return nil
	}
	return k.eachWalked(from, s, visit)
}

// eachWalked looks at the stamp of every note. What had to be read is kept for
// the next search.
func (k *Store) eachWalked(from View, s Scope, visit func(*Note)) error {
	w := walked{Scope: s, begun: from.Now(), saver: k.walking(from), visit: visit}
	err := from.Folder.Counting(from.Tally.Found).WalkParallel(s.Folder, func(e disk.Entry) {
		if e.IsDir {
			return
		}
		if from.Ctx.Err() == nil && index.IsRead(e.Path) {
			w.take(e)
		}
		from.Tally.Done()
	})
	w.visitKept(from)
	whole := err == nil && from.Ctx.Err() == nil && s.Folder == (disk.Path{})
	k.walkedOver(w.saver, whole)
	return err
}

// walked is a search by walking. It is used by several goroutines.
type walked struct {
	Scope
	begun time.Time
	saver *saver
	visit func(*Note)

	mu   sync.Mutex
	kept []walkedNote
}

// walkedNote is a note whose text is in the cache.
type walkedNote struct {
	path   disk.Path
	record cache.Record
}

func (w *walked) take(e disk.Entry) {
	var record cache.Record
	if w.saver.HasAny() {
		stamp, err := e.Stamp()
		if err != nil {
			return // it is gone
		}
		record, _ = w.saver.find(e.Path, stamp)
	}
	if !w.contains(e.Path) {
		return
	}
	w.saw(1)
	switch {
	case w.Texts && record.HasText():
		w.mu.Lock()
		defer w.mu.Unlock()
		w.kept = append(w.kept, walkedNote{e.Path, record})
	default:
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		if n := (&Note{File: e.Path.String(), read: func() []byte { return w.read(e, buf) }}); w.wants(n) {
			w.visit(n)
		}
	}
}

// read reads a note and keeps its text.
func (w *walked) read(e disk.Entry, buf *[]byte) []byte {
	text, stamp, err := e.ReadInto(*buf)
	if err != nil {
		return nil
	}
	*buf = text
	if stamp.Settled(w.begun) {
		w.saver.put(e.Path, stamp, text, cache.Found{Filter: string(trigram.Of(text))})
	}
	return text
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
	c.Filters(records, func(i int, filter []byte, ok bool) {
		if ok {
			notes[i].Filter = trigram.Read(filter)
		}
		wanted[i] = w.wants(notes[i])
	})
	records, notes = only(records, wanted), only(notes, wanted)
	visitTexts(c, records, notes, func(i int) {
		n := notes[i]
		kept := n.hasText
		w.visit(n)
		if kept && !records[i].HasFilter() {
			w.saver.filter(n.path, records[i], n.text)
		}
	})
}

// buffers hold the text of the notes that are being searched. Nothing that a
// hit keeps lies in them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// eachIndexed looks at no file but those that the cache does not have.
func (k *Store) eachIndexed(x *index.Index, from View, s Scope, visit func(*Note)) {
	k.withAimed(x, func(c *cache.Cache, has aimed) {
		notes := make([]*Note, len(has.files))
		eachShare(len(has.files), func(start, end int) {
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
				*next = Note{File: f.path.String(), Rank: i + 1, Filter: f.filter, from: &from, path: f.path, isNFC: f.isNFC}
				if s.wants(next) {
					next.indexed = x.Files[i]
					notes[i], next = next, nil
				}
			}
			s.saw(seen)
		})
		var records []cache.Record
		var cached, rest []*Note
		for i, n := range notes {
			switch {
			case n == nil:
			case s.Texts && has.files[i].record.HasText():
				records, cached = append(records, has.files[i].record), append(cached, n)
			default:
				rest = append(rest, n)
			}
		}
		visitTexts(c, records, cached, func(i int) { visit(cached[i]) })
		eachShare(len(rest), func(start, end int) {
			for _, n := range rest[start:end] {
				visit(n)
			}
		})
	})
}

// visitTexts gives notes their texts from the cache, except where that is harmed, and visits
// each by its place.
func visitTexts(c *cache.Cache, records []cache.Record, notes []*Note, visit func(i int)) {
	c.Texts(records, func(i int, text []byte, ok bool) {
		if ok {
			notes[i].text, notes[i].hasText = text, true
		}
		visit(i)
	})
}
