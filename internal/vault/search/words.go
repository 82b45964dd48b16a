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

// words holds the word index of a vault, which is made for the first question that needs it.
type words struct {
	mu         sync.Mutex // guards all fields but stop and progress; held during a whole update, which may take long
	folder     *disk.Folder
	file       cache.Extra
	source     *index.Index // whose files are in index; nil if it is not known what index lacks
	index      *ranking.Index
	view       *ranking.View // of index, without the files that filters exclude
	filters    string
	unsaved    int  // number of files that are not in the cache file
	isReadOnly bool // never write the cache file
	// failed has the paths of files that are in index without their texts, because of a disk error that may be
	// temporary.
	failed   map[string]bool
	stop     atomic.Bool                   // set by [Store.Close]: nothing more is read
	progress atomic.Pointer[wordsProgress] // set while many files are read
}

const (
	// batchSize is how many files are added to the word index at once. The first batch is smaller, so that there is a
	// partial index soon.
	batchSize      = 4096
	firstBatchSize = 512
	// maxUnsaved is how many files may have to be read again after a restart.
	maxUnsaved = 500
	// Up to fewFiles files are read one by one. For more it is faster to go through the cached texts.
	fewFiles = 32
)

// wordsSuffix is the suffix of the file with the word index in the cache folder.
const wordsSuffix = ".words"

// Question is a question of a call to the word index.
type Question struct {
	// Filters identifies Excluded: equal Filters exclude the same files.
	Filters  string
	Excluded func(path string) bool
	// Until is when a partial index is used instead of waiting for all files. The zero time is never.
	Until time.Time
	// Use is called with the index and the number of files that it does not have yet.
	Use func(view *ranking.View, missing int) error
}

// includes returns the test for the files that an answer may contain. If x is partial, it excludes the files that x
// does not have: they may be gone, or hidden.
func (q Question) includes(x *index.Index) func(path string) bool {
	return func(path string) bool {
		if x.IsPart {
			if _, isKnown := x.Place(path); !isKnown {
				return false
			}
		}
		return !q.Excluded(path)
	}
}

// usableWords is the word index that a call gets.
type usableWords struct {
	view    *ranking.View
	missing int // number of files that it does not have yet
}

// wordsProgress is the state of the word index while many files are read.
type wordsProgress struct {
	folder  *disk.Folder
	partial atomic.Pointer[partialWords] // nil until the first batch is read
}

// partialWords is a word index of some files.
type partialWords struct {
	index   *ranking.Index
	source  *index.Index // whose files are read
	missing int          // number of files of source that index does not have yet
}

// usableFor returns a view of the partial index for a call that asks about the files of x.
func (s *partialWords) usableFor(x *index.Index, q Question) usableWords {
	missing := s.missing
	if s.source != x {
		changed, _ := s.index.Stale(stampsOf(x))
		missing = len(changed)
	}
	return usableWords{s.index.View(q.includes(x)), missing}
}

// stampsOf returns the paths of the files of an index with the stamp of each, see [StampOf].
func stampsOf(x *index.Index) func(yield func(string, uint64) bool) {
	return func(yield func(string, uint64) bool) {
		for _, f := range x.Files {
			if !yield(f.Path.String(), StampOf(f)) {
				return
			}
		}
	}
}

// partial returns the word index of the files of a folder that have been read so far. It returns nil before the first
// batch is read, and while no files are being read.
func (w *words) partial(folder *disk.Folder) *partialWords {
	progress := w.progress.Load()
	if progress == nil || progress.folder != folder {
		return nil
	}
	return progress.partial.Load()
}

// pollInterval is how often cancelWhenUsable checks for a partial word index.
const pollInterval = 20 * time.Millisecond

// cancelWhenUsable calls cancel once the time is past until and there is a partial word index. It returns when ctx
// ends.
func (w *words) cancelWhenUsable(ctx context.Context, folder *disk.Folder, until time.Time, cancel func()) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
	}
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for w.partial(folder) == nil {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
	}
	cancel()
}

// Words calls q.Use with the word index of the files of x, without the excluded ones; x must be the current index of
// the vault. The error is that of q.Use, or of the context or the budget of the call. Files that were read until then
// serve the next call, and a worker continues to read after the call has ended. If the saved word index is damaged,
// Words makes another one and calls q.Use again.
func (k *Store) Words(from View, x *index.Index, q Question) error {
	current := func() (usableWords, error) { return k.updateWords(from, x, q) }
	switch {
	// An index with planned changes serves no other call: it is not made in the background, nor used in part.
	case k.planned.onDisk != nil && k.Resident:
		update := current
		current = func() (usableWords, error) { return untilDone(from.Ctx, update) }
	case k.Resident:
		current = func() (usableWords, error) { return k.wordsInTime(from, x, q) }
	}
	use := func() error {
		usable, err := current()
		if err != nil {
			return err
		}
		return q.Use(usable.view, usable.missing)
	}
	if err := use(); !errors.Is(err, ranking.ErrDamaged) {
		return err
	}
	k.words.mu.Lock()
	k.words.forget()
	_ = k.words.file.Write(nil) // otherwise the damaged index is loaded again
	k.words.mu.Unlock()
	return use()
}

// wordsInTime returns the complete word index, or after q.Until a partial one. The update continues in the background
// if the call ends first.
func (k *Store) wordsInTime(from View, x *index.Index, q Question) (usableWords, error) {
	if partial := k.words.partial(from.Folder); partial != nil && x.IsPart { // x is partial itself: do not wait for more
		return partial.usableFor(x, q), nil
	}
	var waiting conc.WaitGroup
	defer waiting.Wait()
	ctx, cancel := context.WithCancel(from.Ctx)
	defer cancel()
	if !q.Until.IsZero() {
		waiting.Go(func() { k.words.cancelWhenUsable(ctx, from.Folder, q.Until, cancel) })
	}
	inBackground := from
	inBackground.Ctx = context.Background() // without the end and the budget of the call, because it may outlive the call
	inBackground.Own = nil
	complete := q
	complete.Until = time.Time{}
	usable, err := untilDone(ctx, func() (usableWords, error) {
		if err := from.Ctx.Err(); err != nil {
			return usableWords{}, err
		}
		return k.updateWords(inBackground, x, complete)
	})
	isOver := err != nil && ctx.Err() != nil
	if !isOver {
		return usable, err
	}
	if err := from.Ctx.Err(); err != nil {
		return usableWords{}, err
	}
	if partial := k.words.partial(from.Folder); partial != nil {
		return partial.usableFor(x, q), nil
	}
	return untilDone(from.Ctx, func() (usableWords, error) { return k.updateWords(inBackground, x, complete) })
}

// updateWords brings the word index up to date, as far as it can before q.Until.
func (k *Store) updateWords(from View, x *index.Index, q Question) (usableWords, error) {
	w := &k.words
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := from.Ctx.Err(); err != nil {
		return usableWords{}, err
	}
	if w.stop.Load() {
		return usableWords{}, context.Canceled
	}
	w.open(from)
	isCurrent := w.view != nil && w.source == x && w.filters == q.Filters
	if isCurrent && len(w.failed) == 0 {
		return usableWords{view: w.view}, nil
	}
	if x.IsPart {
		w.source = nil // x has another order of files
	}
	changed, gone := w.outdated(x)
	if x.IsPart {
		gone = nil // missing files may just not have been scanned yet
	}
	missing := 0
	if len(changed)+len(gone) > 0 {
		w.source = nil
		w.view = nil
		w.failed = nil
		var err error
		missing, err = k.readWords(from, x, changed, gone, q.Until)
		if err != nil {
			return usableWords{}, err
		}
	}
	if w.unsaved > maxUnsaved || !k.Resident {
		w.save()
	}
	view := w.index.View(q.includes(x))
	if missing > 0 || x.IsPart {
		return usableWords{view, missing}, nil
	}
	w.source = x
	w.view = view
	w.filters = q.Filters
	return usableWords{view: view}, nil
}

// outdated returns the files whose current content is not in the word index, and the files in it that are gone. If
// there is more than one batch of changed files, the last modified ones come first.
func (w *words) outdated(x *index.Index) (changed, gone []string) {
	if w.source == nil {
		changed, gone = w.index.Stale(stampsOf(x))
	} else {
		changed, gone = differences(w.source.Files, x.Files)
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
	if len(changed) > batchSize {
		slices.SortStableFunc(changed, func(a, b string) int { return cmp.Compare(modified(b), modified(a)) })
	}
	return changed, gone
}

// differences returns the paths of the files that are new or changed in after, and of those that are only in before.
func differences(before, after []*index.File) (changed, gone []string) {
	isKept := make([]bool, len(before))
	isChanged := map[string]bool{}
	for i, place := range index.Kept(before, after) {
		if place >= 0 {
			isKept[place] = true
			continue
		}
		path := after[i].Path.String()
		changed = append(changed, path)
		isChanged[path] = true
	}
	for i, f := range before {
		path := f.Path.String()
		if !isKept[i] && !isChanged[path] {
			gone = append(gone, path)
		}
	}
	return changed, gone
}

// readWords reads the changed files in batches, so that there is a partial index soon and that the memory for
// updating it is bounded. It returns how many files it has not read by until; the zero time is no limit.
func (k *Store) readWords(from View, x *index.Index, changed, gone []string, until time.Time) (missing int, err error) {
	w := &k.words
	size := batchSize
	if x.IsPart { // the call has little time left
		size = firstBatchSize
	}
	var progress *wordsProgress
	if len(changed) > size {
		progress = &wordsProgress{folder: from.Folder}
		w.progress.Store(progress)
		defer w.progress.Store(nil)
	}
	for first := true; first || len(changed) > 0; first = false {
		if !first && !until.IsZero() && time.Now().After(until) {
			return len(changed), nil
		}
		next := changed[:min(len(changed), size)]
		end := until
		if first && (len(changed) > size || !until.IsZero()) {
			next = changed[:min(len(changed), firstBatchSize)]
			end = time.Time{} // however late it is, each call reads some files
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
		if progress != nil && len(changed) > 0 {
			progress.partial.Store(&partialWords{w.index, x, len(changed)})
		}
	}
	return 0, nil
}

// OpenWords reads the saved word index, which [Store.Words] needs. It may be called while the index of files is made.
func (k *Store) OpenWords(from View) {
	k.words.mu.Lock()
	defer k.words.mu.Unlock()
	if !k.words.stop.Load() {
		k.words.open(from)
	}
}

// open loads the saved word index of the folder, unless the index of that folder is in memory.
func (w *words) open(from View) {
	if w.folder != from.Folder {
		w.save()
		w.forget()
		w.folder = from.Folder
		w.file = cache.NewExtra(ownerfiles.CacheFolder(from.Env, from.Path), from.source(), wordsSuffix)
	}
	if w.index == nil {
		w.index = cmp.Or(w.load(), &ranking.Index{})
	}
}

// save writes unsaved files to the cache file and loads the index from there, so that postings take no memory.
func (w *words) save() {
	if w.unsaved == 0 || w.isReadOnly {
		return
	}
	saved, err := w.index.Append(nil, BuildID())
	if err != nil || w.file.Write(saved) != nil {
		return
	}
	w.unsaved = 0
	if loaded := w.load(); loaded != nil {
		w.index = loaded
		w.view = nil
	}
}

// load returns the word index in the cache file, or nil if there is none that can be read.
func (w *words) load() (loaded *ranking.Index) {
	if file := w.file.Open(); file != nil {
		loaded, _ = ranking.Load(file, file.Size(), BuildID()) // it is nil if the index cannot be read
	}
	return loaded
}

// forget drops the index in memory.
func (w *words) forget() {
	w.index = nil
	w.view = nil
	w.source = nil
	w.unsaved = 0
	w.failed = nil
}

// StampOf returns a hash that identifies the content of a file, see [ranking.Doc]. It returns 0 for a file that has
// just been written, because such a file can change again without a change of its times.
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

// docsRead is what eachDoc has read for the word index.
type docsRead struct {
	count  int             // files that were added
	left   int             // files that were not read because the time was over
	failed map[string]bool // see words.failed
}

// eachDoc reads files and calls add for each, never concurrently. It stops reading at until, if that is not zero.
func (k *Store) eachDoc(
	from View,
	x *index.Index,
	files []string,
	until time.Time,
	add func(ranking.Doc),
) (docsRead, error) {
	r := &docReader{
		store:   k,
		call:    from,
		limited: from,
		spent:   budget.From(from.Ctx),
		index:   x,
		add:     add,
		missing: make(map[string]bool, len(files)),
	}
	if !until.IsZero() {
		var end context.CancelFunc
		r.limited.Ctx, end = context.WithDeadline(from.Ctx, until)
		defer end()
	}
	for _, path := range files {
		r.missing[path] = true
	}
	switch {
	case x.IsPart: // walking the vault would have to wait for the scan
		r.readNotes(files)
	case len(files) > fewFiles:
		walked := r.walkNotes()
		if err := cmp.Or(r.err, walked); err != nil {
			return r.read, err
		}
	}
	r.readRest()
	r.read.left = len(r.missing)
	return r.read, r.err
}

// docReader reads files for the word index.
type docReader struct {
	store   *Store
	call    View
	limited View // call, with the time limit for reading
	spent   *budget.Budget
	index   *index.Index
	add     func(ranking.Doc)

	mu      sync.Mutex
	missing map[string]bool // files that are not added yet
	read    docsRead
	err     error // of the context or the budget of the call
}

// goesOn reports whether there is time to read more.
func (r *docReader) goesOn() bool { return r.limited.Ctx.Err() == nil && !r.store.words.stop.Load() }

// addFile adds a file with its text. readErr is the error from reading the text.
func (r *docReader) addFile(path string, text []byte, readErr error) {
	place, isThere := r.index.Place(path)
	if !isThere {
		return
	}
	d := docOf(r.index.Files[place], text)
	isUnread := disk.IsUnread(readErr)
	if isUnread {
		d.Stamp = 0 // so that another process tries again
		r.call.reportUnread(path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if isUnread && !errors.Is(readErr, fs.ErrPermission) { // a change of permissions is reported by the watch
		if r.read.failed == nil {
			r.read.failed = map[string]bool{}
		}
		r.read.failed[path] = true // so that the next question tries again
	}
	if r.err == nil {
		r.err = errors.Join(r.spent.Step(1), r.call.Ctx.Err())
		if r.store.words.stop.Load() {
			r.err = context.Canceled
		}
	}
	if r.err == nil && r.missing[path] {
		delete(r.missing, path)
		r.read.count++
		r.add(d)
	}
}

// readNotes adds the notes among files. It reads each from the vault, several at a time.
func (r *docReader) readNotes(files []string) {
	budget.InParallel(len(files), 1, func(i, _ int) {
		place, isThere := r.index.Place(files[i])
		if !isThere || KindOf(files[i]) != ranking.Note || !r.goesOn() {
			return
		}
		text, _, err := r.call.Folder.ReadHere(r.index.Files[place].Path)
		r.addFile(files[i], text, err)
	})
}

// walkNotes adds the missing notes, with texts from the cache if it has them.
func (r *docReader) walkNotes() error {
	wanted := maps.Clone(r.missing) // missing changes during the walk
	reading := r.limited
	reading.Tally = nil // the scan for the index counts the files
	scope := Scope{
		Texts:    true,
		Excluded: func(string) bool { return false },
		Wanted:   func(n *Note) bool { return wanted[n.File] && r.goesOn() },
	}
	return r.store.EachNote(reading, scope, func(n *Note) {
		text := n.Text()
		if r.goesOn() { // otherwise reading the text may have been cancelled
			r.addFile(n.File, text, n.readErr)
		}
	})
}

// readRest adds the missing files, which are not notes or were created meanwhile, until the time limit or an error.
func (r *docReader) readRest() {
	for _, path := range slices.Sorted(maps.Keys(r.missing)) {
		isOver := r.limited.Ctx.Err() != nil && r.call.Ctx.Err() == nil
		if isOver {
			return
		}
		var text []byte
		var readErr error
		place, isThere := r.index.Place(path)
		kind := KindOf(path)
		hasText := kind == ranking.Note || kind == ranking.Canvas
		// Other files have no text to index and are found by their names.
		if isThere && hasText {
			text, readErr = r.call.Folder.Read(r.index.Files[place].Path)
		}
		r.addFile(path, text, readErr)
		if r.err != nil {
			return
		}
	}
}

// KindOf returns the kind of a file, by the extension of its path.
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

// docOf returns a file as package ranking indexes it. For attachments and bases only the name counts.
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
		d.Aliases = frontmatter.Aliases(properties)
		d.Tags = facts.Tags()
		for _, p := range properties {
			isOwnField := strings.EqualFold(p.Key, "aliases") || strings.EqualFold(p.Key, "tags")
			if !isOwnField {
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

// CanvasText returns the texts, labels, files and URLs in a canvas, one per line. It returns "" if text is not a
// canvas.
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
