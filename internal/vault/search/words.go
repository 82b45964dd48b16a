package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/index/cache"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/ranking"
)

// words is the index of words of a vault, which is made at the first question that needs it.
type words struct {
	turn       sync.Mutex // held while a call brings it up to date
	folder     *disk.Folder
	place      cache.Extra
	of         *index.Index // that index is of; nil if it is not known what index lacks
	index      *ranking.Index
	view       *ranking.View // of index, without the files that are excluded by filters
	filters    string
	unsaved    int  // files that the cache file does not have
	isReadOnly bool // the cache file is only read
	// failed are the paths of files that are in index without their texts, because of a fault of the disk that may pass.
	failed map[string]bool
	stop   atomic.Bool                 // what is read is not wanted any more
	part   atomic.Pointer[partOfWords] // what there is while many files are read, nil at other times
}

const (
	// atOnce is how many files are added to the index of words at once, and firstOnes how many of many are first.
	atOnce    = 4096
	firstOnes = 512
	// maxUnsaved is how many files are read again after a restart at most.
	maxUnsaved = 500
	// fewFiles are read one by one. For more it is faster to go through the cached texts.
	fewFiles = 32
)

// wordsEnd is the suffix of the file with the index of words in the folder of caches.
const wordsEnd = ".words"

// Question is what a call asks the index of words.
type Question struct {
	// Filters tells what Excluded excludes.
	Filters  string
	Excluded func(path string) bool
	// Until is when the files that are known by then have to do. The zero time is never.
	Until time.Time
	// Use is called with the index, and with how many files it does not have yet.
	Use func(view *ranking.View, missing int) error
}

// mayFind returns the test for the files that an answer may have. What an index of some files does not have is not known: it
// may be gone, or hidden.
func (q Question) mayFind(x *index.Index) func(path string) bool {
	return func(path string) bool {
		if x.IsPart {
			if _, isKnown := x.Place(path); !isKnown {
				return false
			}
		}
		return !q.Excluded(path)
	}
}

// wordsKnown is the index of words that a call gets.
type wordsKnown struct {
	view    *ranking.View
	missing int // files that it does not have yet
}

// partOfWords is the index while further files are read.
type partOfWords struct {
	folder *disk.Folder
	known  atomic.Pointer[wordsOfSome] // nil before the first files are read
}

// wordsOfSome is the index of some files.
type wordsOfSome struct {
	index   *ranking.Index
	of      *index.Index // whose files are read
	missing int          // files of that which it does not have yet
}

// known returns what a call for the files of x gets of an index of some files.
func (s *wordsOfSome) known(x *index.Index, q Question) wordsKnown {
	missing := s.missing
	if s.of != x {
		changed, _ := s.index.Stale(stampsOf(x))
		missing = len(changed)
	}
	return wordsKnown{s.index.View(q.mayFind(x)), missing}
}

// stampsOf returns the paths of the files of an index, with what tells the content of each from others.
func stampsOf(x *index.Index) func(yield func(string, uint64) bool) {
	return func(yield func(string, uint64) bool) {
		for _, f := range x.Files {
			if !yield(f.Path.String(), StampOf(f)) {
				return
			}
		}
	}
}

// some returns the index of the files of a folder that are read so far, nil while there are none, or where no files are read.
func (w *words) some(folder *disk.Folder) *wordsOfSome {
	part := w.part.Load()
	if part == nil || part.folder != folder {
		return nil
	}
	return part.known.Load()
}

// lookApart is the time between two looks at what is read so far.
const lookApart = 20 * time.Millisecond

// endWithSome calls end once the time is over and there is an index of some files. It returns when ctx ends.
func (w *words) endWithSome(ctx context.Context, folder *disk.Folder, until time.Time, end func()) {
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	select {
	case <-ctx.Done():
		return
	case <-over.C:
	}
	look := time.NewTicker(lookApart)
	defer look.Stop()
	for w.some(folder) == nil {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
	end()
}

// Words has q use the index of words of the files of x, which is the index of a vault as it is, without the excluded ones.
// The error is that of its use, of the context or the budget of the call. What was read until then serves the next
// call, and a worker goes on to read after the call has ended. Where the saved index is damaged, another one is made, and
// it is used again.
func (k *Store) Words(from View, x *index.Index, q Question) error {
	current := func() (wordsKnown, error) { return k.wordsInTurn(from, x, q) }
	switch {
	case k.planned.on != nil && k.Resident: // it is of no use after the call
		inTurn := current
		current = func() (wordsKnown, error) { return untilDone(from.Ctx, inTurn) }
	case k.Resident:
		current = func() (wordsKnown, error) { return k.wordsInTime(from, x, q) }
	}
	for again := false; ; again = true {
		known, err := current()
		if err == nil {
			err = q.Use(known.view, known.missing)
		}
		if again || !errors.Is(err, ranking.ErrDamaged) {
			return err
		}
		k.words.turn.Lock()
		k.words.forget()
		_ = k.words.place.Write(nil) // or it is damaged again
		k.words.turn.Unlock()
	}
}

// wordsInTime returns the index of words when it is complete, or what there is of it when the time for that is over.
func (k *Store) wordsInTime(from View, x *index.Index, q Question) (wordsKnown, error) {
	if some := k.words.some(from.Folder); some != nil && x.IsPart { // the next call has the files of a later look
		return some.known(x, q), nil
	}
	var waiting conc.WaitGroup
	defer waiting.Wait()
	ctx, end := context.WithCancel(from.Ctx)
	defer end()
	if !q.Until.IsZero() {
		waiting.Go(func() { k.words.endWithSome(ctx, from.Folder, q.Until, end) })
	}
	inBackground := from
	inBackground.Ctx = context.Background() // with a budget of its own: it goes on after the call
	inBackground.Own = nil
	complete := q
	complete.Until = time.Time{}
	known, err := untilDone(ctx, func() (wordsKnown, error) {
		if err := from.Ctx.Err(); err != nil {
			return wordsKnown{}, err
		}
		return k.wordsInTurn(inBackground, x, complete)
	})
	isOver := err != nil && ctx.Err() != nil
	if !isOver {
		return known, err
	}
	if err := from.Ctx.Err(); err != nil {
		return wordsKnown{}, err
	}
	if some := k.words.some(from.Folder); some != nil {
		return some.known(x, q), nil
	}
	return untilDone(from.Ctx, func() (wordsKnown, error) { return k.wordsInTurn(inBackground, x, complete) })
}

// wordsInTurn brings the index of words up to date, or as far as the time for it allows.
func (k *Store) wordsInTurn(from View, x *index.Index, q Question) (wordsKnown, error) {
	w := &k.words
	w.turn.Lock()
	defer w.turn.Unlock()
	if err := from.Ctx.Err(); err != nil {
		return wordsKnown{}, err
	}
	w.open(from)
	isCurrent := w.view != nil && w.of == x && w.filters == q.Filters
	if isCurrent && len(w.failed) == 0 {
		return wordsKnown{view: w.view}, nil
	}
	if x.IsPart {
		w.of = nil // whose order x does not have
	}
	changed, gone := w.outdated(x)
	if x.IsPart {
		gone = nil // or not looked at yet
	}
	missing := 0
	if len(changed)+len(gone) > 0 {
		w.of = nil
		w.view = nil
		w.failed = nil
		var err error
		if missing, err = k.readWords(from, x, changed, gone, q.Until); err != nil {
			return wordsKnown{}, err
		}
	}
	if w.unsaved > maxUnsaved || !k.Resident {
		w.save()
	}
	view := w.index.View(q.mayFind(x))
	if missing > 0 || x.IsPart {
		return wordsKnown{view, missing}, nil
	}
	w.of = x
	w.view = view
	w.filters = q.Filters
	return wordsKnown{view: view}, nil
}

// outdated returns the files that the index of words does not have as they are, the latest first, and those that are gone.
func (w *words) outdated(x *index.Index) (changed, gone []string) {
	if w.of == nil {
		changed, gone = w.index.Stale(stampsOf(x))
	} else {
		before := make([]bool, len(w.of.Files))
		now := map[string]bool{}
		for i, place := range index.Kept(w.of.Files, x.Files) {
			if place >= 0 {
				before[place] = true
				continue
			}
			path := x.Files[i].Path.String()
			changed = append(changed, path)
			now[path] = true
		}
		for i, kept := range before {
			if path := w.of.Files[i].Path.String(); !kept && !now[path] {
				gone = append(gone, path)
			}
		}
	}
	for path := range w.failed {
		if _, isThere := x.Place(path); isThere && !slices.Contains(changed, path) {
			changed = append(changed, path)
		}
	}
	modified := func(path string) int64 {
		place, isThere := x.Place(path)
		if !isThere {
			return 0
		}
		return x.Files[place].Stamp.Modified
	}
	if len(changed) > atOnce {
		slices.SortStableFunc(changed, func(a, b string) int { return cmp.Compare(modified(b), modified(a)) })
	}
	return changed, gone
}

// readWords reads files some at a time, so that there is an index of some of them soon, and that the memory for making it is
// bounded. It returns how many files are left once the time is over.
func (k *Store) readWords(from View, x *index.Index, changed, gone []string, until time.Time) (missing int, err error) {
	w := &k.words
	w.stop.Store(false)
	atOnce := atOnce
	if x.IsPart { // the call has little time left
		atOnce = firstOnes
	}
	var part *partOfWords
	if len(changed) > atOnce {
		part = &partOfWords{folder: from.Folder}
		w.part.Store(part)
		defer w.part.Store(nil)
	}
	for first := true; first || len(changed) > 0; first = false {
		if !first && !until.IsZero() && time.Now().After(until) {
			return len(changed), nil
		}
		next := changed[:min(len(changed), atOnce)]
		end := until
		if first && (len(changed) > atOnce || !until.IsZero()) {
			next = changed[:min(len(changed), firstOnes)]
			end = time.Time{} // however late it is, each call reads some more
		}
		changed = changed[len(next):]
		var read docsRead
		updated, damaged := w.index.Update(
			func(add func(ranking.Doc)) { read, err = k.eachDoc(from, x, next, end, add) },
			gone,
		)
		if damaged != nil {
			return 0, cmp.Or(err, damaged)
		}
		w.index = updated
		w.unsaved += read.count + len(gone)
		gone = nil
		for path := range read.failed {
			if w.failed == nil {
				w.failed = map[string]bool{}
			}
			w.failed[path] = true
		}
		if err != nil {
			return 0, err
		}
		if read.left > 0 {
			return read.left + len(changed), nil
		}
		if part != nil && len(changed) > 0 {
			part.known.Store(&wordsOfSome{w.index, x, len(changed)})
		}
	}
	return 0, nil
}

// OpenWords reads what [Store.Words] needs of the cache file. It may be called while the index is made.
func (k *Store) OpenWords(from View) {
	k.words.turn.Lock()
	defer k.words.turn.Unlock()
	k.words.open(from)
}

func (w *words) open(from View) {
	if w.folder != from.Folder {
		w.save()
		w.forget()
		w.folder, w.place = from.Folder, cache.NewExtra(
			ownerfiles.CacheFolder(from.Env, from.Path),
			from.source(),
			wordsEnd,
		)
	}
	if w.index == nil {
		w.index = cmp.Or(w.load(), &ranking.Index{})
	}
}

// save writes what the cache file does not have. Postings are then read from the file, and take no memory.
func (w *words) save() {
	if w.unsaved == 0 || w.isReadOnly {
		return
	}
	saved, err := w.index.Append(nil, BuildID())
	if err != nil || w.place.Write(saved) != nil {
		return
	}
	w.unsaved = 0
	if loaded := w.load(); loaded != nil {
		w.index = loaded
		w.view = nil
	}
}

// load returns the index in the cache file, nil if there is none that can be read.
func (w *words) load() (loaded *ranking.Index) {
	if file := w.place.Open(); file != nil {
		loaded, _ = ranking.Load(file, file.Size(), BuildID()) // it is nil with an error
	}
	return loaded
}

func (w *words) forget() {
	w.index = nil
	w.view = nil
	w.of = nil
	w.unsaved = 0
	w.failed = nil
}

// StampOf tells the content of a file from others. It is 0 for a file that was written a moment ago, because that may
// change and keep its stamp.
func StampOf(f *index.File) (stamp uint64) {
	if !f.Settled() && f.HasFacts() {
		return 0
	}
	stamp = 1
	for _, part := range [...]uint64{uint64(f.Stamp.Size), uint64(f.Stamp.Modified), uint64(f.Stamp.Changed), f.Stamp.Inode} {
		stamp = (stamp ^ part) * 0x9e3779b97f4a7c15 // as in splitmix64
		stamp ^= stamp >> 29
	}
	return stamp | 1
}

// docsRead is what was added to the index of words.
type docsRead struct {
	count  int             // files
	left   int             // files that were not read because the time was over
	failed map[string]bool // see words
}

// eachDoc reads files and adds them one by one, up to a time unless that is zero.
func (k *Store) eachDoc(
	from View,
	x *index.Index,
	files []string,
	until time.Time,
	add func(ranking.Doc),
) (read docsRead, err error) {
	reading := from
	if !until.IsZero() {
		var end context.CancelFunc
		reading.Ctx, end = context.WithDeadline(from.Ctx, until)
		defer end()
	}
	isRead := func() bool { return reading.Ctx.Err() == nil && !k.words.stop.Load() }
	var mu sync.Mutex
	missing := make(map[string]bool, len(files))
	for _, p := range files {
		missing[p] = true
	}
	used := budget.From(from.Ctx)
	take := func(p string, text []byte, failed error) {
		place, known := x.Place(p)
		if !known {
			return
		}
		d := docOf(x.Files[place], text)
		isUnread := disk.IsUnread(failed)
		if isUnread {
			d.Stamp = 0 // another process tries again
			from.tell(p)
		}
		mu.Lock()
		defer mu.Unlock()
		if isUnread && !errors.Is(failed, fs.ErrPermission) { // a change of the permissions is reported
			if read.failed == nil {
				read.failed = map[string]bool{}
			}
			read.failed[p] = true // the next question tries again
		}
		if err == nil {
			err = errors.Join(used.Step(1), from.Ctx.Err())
			if k.words.stop.Load() {
				err = context.Canceled
			}
		}
		if err == nil && missing[p] {
			delete(missing, p)
			read.count++
			add(d)
		}
	}
	if x.IsPart { // to go through the vault waits for the look at its files
		budget.InParallel(len(files), 1, func(i, _ int) {
			place, isKnown := x.Place(files[i])
			if isKnown && isRead() && KindOf(files[i]) == ranking.Note {
				text, _, failed := from.Folder.ReadHere(x.Files[place].Path)
				take(files[i], text, failed)
			}
		})
	} else if len(files) > fewFiles {
		wanted := maps.Clone(missing) // which does not change while it is asked
		reading.Tally = nil           // the files are counted by the index
		walked := k.EachNote(reading, Scope{
			Texts:    true,
			Excluded: func(string) bool { return false },
			Wanted:   func(n *Note) bool { return wanted[n.File] && isRead() },
		}, func(n *Note) {
			text := n.Text()
			if isRead() { // or the text may have been given up
				take(n.File, text, n.failed)
			}
		})
		if err = cmp.Or(err, walked); err != nil {
			return read, err
		}
	}
	// What is no note, and what was made meanwhile.
	for _, p := range slices.Sorted(maps.Keys(missing)) {
		isOver := reading.Ctx.Err() != nil && from.Ctx.Err() == nil
		if isOver {
			break
		}
		var text []byte
		var failed error
		if place, known := x.Place(p); known && KindOf(p) <= ranking.Canvas {
			text, failed = from.Folder.Read(x.Files[place].Path) // without one it is found by its name
		}
		if take(p, text, failed); err != nil {
			break
		}
	}
	read.left = len(missing)
	return read, err
}

// KindOf returns what the file at a path is for package ranking.
func KindOf(p string) ranking.Kind {
	switch strings.ToLower(path.Ext(p)) {
	case ".md":
		return ranking.Note
	case ".canvas":
		return ranking.Canvas
	case ".base":
		return ranking.Base
	}
	return ranking.Attachment
}

func docOf(f *index.File, text []byte) ranking.Doc {
	d := ranking.Doc{Path: f.Path.String(), Kind: KindOf(f.Path.String()), Stamp: StampOf(f)}
	switch d.Kind {
	case ranking.Canvas:
		d.Body = CanvasText(text)
	case ranking.Note:
		text = text[:min(len(text), ranking.MaxBody)]
		d.Body = string(text[markdown.BodyStart(text):])
		facts := f.Facts()
		for _, h := range facts.Headings() {
			d.Headings = append(d.Headings, h.Text)
		}
		properties := facts.Properties()
		d.Aliases, d.Tags = frontmatter.Aliases(properties), facts.Tags()
		for _, p := range properties {
			if !strings.EqualFold(p.Key, "aliases") && !strings.EqualFold(p.Key, "tags") {
				d.Properties = append(d.Properties, p.Value.Text())
			}
		}
		facts.EachLink(func(l *markdown.Link) {
			if l.Display != "" {
				d.Links = append(d.Links, l.Display)
			}
		})
	}
	return d
}

// CanvasText returns the texts of a canvas, a line for each card, group and edge; "" where it is none.
func CanvasText(text []byte) string {
	type part struct{ Text, Label, File, URL string }
	var canvas struct{ Nodes, Edges []part }
	if json.Unmarshal(text, &canvas) != nil {
		return ""
	}
	var lines []string
	for _, p := range append(canvas.Nodes, canvas.Edges...) {
		for _, s := range []string{p.Text, p.Label, p.File, p.URL} {
			if s != "" {
				lines = append(lines, s)
			}
		}
	}
	return strings.Join(lines, "\n")
}
