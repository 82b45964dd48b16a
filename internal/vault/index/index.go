// Package index has the headings, links, tags, tasks and properties of every note of a
// vault, and which note links to which.
//
// An [Index] is the state of a vault at one moment and is immutable. A new index is built from the old
// one: only files whose stamp, such as size or time, differs are read again. A file that cannot be read,
// or vanishes meanwhile, does not affect the others. The index does not contain the texts of notes.
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

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

// Index is the state of a vault at one moment. It is safe for concurrent use.
type Index struct {
	// Files are all visible files, in the order of listings, or in any order if the index is sparse.
	Files []*File
	// Closed are the notes that are hidden because of their texts, see [disk.Judge], or because the texts
	// cannot be read for that. They are not in Files.
	Closed []*File
	// Unread are the sorted paths of the visible files and folders that exist but could not be read.
	Unread []string
	// IsPart reports that the index lacks files, because the scan was still in progress or ended early.
	IsPart  bool
	Missing int // number of files that were found but are not in the index

	sparse bool
	derived
}

// IsUnread reports whether the file at a path, or a folder above it, could not be read.
func (x *Index) IsUnread(path string) bool { return len(x.Unread) > 0 && isAtOrBelow(path, x.Unread) }

// UnreadNames returns the paths of [Index.Unread] that are not in Files: folders, and notes whose texts might hide
// them.
func (x *Index) UnreadNames() []string {
	return slices.DeleteFunc(slices.Clone(x.Unread), func(path string) bool {
		_, isNamed := x.Place(path)
		return isNamed
	})
}

// Memory connects a scan with facts that outlive the process. The zero Memory keeps nothing. Its functions must be
// safe for concurrent use.
type Memory struct {
	// Recall returns the facts of the file with exactly this path and stamp, or a shelf that has them.
	Recall func(disk.Path, system.Stamp) (Facts, *Shelf, bool)
	// Learn is called with every file that had to be read and whose stamp is settled, and with its
	// text. It must not keep the text.
	Learn func(*File, []byte)
	// Learned is called after the last call of Learn.
	Learned   func()
	NoFilters bool // compute no search filters for notes that are read
	Sparse    bool // the index is for a single call that needs few of the files
	// Until is when the scan stops, with the files that it has reached by then. The zero time is never.
	Until time.Time
}

// Build scans all files below folder and reads those whose current facts are neither in old, which may be
// nil, nor in memory. The error is that of listing folder itself. begun is a time before the call: stamps
// that are not older are not trusted. t counts the files; it may be nil.
func Build(folder *disk.Folder, old *Index, memory Memory, begun time.Time, t *protocol.Tally) (*Index, error) {
	return Begin(folder, old, memory, begun, t).Finish()
}

// Begin returns the scan of [Build], which [Look.Finish] runs.
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

// Finish scans the files and returns the index. It must be called only once.
func (l *Look) Finish() (*Index, error) {
	if err := l.folder.Counting(l.addFound).Telling(l.addUnread).WalkUnread(disk.Path{}, l.visit); err != nil {
		return nil, err
	}
	l.ended.Store(true)
	if l.memory.Learned != nil {
		l.memory.Learned()
	}
	if l.memory.Sparse || l.IsPart() {
		return l.SoFar(), nil
	}
	files := slices.Clone(l.files) // SoFar may be reading the list itself
	sortFiles(files)
	x := newIndex(files, l.closed, l.old)
	x.Unread = slices.Sorted(maps.Keys(l.unread))
	return x, nil
}

// IsPart reports whether the scan skipped files because its time was up.
func (l *Look) IsPart() bool { return l.late.Load() > 0 }

// SoFar returns a sparse index of the files that the scan has reached. If there is an old index, it also has the other
// files of that. SoFar may be called during the scan.
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

// newIndex returns an index of files, which are in the order of listings. old, which may be nil, is the
// index before.
func newIndex(files, closed []*File, old *Index) *Index {
	x := &Index{Files: files, Closed: closed}
	if old != nil {
		x.named.Store(old.named.Load())
		x.linked.Store(old.linked.Load())
	}
	x.names = sync.OnceValue(x.computeNames)
	x.places = sync.OnceValue(x.computePlaces)
	x.graph = sync.OnceValue(x.computeGraph)
	return x
}

// computeNames returns the names of the files, those of the index before if they are the same.
func (x *Index) computeNames() *lookup.Files {
	before := x.named.Load()
	if before != nil {
		d := compare(before.files, x.Files)
		hasSameNames := len(d.removed)+len(d.added) == 0
		if hasSameNames {
			x.named.Store(&named{x.Files, before.names})
			return before.names
		}
	}
	paths := make([]string, len(x.Files))
	for i, f := range x.Files {
		paths[i] = f.Path.String()
	}
	names := lookup.New(paths)
	x.named.Store(&named{x.Files, names})
	return names
}

// computePlaces returns the place of each file by its path.
func (x *Index) computePlaces() map[string]int {
	places := make(map[string]int, len(x.Files))
	for place, f := range x.Files {
		places[f.Path.String()] = place
	}
	return places
}

// computeGraph returns the links of the files. It follows the graph of the index before, if there is one.
func (x *Index) computeGraph() *Graph {
	names := x.names()
	g := new(Graph)
	if before := x.linked.Load(); before != nil {
		g = before.update(x.Files, names)
	} else {
		g.out, g.missing = resolveAll(x.Files, names)
		g.in = reversed(&g.out)
	}
	x.linked.Store(&linked{named{x.Files, names}, g})
	return g
}

// Resolve returns the place in Files of the target of a link that is not in a note, such as the value of
// the parameter file.
func (x *Index) Resolve(name string) (place int, ok bool) { return x.names().Resolve(name, "") }

// Namesakes returns the paths of all files that a name may mean, see [lookup.Files.Namesakes].
func (x *Index) Namesakes(name string) (paths []string) {
	for _, place := range x.names().Namesakes(name) {
		paths = append(paths, x.Files[place].Path.String())
	}
	return paths
}

// Rivals returns the places in Files of the files to which a link with a path may lead instead, see
// [lookup.Files.Rivals].
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

// Look is a scan of the current files of a vault. It is safe for concurrent use, except for [Look.Finish].
type Look struct {
	folder *disk.Folder
	old    *Index              // nil for the first scan of a vault, which reads nearly all files
	known  map[disk.Path]*File // visible and closed files of old; nil if all files are to be read
	memory Memory
	begun  time.Time
	tally  *protocol.Tally // may be nil
	judges bool            // the texts of notes may hide them

	total, done atomic.Int64 // number of files that were found and that were scanned
	late        atomic.Int64 // number of files that were skipped, because the time was up
	ended       atomic.Bool  // all files were found

	// large is held while a large file or a folder is read of many changes: texts of that size are in memory one by one.
	large sync.Mutex

	mu     sync.Mutex
	files  []*File
	closed []*File
	unread map[string]bool // by path
}

// addUnread records a file or folder that exists but cannot be read.
func (l *Look) addUnread(p disk.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unread == nil {
		l.unread = map[string]bool{}
	}
	l.unread[p.String()] = true
}

// visit adds the file of an entry, unless the time is up.
func (l *Look) visit(e disk.Entry) {
	if e.IsDir {
		return
	}
	if l.isOver() {
		l.late.Add(1)
		return
	}
	l.add(l.fileAt(e.Path, e))
	l.done.Add(1)
	l.tally.Done()
}

// addFound counts files that will be visited.
func (l *Look) addFound(files int) {
	l.total.Add(int64(files))
	l.tally.Found(files)
}

// isOver reports whether the time for the scan is up.
func (l *Look) isOver() bool {
	if l.memory.Until.IsZero() {
		return false
	}
	return l.IsPart() || time.Now().After(l.memory.Until)
}

// add adds a file to the visible or the closed files. f may be nil.
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

// source is a file whose stamp and text can be read, such as a [disk.Entry].
type source interface {
	Stamp() (system.Stamp, error)
	ReadInto([]byte) ([]byte, system.Stamp, error)
}

// fileAt returns the file at a path as it is now, with the least necessary work. It returns nil if the file
// is gone.
func (l *Look) fileAt(path disk.Path, from source) *File {
	known := l.known[path]
	if !IsRead(path) && !(l.judges && disk.IsNote(path)) {
		if known != nil {
			return known
		}
		return newFile(path, system.Stamp{}, "")
	}
	if known == nil && l.memory.Recall == nil {
		return l.read(path, from) // there are no facts that a matching stamp would allow to use
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

// buffers hold the texts of files while they are parsed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the capacity in bytes up to which a buffer is reused for other files.
const maxBuffer = 256 << 10

// read reads a file and computes its facts. It returns nil if the file is gone.
func (l *Look) read(path disk.Path, from source) *File {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxBuffer {
			buffers.Put(buf)
		}
	}()
	text, stamp, err := from.ReadInto(*buf)
	if err != nil {
		if _, stampErr := from.Stamp(); disk.IsMissing(stampErr) {
			return nil
		}
		return l.withoutText(path, stamp, err)
	}
	*buf = text
	factsOf := Read
	if l.old == nil {
		factsOf = readTogether
	}
	f := newFile(path, stamp, factsOf(path, text))
	f.settled = stamp.Settled(l.begun)
	if f.IsNote() && !l.memory.NoFilters {
		f.Filter = TrigramsOf(text)
	}
	if l.memory.Learn != nil && f.settled && IsRead(path) {
		l.memory.Learn(f, text)
	}
	return f
}

// withoutText returns the file for a path whose text could not be read. The file is closed if it is a note that its
// text hides, or might hide. err is the error of reading the stamp or the text.
func (l *Look) withoutText(path disk.Path, stamp system.Stamp, err error) *File {
	if !l.judges || !disk.IsNote(path) {
		return newFile(path, system.Stamp{}, "")
	}
	// With these errors, the next read would find the same: the file is hidden, or its text is only in the cloud.
	isDecided := errors.Is(err, fs.ErrNotExist) || errors.Is(err, system.ErrElsewhere)
	return &File{Path: path, Stamp: stamp, settled: isDecided && stamp.Settled(l.begun), closed: true}
}

// Update returns the index after changes at some paths. A path is that of a file, or of a folder with
// everything below it, and may be new, changed or gone. Paths that no file of the vault can have are ignored.
// x must not be sparse.
func (x *Index) Update(folder *disk.Folder, paths []string, memory Memory, begun time.Time) *Index {
	l := &Look{old: x, memory: memory, begun: begun, judges: folder.Judges()}
	folder = folder.Telling(l.addUnread)
	changes := changedPaths(folder, paths)
	_, _ = budget.WaitForEach(len(changes), func(i int) error {
		l.lookAt(folder, changes[i])
		return nil
	})
	closed := slices.DeleteFunc(slices.Clone(x.Closed), func(f *File) bool { return isAtOrBelow(f.Path.String(), changes) })
	y := newIndex(x.replace(changes, l.files), append(closed, l.closed...), x)
	y.Unread = slices.DeleteFunc(slices.Clone(x.Unread), func(path string) bool { return isAtOrBelow(path, changes) })
	y.Unread = append(y.Unread, slices.Collect(maps.Keys(l.unread))...)
	slices.Sort(y.Unread)
	return y
}

// changedPaths returns paths as the disk has them and as they are reported, because a change may be reported with another
// spelling or a short name. Paths below others are left out.
func changedPaths(folder *disk.Folder, reported []string) (changes []string) {
	named := make([]string, len(reported))
	_, _ = budget.WaitForEach(len(reported), func(i int) error {
		named[i] = reported[i]
		path, err := disk.ParsePath(reported[i])
		if err != nil {
			return nil
		}
		path, err = folder.Named(path)
		if err == nil {
			named[i] = path.String()
		}
		return nil
	})
	spellings := slices.Concat(reported, named)
	slices.Sort(spellings)
	for _, path := range spellings {
		if !isAtOrBelow(path, changes) {
			changes = append(changes, path)
		}
	}
	return changes
}

// lookAt adds the file at a path, or the files below it if that is a folder.
func (l *Look) lookAt(folder *disk.Folder, changed string) {
	path, err := disk.ParsePath(changed)
	if err != nil {
		return
	}
	from := byPath{folder, folder.Judging(nil), path}
	stamp, err := from.Stamp()
	isFile := err == nil || disk.IsUnread(err)
	if isFile && stamp.Size <= maxBuffer {
		l.add(l.fileAt(path, from))
		return
	}
	l.large.Lock()
	defer l.large.Unlock()
	if isFile {
		l.add(l.fileAt(path, from))
		return
	}
	// The path is gone, or a folder. If that cannot be read, Told records it; other errors mean that it is gone.
	_ = folder.Told(path, folder.WalkUnread(path, l.visit))
}

// With returns the index as it would be if the file at path had a text. It is for evaluating expressions: Unread is
// empty, and a closed note at path stays in Closed.
func (x *Index) With(path disk.Path, text []byte, written time.Time) *Index {
	s := system.Stamp{Size: int64(len(text)), Modified: written.UnixNano()}
	f := newFile(path, s, Read(path, text))
	files := x.replace([]string{path.String()}, []*File{f})
	return newIndex(files, x.Closed, x)
}

// byPath is a [source] that is read by its path.
type byPath struct {
	folder   *disk.Folder
	unjudged *disk.Folder // folder without judging texts
	path     disk.Path
}

func (b byPath) Stamp() (system.Stamp, error) {
	stamp, err := b.unjudged.Stamp(b.path)
	return stamp, b.folder.Told(b.path, err)
}

func (b byPath) ReadInto([]byte) ([]byte, system.Stamp, error) { return b.folder.ReadHere(b.path) }

// fewPaths is the number of paths up to which isAtOrBelow compares them one by one.
const fewPaths = 8

// isAtOrBelow reports whether a path, or a folder above it, is among the sorted paths.
func isAtOrBelow(path string, paths []string) bool {
	if len(paths) <= fewPaths {
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

// replace returns the files of x without those at or below the changed paths, and with fresh in their
// place, in the order of listings. It sorts fresh.
func (x *Index) replace(changed []string, fresh []*File) []*File {
	sortFiles(fresh)
	kept := make([]*File, 0, len(x.Files))
	for _, f := range x.Files {
		if !isAtOrBelow(f.Path.String(), changed) {
			kept = append(kept, f)
		}
	}
	if len(fresh) == 0 {
		return kept
	}
	files := make([]*File, 0, len(kept)+len(fresh))
	for _, f := range fresh {
		before, _ := slices.BinarySearchFunc(kept, f, inOrder)
		files = append(files, kept[:before]...)
		files = append(files, f)
		kept = kept[before:]
	}
	return append(files, kept...)
}

// manyFiles is the number of files from which two goroutines sort them, because comparing names in the
// order of listings is slow.
const manyFiles = 1000

// sortFiles sorts files in the order of listings.
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
		isNextInA := len(b) == 0 || len(a) > 0 && byKey(a[0], b[0]) < 0
		if isNextInA {
			files[i] = a[0].file
			a = a[1:]
		} else {
			files[i] = b[0].file
			b = b[1:]
		}
	}
}

// keyed is a file with its sort key in listings.
type keyed struct {
	key  []byte
	file *File
}

// sortedByKey returns files with their keys, in the order of listings.
func sortedByKey(files []*File) []keyed {
	list := make([]keyed, len(files))
	var keys []byte // a block of memory that many keys share
	var folder string
	var prefix []byte // of the keys of all files in folder: the files of a folder usually follow one another
	for i, f := range files {
		if cap(keys)-len(keys) < keySize {
			keys = make([]byte, 0, blockSize)
		}
		if parent := f.Path.Folder(); parent != folder {
			folder = parent
			prefix = filenames.AppendKey(nil, parent)
		}
		start := len(keys)
		keys = filenames.AppendKey(append(keys, prefix...), f.Path.String()[len(folder):])
		list[i] = keyed{keys[start:], f}
	}
	slices.SortFunc(list, byKey)
	return list
}

const (
	// blockSize is the size in bytes of a block of memory for keys.
	blockSize = 64 << 10
	// keySize is the length in bytes that keys usually do not exceed.
	keySize = 512
)

// byKey compares files by their keys, and files with the same key by their paths.
func byKey(a, b keyed) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return strings.Compare(a.file.Path.String(), b.file.Path.String())
}

// inOrder compares files in the order of listings.
func inOrder(a, b *File) int { return filenames.Compare(a.Path.String(), b.Path.String()) }
