package disk

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Entry is one file or folder that a walk meets. Its methods may be called only while the
// walk visits it.
type Entry struct {
	Path  Path
	IsDir bool
	at    place // the open folder that contains it
	in    *Folder
}

// Info returns what is known about a file, with the errors of [Folder.Open].
func (e Entry) Info() (fs.FileInfo, error) {
	info, err := e.at.info(e.Path.Base())
	return info, e.in.Told(e.Path, err)
}

// Stamp returns the state of a file, with the errors of [Folder.Open].
func (e Entry) Stamp() (system.Stamp, error) {
	stamp, err := e.at.stamp(e.Path.Base())
	return stamp, e.in.Told(e.Path, err)
}

// Read returns a whole file and its stamp as [Folder.ReadStamped] does, but fetches none
// from the cloud: the error is then [system.ErrElsewhere]. It costs less than a read by
// path, because the folder is open already.
func (e Entry) Read() ([]byte, system.Stamp, error) { return e.ReadInto(nil) }

// ReadInto is Read into the memory of buf, or into other memory if the file does not fit.
// The content of buf is lost either way.
func (e Entry) ReadInto(buf []byte) ([]byte, system.Stamp, error) {
	if isElsewhere(e.at, e.Path.Base()) {
		return nil, system.Stamp{}, e.in.Told(e.Path, system.ErrElsewhere)
	}
	text, stamp, err := e.at.read(e.Path.Base(), buf)
	text, stamp, err = e.in.passes(e.Path, text, stamp, err)
	return text, stamp, e.in.Told(e.Path, err)
}

// Walk visits every visible file and folder below the folder under, a folder before its
// content, in no particular order. Links, special files and names that no [Path] can have
// are left out: what is listed can be read. A folder that cannot be entered or vanished
// meanwhile counts as empty. If under is no folder, the error is fs.ErrNotExist or a
// [Refusal].
func (f *Folder) Walk(under Path, visit func(Entry)) error {
	return f.walkWith(walkOptions{workers: 1}, under, visit)
}

// judgeFolder says whether a walk visits a folder, and whether it enters it: it does both with one that the view sees.
func (w *walk) judgeFolder(p Path) (visited, entered bool) {
	if w.in.seesFolder(p) {
		return true, true
	}
	return false, w.in.view.Enters(p.text)
}

// batch is how many files of a folder are one job: enough to make taking it cheap, few
// enough that one large folder keeps all processors busy.
const batch = 64

// WalkParallel is Walk with as many concurrent visits as there are processors: a folder
// may be visited after its content, and visit has to guard what it shares. It returns when
// the last visit has.
func (f *Folder) WalkParallel(under Path, visit func(Entry)) error {
	return f.walkWith(walkOptions{workers: budget.Goroutines()}, under, visit)
}

// WalkUnread is WalkParallel that visits also the notes that their texts close. The visit has to
// read each note before it uses its name, and to leave out one whose read ends with
// fs.ErrNotExist.
func (f *Folder) WalkUnread(under Path, visit func(Entry)) error {
	return f.walkWith(walkOptions{workers: budget.Goroutines(), unread: true}, under, visit)
}

// WalkFolders is WalkParallel that visits the folders alone. It costs less, because
// nothing is done for each file.
func (f *Folder) WalkFolders(under Path, visit func(Path)) error {
	return f.walkWith(walkOptions{workers: budget.Goroutines(), foldersOnly: true}, under, func(e Entry) {
		if e.IsDir {
			visit(e.Path)
		}
	})
}

// walkOptions say how a walk is made.
type walkOptions struct {
	workers     int  // up to so many; with one, a folder is visited before its content
	foldersOnly bool // files are not visited
	unread      bool // the notes that their texts close are visited too, see [Folder.WalkUnread]
}

func (f *Folder) walkWith(how walkOptions, under Path, visit func(Entry)) error {
	w, err := f.begin(under, visit)
	if err != nil {
		return err
	}
	w.most = how.workers
	w.unread = how.unread
	// Files count where they alone show that the first folder exists.
	w.skipsFiles = how.foldersOnly && w.seen == nil
	at, err := f.place(under.segments())
	if err == nil {
		err = w.folder(at, under)
	}
	if err != nil {
		return w.end(under, err)
	}
	w.work()
	w.running.Wait()
	if w.failed != nil {
		return w.failed
	}
	return w.end(under, nil)
}

// begin returns the walk that begins in the folder under, or the error of a folder that
// cannot be seen.
func (f *Folder) begin(under Path, visit func(Entry)) (*walk, error) {
	w := &walk{in: f, visit: visit, workers: 1}
	w.more.L = &w.mu
	if under == (Path{}) {
		return w, nil
	}
	if err := f.isNamed(under); err != nil {
		return nil, err
	}
	visited, entered := w.judgeFolder(under)
	if !entered || f.IsClosed(under) || f.isBelowClosed(under) {
		return nil, missing(under)
	}
	if !visited {
		w.seen = new(atomic.Int64)
		w.visit = func(e Entry) {
			w.seen.Add(1)
			visit(e)
		}
	}
	return w, nil
}

// end returns the error of a walk, of which err is the error of opening or listing its
// first folder. An invisible folder in which nothing is visible does not exist, and it is
// not revealed whether there is something else in its place.
func (w *walk) end(under Path, err error) error {
	hidden := w.seen != nil && (IsMissing(err) || errors.Is(err, fs.ErrPermission))
	if hidden || err == nil && w.seen != nil && w.seen.Load() == 0 {
		return missing(under)
	}
	return err
}

// walk is one walk: a few workers, of which the caller is the first, and the jobs that they
// find for one another. The newest job is done first (depth first), so that no more folders
// are open than necessary.
type walk struct {
	in    *Folder
	visit func(Entry)
	// unread says that the visit reads each note itself, see [Folder.WalkUnread].
	unread bool
	// seen counts the visits of a walk that begins in an invisible folder, nil for any
	// other.
	seen       *atomic.Int64
	skipsFiles bool
	most       int // workers at once
	running    conc.WaitGroup

	mu      sync.Mutex
	more    sync.Cond // there are jobs, or there will be none
	jobs    []job
	open    int // jobs that wait or are being done
	workers int
	failed  error // the first errors that do not make a folder count as empty
}

// job is files of one folder to be visited, or if there are none, a folder to be entered.
type job struct {
	in     *sharedPlace
	files  []Path
	folder Path
}

// sharedPlace is an open folder that is closed by the last of its jobs.
type sharedPlace struct {
	place
	users atomic.Int64
}

// work does jobs until there are none and none can come.
func (w *walk) work() {
	for {
		w.mu.Lock()
		for len(w.jobs) == 0 && w.open > 0 {
			w.more.Wait()
		}
		last := len(w.jobs) - 1
		if last < 0 {
			w.mu.Unlock()
			return
		}
		j := w.jobs[last]
		w.jobs = w.jobs[:last]
		w.mu.Unlock()
		w.do(j)
	}
}

func (w *walk) do(j job) {
	defer func() {
		if j.in.users.Add(-1) == 0 {
			j.in.close()
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.open--; w.open == 0 {
			w.more.Broadcast()
		}
	}()
	for _, path := range j.files {
		// A file that cannot be read because of its further names, or of its text, is not listed either.
		if w.in.view != nil {
			if _, err := j.in.stamp(path.Base()); IsHardLinked(err) {
				continue
			}
		}
		if w.unread || w.judges(j.in.place, path) {
			w.visit(Entry{Path: path, at: j.in.place, in: w.in})
		}
	}
	if len(j.files) > 0 {
		return
	}
	if visited, _ := w.judgeFolder(j.folder); visited {
		w.visit(Entry{Path: j.folder, IsDir: true, at: j.in.place, in: w.in})
	}
	err := w.enter(j)
	// One that vanished or cannot be entered counts as empty, and so does any other that is told of.
	if w.in.Told(j.folder, err); IsUnread(err) && w.in.tell == nil && !errors.Is(err, fs.ErrPermission) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = errors.Join(w.failed, err)
	}
}

// enter makes jobs of the content of a folder. Listing one that is in the cloud would fetch it.
func (w *walk) enter(j job) error {
	if isFolderElsewhere(j.in, j.folder.Base()) {
		return system.ErrElsewhere
	}
	sub, err := j.in.step(j.folder.Base())
	if err != nil {
		return err
	}
	return w.folder(sub, j.folder)
}

// elsewhere reports whether what is in a file or folder is fetched from a cloud when it is read. It is nil on a system on
// which nothing is, and another function in tests.
var elsewhere = onlyWhereCloudFilesAre()

func onlyWhereCloudFilesAre() func(fs.FileInfo) bool {
	if system.HasCloudFiles {
		return system.IsElsewhere
	}
	return nil
}

// isElsewhere reports whether the content of a file is fetched from a cloud when it is read.
func isElsewhere(at place, name string) bool {
	if elsewhere == nil {
		return false
	}
	info, err := at.info(name)
	return err == nil && elsewhere(info)
}

// isFolderElsewhere reports whether the names in a folder are fetched from a cloud when they are listed.
func isFolderElsewhere(at place, name string) bool {
	if elsewhere == nil {
		return false
	}
	info, err := at.lookAtFolder(name)
	return err == nil && elsewhere(info)
}

// judges reports whether the text of a note lets it be visited. A note that cannot be read may be a closed one: its name
// is not shown.
func (w *walk) judges(at place, p Path) bool {
	closed, err := w.in.judge.decide(at, p)
	return w.in.Told(p, err) == nil && !closed
}

// folder makes jobs of the content of a place, which the last of them closes. The error is
// that of listing it.
func (w *walk) folder(at place, path Path) error {
	names, err := at.list()
	if err != nil {
		at.close()
		return err
	}
	shared := &sharedPlace{place: at}
	var jobs []job
	files := make([]Path, 0, len(names))
	for _, found := range names {
		if w.skipsFiles && !found.folder {
			continue
		}
		child, ok := path.child(found.name)
		if !ok {
			continue
		}
		if found.folder {
			if _, entered := w.judgeFolder(child); entered {
				jobs = append(jobs, job{in: shared, folder: child})
			}
			continue
		}
		if w.in.seesFile(child) {
			files = append(files, child)
		}
	}
	if w.in.found != nil {
		w.in.found(len(files))
	}
	for len(files) > 0 {
		some := files[:min(batch, len(files))]
		files = files[len(some):]
		jobs = append(jobs, job{in: shared, files: some})
	}
	if len(jobs) == 0 {
		at.close()
		return nil
	}
	shared.users.Store(int64(len(jobs)))

	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs = append(w.jobs, jobs...)
	w.open += len(jobs)
	// The worker that found the jobs does one of them itself.
	for range min(len(jobs)-1, w.most-w.workers) {
		w.workers++
		w.running.Go(w.work)
	}
	w.more.Broadcast()
	return nil
}
