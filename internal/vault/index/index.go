// Package index has the headings, links, tags, tasks and properties of every note of a
// vault, and which note links to which.
//
// An [Index] is the state of a vault at one moment and does not change. A new one is built
// from the old: only files whose size or time differ are read again. A file that cannot be
// read, or vanishes meanwhile, does not affect the rest. The index has no texts: a search
// reads the notes.
package index

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

// Index is a vault at one moment. It is safe for use by several goroutines.
type Index struct {
	// Files are all visible files, in the order of listings, in none if the index is sparse.
	Files []*File
	// Closed are the notes that are not among them because of their texts, see [disk.Judge], or because
	// these cannot be read.
	Closed []*File
	// Unread are the paths of the visible files and folders that are there and could not be read, sorted.
	Unread []string
	// IsPart says that the look had not come to all files when it was asked, or when it ended early, and Missing how many it
	// knew of that are not in the index.
	IsPart  bool
	Missing int

	sparse bool
	derived
}

// IsUnread reports whether the file at a path, or a folder above it, could not be read.
func (x *Index) IsUnread(path string) bool { return len(x.Unread) > 0 && isBelow(path, x.Unread) }

// UnreadNames returns those of [Index.Unread] whose names, or the names below which, are not in the index: folders, and
// notes that may be closed by their texts.
func (x *Index) UnreadNames() []string {
	return slices.DeleteFunc(slices.Clone(x.Unread), func(path string) bool {
		_, isNamed := x.Place(path)
		return isNamed
	})
}

// Memory keeps facts from one process to the next. The zero Memory keeps nothing. Its functions
// are called from several goroutines.
type Memory struct {
	// Recall returns the facts of the file with exactly this path and stamp, or the shelf on which they are.
	Recall func(disk.Path, system.Stamp) (Facts, *Shelf, bool)
	// Learn gets every file that had to be read, and its text, if its stamp is settled. It
	// does not keep the text.
	Learn func(*File, []byte)
	// Learned is called once no other file will be learned by this look.
	Learned   func()
	NoFilters bool // notes that are read get no filter for searches
	Sparse    bool // the index is for one call that asks for few of the files
	// Until is when the look ends with the files that it has come to by then. The zero time is never.
	Until time.Time
}

// Build looks at every file below folder and reads those whose current state neither old,
// which may be nil, nor memory has. Its error is that of listing the vault's own folder.
// begun is a moment before the call: younger stamps are not trusted. The files are
// counted, unless t is nil.
func Build(folder *disk.Folder, old *Index, memory Memory, begun time.Time, t *protocol.Tally) (*Index, error) {
	return Begin(folder, old, memory, begun, t).Finish()
}

// Begin returns the look of [Build], which has not looked at anything yet.
func Begin(folder *disk.Folder, old *Index, memory Memory, begun time.Time, t *protocol.Tally) *Look {
	l := &Look{folder: folder, old: old, memory: memory, begun: begun, tally: t, judges: folder.Judges()}
	if old != nil {
		l.known = make(map[disk.Path]*File, len(old.Files))
		for _, f := range slices.Concat(old.Files, old.Closed) {
			l.known[f.Path] = f
		}
	}
	return l
}

// Finish looks at the files, and returns the index. It is called once.
func (l *Look) Finish() (*Index, error) {
	if err := l.folder.Counting(l.found).Telling(l.tell).WalkUnread(disk.Path{}, l.visit); err != nil {
		return nil, err
	}
	l.ended.Store(true)
	if l.memory.Learned != nil {
		l.memory.Learned()
	}
	if l.memory.Sparse || l.IsPart() {
		return l.SoFar(), nil
	}
	sortFiles(l.files)
	x := newIndex(l.files, l.closed, l.old)
	x.Unread = slices.Sorted(maps.Keys(l.unread))
	return x, nil
}

// IsPart reports whether the look ended before it came to all files, because its time was over.
func (l *Look) IsPart() bool { return l.late.Load() > 0 }

// SoFar returns an index of the files that the look has come to, and of the others as they were in the index before, if
// there is one. It is sparse. It may be called while the look goes on.
func (l *Look) SoFar() *Index {
	l.mu.Lock()
	defer l.mu.Unlock()
	files := slices.Clone(l.files)
	closed := slices.Clone(l.closed)
	isPart := !l.ended.Load() || l.IsPart()
	done := int(l.done.Load())
	total := int(l.total.Load())
	if l.old != nil && isPart {
		seen := make(map[disk.Path]bool, done)
		for _, f := range slices.Concat(files, closed) {
			seen[f.Path] = true
		}
		isSeen := func(f *File) bool { return seen[f.Path] }
		files = append(files, slices.DeleteFunc(slices.Clone(l.old.Files), isSeen)...)
		closed = append(closed, slices.DeleteFunc(slices.Clone(l.old.Closed), isSeen)...)
		done = len(files) + len(closed)
	}
	x := newIndex(files, closed, nil)
	x.sparse = true
	x.Unread = slices.Sorted(maps.Keys(l.unread))
	x.IsPart = isPart
	if isPart {
		x.Missing = max(0, total-done)
	}
	return x
}

// newIndex makes an index of files in the order of listings, where old, which may be nil,
// was the one before.
func newIndex(files, closed []*File, old *Index) *Index {
	x := &Index{Files: files, Closed: closed}
	if old != nil {
		x.named.Store(old.named.Load())
		x.linked.Store(old.linked.Load())
	}
	x.names = sync.OnceValue(func() *lookup.Files {
		if before := x.named.Load(); before != nil {
			if d := compare(before.files, files); len(d.removed)+len(d.added) == 0 {
				x.named.Store(&named{files, before.names})
				return before.names
			}
		}
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.Path.String()
		}
		names := lookup.New(paths)
		x.named.Store(&named{files, names})
		return names
	})
	x.places = sync.OnceValue(func() map[string]int {
		places := make(map[string]int, len(files))
		for place, f := range files {
			places[f.Path.String()] = place
		}
		return places
	})
	x.graph = sync.OnceValue(func() *Graph {
		names := x.names()
		g := new(Graph)
		if before := x.linked.Load(); before != nil {
			g = before.changed(files, names)
		} else {
			g.out, g.missing = resolveAll(files, names)
			g.in = reversed(&g.out)
		}
		x.linked.Store(&linked{named{files, names}, g})
		return g
	})
	return x
}

// Resolve returns the place in Files of the target of a link that is in no note: the one
// that the parameter file= means.
func (x *Index) Resolve(name string) (place int, ok bool) { return x.names().Resolve(name, "") }

// Namesakes returns the paths of all files that a name may mean, see [lookup.Files.Namesakes].
func (x *Index) Namesakes(name string) (paths []string) {
	for _, place := range x.names().Namesakes(name) {
		paths = append(paths, x.Files[place].Path.String())
	}
	return paths
}

// Rivals returns the places in Files of all files that a link to a path may lead to instead, see [lookup.Files.Rivals].
func (x *Index) Rivals(path string) (places []int) {
	for _, place := range x.names().Rivals(path) {
		places = append(places, int(place))
	}
	return places
}

// Place returns the place in Files of the file with exactly this path.
func (x *Index) Place(path string) (place int, ok bool) {
	if x.sparse {
		place, ok = x.places()[path]
		return place, ok
	}
	return x.names().Index(path)
}

// ResolveFrom returns the place in Files of the target of a link in the file source.
// target is the path part of the link.
func (x *Index) ResolveFrom(target, source string) (place int, ok bool) {
	return x.names().Resolve(target, source)
}

// Look collects the current files of a vault. It is used by several goroutines.
type Look struct {
	folder *disk.Folder
	old    *Index // before it, nil for the first of this vault: then nearly all files are read, and stay
	known  map[disk.Path]*File
	memory Memory
	begun  time.Time
	tally  *protocol.Tally // may be nil
	judges bool            // the texts of notes may close them

	total, done atomic.Int64 // files that were found, and those that it has come to
	late        atomic.Int64 // files that it did not look at, because its time was over
	ended       atomic.Bool  // no further files are found

	mu     sync.Mutex
	files  []*File
	closed []*File
	unread map[string]bool // by path
}

// tell notes a file or folder that is there and cannot be read.
func (l *Look) tell(p disk.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unread == nil {
		l.unread = map[string]bool{}
	}
	l.unread[p.String()] = true
}

func (l *Look) visit(e disk.Entry) {
	if e.IsDir {
		return
	}
	if l.isOver() {
		l.late.Add(1)
		return
	}
	l.add(l.at(e.Path, e))
	l.done.Add(1)
	l.tally.Done()
}

// found counts files that will be visited.
func (l *Look) found(files int) {
	l.total.Add(int64(files))
	l.tally.Found(files)
}

// isOver reports whether the time for the look is over.
func (l *Look) isOver() bool {
	if l.memory.Until.IsZero() {
		return false
	}
	return l.IsPart() || time.Now().After(l.memory.Until)
}

func (l *Look) add(f *File) {
	if f == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.closed {
		l.closed = append(l.closed, f)
		return
	}
	l.files = append(l.files, f)
}

// source is a file that can be looked at and read: a [disk.Entry].
type source interface {
	Stamp() (system.Stamp, error)
	ReadInto([]byte) ([]byte, system.Stamp, error)
}

// at returns the file at a path as it is now, with the least necessary work. It is nil if
// the file is gone.
func (l *Look) at(path disk.Path, from source) *File {
	known := l.known[path]
	if !IsRead(path) && !(l.judges && disk.IsNote(path)) {
		if known != nil {
			return known
		}
		return newFile(path, system.Stamp{}, "")
	}
	if known == nil && l.memory.Recall == nil {
		return l.read(path, from) // no stamp can save the read
	}
	now, err := from.Stamp()
	if disk.IsMissing(err) {
		return nil
	}
	if err != nil {
		return l.withoutText(path, system.Stamp{}, err)
	}
	if known != nil && known.settled && known.Stamp == now {
		return known
	}
	if l.memory.Recall != nil {
		if facts, on, ok := l.memory.Recall(path, now); ok {
			f := newFile(path, now, facts)
			f.settled = true
			if on != nil {
				f.hasFacts = true
				f.Shelve(on)
			}
			return f
		}
	}
	return l.read(path, from)
}

// buffers are for the texts of files while they are scanned.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the largest buffer that is kept for the next file.
const maxBuffer = 256 << 10

func (l *Look) read(path disk.Path, from source) *File {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxBuffer {
			buffers.Put(buf)
		}
	}()
	text, state, err := from.ReadInto(*buf)
	if err != nil {
		if _, gone := from.Stamp(); disk.IsMissing(gone) {
			return nil
		}
		return l.withoutText(path, state, err)
	}
	*buf = text
	factsOf := Read
	if l.old == nil {
		factsOf = readTogether
	}
	f := newFile(path, state, factsOf(path, text))
	f.settled = state.Settled(l.begun)
	if f.IsNote() && !l.memory.NoFilters {
		f.Filter = TrigramsOf(text)
	}
	if l.memory.Learn != nil && f.settled && IsRead(path) {
		l.memory.Learn(f, text)
	}
	return f
}

// withoutText returns what the index has of a file whose text it does not get. A note that is closed by its text has
// no name in it, nor has one whose text cannot be looked at for that; of another file it has the name. err is that of the
// look at it, or of the read.
func (l *Look) withoutText(path disk.Path, state system.Stamp, err error) *File {
	if !l.judges || !disk.IsNote(path) {
		return newFile(path, system.Stamp{}, "")
	}
	isDecided := errors.Is(err, fs.ErrNotExist) || errors.Is(err, system.ErrElsewhere)
	return &File{Path: path, Stamp: state, settled: isDecided && state.Settled(l.begun), closed: true}
}

// Update returns the index after changes at some paths: of files, or of folders with
// everything below them, that may be new, changed or gone. Paths that no file of the vault
// can have are ignored.
func (x *Index) Update(folder *disk.Folder, paths []string, memory Memory, begun time.Time) (*Index, error) {
	l := &Look{old: x, memory: memory, begun: begun, judges: folder.Judges()}
	folder = folder.Telling(l.tell)
	// A change may be reported in another spelling, or by a short name: the path as the disk
	// has it counts, too. Paths below others are left out.
	all := slices.Clone(paths)
	for _, told := range paths {
		if path, err := disk.ParsePath(told); err == nil {
			if path, err = folder.Named(path); err == nil {
				all = append(all, path.String())
			}
		}
	}
	slices.Sort(all)
	var changes []string
	for _, path := range all {
		if !isBelow(path, changes) {
			changes = append(changes, path)
		}
	}
	for _, changed := range changes {
		path, err := disk.ParsePath(changed)
		if err != nil {
			continue
		}
		from := byPath{folder, folder.Judging(nil), path}
		_, err = from.Stamp()
		if err == nil || disk.IsUnread(err) {
			l.add(l.at(path, from))
			continue
		}
		// It is gone, or a folder, which may be unreadable.
		_ = folder.Told(path, folder.WalkUnread(path, l.visit))
	}
	closed := slices.DeleteFunc(slices.Clone(x.Closed), func(f *File) bool { return isBelow(f.Path.String(), changes) })
	y := newIndex(x.replace(changes, l.files), append(closed, l.closed...), x)
	y.Unread = slices.DeleteFunc(slices.Clone(x.Unread), func(path string) bool { return isBelow(path, changes) })
	y.Unread = append(y.Unread, slices.Collect(maps.Keys(l.unread))...)
	slices.Sort(y.Unread)
	return y, nil
}

// With returns the index of the vault in which a file has been written.
func (x *Index) With(path disk.Path, text []byte, written time.Time) *Index {
	s := system.Stamp{Size: int64(len(text)), Modified: written.UnixNano()}
	return newIndex(x.replace([]string{path.String()}, []*File{newFile(path, s, Read(path, text))}), x.Closed, x)
}

// byPath is a file that is read by its path.
type byPath struct {
	folder, unjudged *disk.Folder
	path             disk.Path
}

func (b byPath) Stamp() (system.Stamp, error) {
	stamp, err := b.unjudged.Stamp(b.path)
	return stamp, b.folder.Told(b.path, err)
}

func (b byPath) ReadInto([]byte) ([]byte, system.Stamp, error) { return b.folder.ReadHere(b.path) }

// few is how many paths are compared with a path one by one.
const few = 8

// isBelow reports whether a path, or a folder above it, is one of the sorted paths.
func isBelow(path string, paths []string) bool {
	if len(paths) <= few {
		return slices.ContainsFunc(paths, func(above string) bool {
			rest, ok := strings.CutPrefix(path, above)
			return ok && (rest == "" || rest[0] == '/')
		})
	}
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if _, found := slices.BinarySearch(paths, path[:end]); found {
			return true
		}
	}
	return false
}

// replace returns the files with those below the changed paths replaced by others, in the
// order of listings.
func (x *Index) replace(changed []string, fresh []*File) []*File {
	sortFiles(fresh)
	kept := make([]*File, 0, len(x.Files))
	for _, f := range x.Files {
		if !isBelow(f.Path.String(), changed) {
			kept = append(kept, f)
		}
	}
	if len(fresh) == 0 {
		return kept
	}
	files := make([]*File, 0, len(kept)+len(fresh))
	for _, f := range fresh {
		before, _ := slices.BinarySearchFunc(kept, f, inOrder)
		files = append(append(files, kept[:before]...), f)
		kept = kept[before:]
	}
	return append(files, kept...)
}

// manyFiles is how many files are sorted by two goroutines: comparing names as listings do
// takes time.
const manyFiles = 1000

func sortFiles(files []*File) {
	if len(files) < manyFiles {
		slices.SortFunc(files, inOrder)
		return
	}
	var a, b []keyed
	var other conc.WaitGroup
	other.Go(func() { a = sortedByKey(files[:len(files)/2]) })
	b = sortedByKey(files[len(files)/2:])
	other.Wait()
	for i := range files {
		if len(a) > 0 && (len(b) == 0 || byKey(a[0], b[0]) < 0) {
			files[i] = a[0].file
			a = a[1:]
		} else {
			files[i] = b[0].file
			b = b[1:]
		}
	}
}

// keyed is a file with what its place in listings depends on.
type keyed struct {
	key  []byte
	file *File
}

func sortedByKey(files []*File) []keyed {
	list := make([]keyed, len(files))
	var all []byte // many keys share a piece of memory
	var folder string
	var start []byte // of the keys of all files in folder: those of a folder mostly follow one another
	for i, f := range files {
		if cap(all)-len(all) < keySize {
			all = make([]byte, 0, keysSize)
		}
		if in := f.Path.Folder(); in != folder {
			folder = in
			start = filenames.AppendKey(nil, in)
		}
		at := len(all)
		all = filenames.AppendKey(append(all, start...), f.Path.String()[len(folder):])
		list[i] = keyed{all[at:], f}
	}
	slices.SortFunc(list, byKey)
	return list
}

// keysSize is how much memory keys take at a time, and keySize what one takes at most as a
// rule.
const keysSize, keySize = 64 << 10, 512

func byKey(a, b keyed) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return strings.Compare(a.file.Path.String(), b.file.Path.String())
}

// inOrder compares files as listings do.
func inOrder(a, b *File) int { return filenames.Compare(a.Path.String(), b.Path.String()) }
