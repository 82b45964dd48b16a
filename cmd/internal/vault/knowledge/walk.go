package knowledge

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge/cache"
	"vaultwicket/cmd/internal/vault/knowledge/index"
)

// Scope says which notes a search is about.
type Scope struct {
	Folder   disk.Path
	Excluded func(path string) bool
	Texts    bool // the texts of the notes are asked for
}

func (s Scope) contains(path disk.Path) bool { return path.Ext() == "md" && !s.Excluded(path.String()) }

// EachNote visits every note that is sought, from several goroutines. Texts come
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
	err := from.Folder.WalkParallel(s.Folder, func(e disk.Entry) {
		if from.Ctx.Err() == nil && !e.IsDir && index.IsRead(e.Path) {
			w.take(e)
		}
	})
	w.saver.cache.Texts(w.records, func(i int, text []byte, ok bool) {
		from.visitCached(w.files[i], text, ok, visit)
	})
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

	mu      sync.Mutex
	files   []disk.Path // whose text is in the cache
	records []cache.Record
}

func (w *walked) take(e disk.Entry) {
	stamp, err := e.Stamp()
	if err != nil {
		return // it is gone
	}
	record, _ := w.saver.find(e.Path, stamp)
	switch {
	case !w.contains(e.Path):
	case w.Texts && record.HasText():
		w.mu.Lock()
		defer w.mu.Unlock()
		w.files = append(w.files, e.Path)
		w.records = append(w.records, record)
	default:
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		w.visit(&Note{File: e.Path.String(), read: func() []byte { return w.read(e, buf) }})
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
		w.saver.Learn(e.Path, stamp, text, "")
	}
	return text
}

// buffers hold the text of the notes that are being searched. Nothing that a
// hit keeps lies in them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// visitCached visits a note with its text from the cache, or if that was harmed,
// from the vault.
func (from View) visitCached(path disk.Path, text []byte, ok bool, visit func(*Note)) {
	n := &Note{File: path.String(), text: text}
	if !ok {
		n.read = from.reading(path)
	}
	visit(n)
}

func (from View) reading(path disk.Path) func() []byte {
	return func() []byte {
		text, _, err := from.Folder.ReadHere(path)
		if err != nil {
			return nil
		}
		return text
	}
}

// eachIndexed looks at no file but those that the cache does not hold.
func (k *Store) eachIndexed(x *index.Index, from View, s Scope, visit func(*Note)) {
	k.withRecords(x, func(c *cache.Cache, all []cache.Record) {
		var records []cache.Record
		var cached, rest []*Note
		for i, f := range x.Files {
			if !s.contains(f.Path) || !lies(f.Path, s.Folder) {
				continue
			}
			n := &Note{File: f.Path.String(), read: from.reading(f.Path), facts: f.Facts}
			if s.Texts && all[i].HasText() {
				records, cached = append(records, all[i]), append(cached, n)
				continue
			}
			rest = append(rest, n)
		}
		c.Texts(records, func(i int, text []byte, ok bool) {
			if ok {
				cached[i].text, cached[i].read = text, nil
			}
			visit(cached[i])
		})
		atOnce(rest, visit)
	})
}

// lies reports whether a file lies below a folder.
func lies(path, under disk.Path) bool {
	return under == (disk.Path{}) || strings.HasPrefix(path.String(), under.String()+"/")
}

// atOnce visits notes on all processors.
func atOnce(notes []*Note, visit func(*Note)) {
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(notes) {
				return
			}
			visit(notes[i])
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(notes)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
