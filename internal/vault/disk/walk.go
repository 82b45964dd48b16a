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

// Entry is a file or folder that a walk visits. Its methods may be called only during the visit.
type Entry struct {
	Path  Path
	IsDir bool
	at    place // the open folder with the entry
	vault *Folder
}

// Info returns information about a file. The errors are those of [Folder.Open].
func (e Entry) Info() (fs.FileInfo, error) {
	info, err := e.at.info(e.Path.Base())
	return info, e.vault.Told(e.Path, err)
}

// Stamp returns the stamp of a file. The errors are those of [Folder.Open].
func (e Entry) Stamp() (system.Stamp, error) {
	stamp, err := e.at.stamp(e.Path.Base())
	return stamp, e.vault.Told(e.Path, err)
}

// Read is [Folder.ReadStamped] for a file, but does not fetch a file from the cloud; the error is then
// [system.ErrElsewhere]. It is cheaper than reading by path, because the folder is already open.
func (e Entry) Read() ([]byte, system.Stamp, error) { return e.ReadInto(nil) }

// ReadInto is Read into the memory of buf, or into new memory if the file does not fit. In any case, the
// content of buf is lost.
func (e Entry) ReadInto(buf []byte) ([]byte, system.Stamp, error) {
	if isElsewhere(e.at, e.Path.Base()) {
		return nil, system.Stamp{}, e.vault.Told(e.Path, system.ErrElsewhere)
	}
	text, stamp, err := e.at.read(e.Path.Base(), buf)
	text, stamp, err = e.vault.deliver(e.Path, text, stamp, err)
	return text, stamp, e.vault.Told(e.Path, err)
}

// Walk calls visit for every visible file and folder below the folder under: a folder before its contents,
// otherwise in no particular order. Links, special files and names that no [Path] can have are left out, so
// everything that is listed can be read. A folder that vanished or cannot be entered counts as empty. If under
// is not a folder, the error is fs.ErrNotExist or a [Refusal].
func (f *Folder) Walk(under Path, visit func(Entry)) error {
	return f.walkWith(walkOptions{workers: 1}, under, visit)
}

// judgeFolder reports whether a walk visits a folder, and whether it enters it. It does both if the view shows
// the folder.
func (w *walk) judgeFolder(p Path) (visited, entered bool) {
	if w.vault.seesFolder(p) {
		return true, true
	}
	return false, w.vault.view.Enters(p.text)
}

// batch is the number of files of a folder in one job: enough to make the overhead small, few enough for a
// single large folder to keep all processors busy.
const batch = 64

// WalkParallel is Walk with as many concurrent visits as there are processors. A folder may be visited after
// its contents, and visit must synchronize access to shared data. WalkParallel returns after the last visit.
func (f *Folder) WalkParallel(under Path, visit func(Entry)) error {
	return f.walkWith(walkOptions{workers: budget.Goroutines()}, under, visit)
}

// WalkUnread is WalkParallel, but also visits notes that are closed by their texts. visit must read each note
// before it uses its name, and ignore it if the read returns fs.ErrNotExist.
func (f *Folder) WalkUnread(under Path, visit func(Entry)) error {
	return f.walkWith(walkOptions{workers: budget.Goroutines(), visitsClosed: true}, under, visit)
}

// WalkFolders is WalkParallel for folders only. It is cheaper, because files are skipped.
func (f *Folder) WalkFolders(under Path, visit func(Path)) error {
	return f.walkWith(walkOptions{workers: budget.Goroutines(), foldersOnly: true}, under, func(e Entry) {
		if e.IsDir {
			visit(e.Path)
		}
	})
}

// walkOptions configure a walk.
type walkOptions struct {
	workers      int  // maximum number; with one, a folder is visited before its contents
	foldersOnly  bool // skip files
	visitsClosed bool // also visit notes that are closed by their texts, see [Folder.WalkUnread]
}

func (f *Folder) walkWith(how walkOptions, under Path, visit func(Entry)) error {
	w, err := f.begin(under, visit)
	if err != nil {
		return err
	}
	w.maxWorkers = how.workers
	w.visitsClosed = how.visitsClosed
	// In an invisible folder, files are needed to find out whether anything in it is visible.
	w.skipsFiles = how.foldersOnly && w.visits == nil
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

// begin returns a walk of the folder under, or an error if the folder cannot be seen.
func (f *Folder) begin(under Path, visit func(Entry)) (*walk, error) {
	w := &walk{vault: f, visit: visit, workers: 1}
	w.jobsChanged.L = &w.mu
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
		w.visits = new(atomic.Int64)
		w.visit = func(e Entry) {
			w.visits.Add(1)
			visit(e)
		}
	}
	return w, nil
}

// end returns the error of a walk. err is the error of opening or listing its first folder. An invisible folder
// without anything visible counts as missing; the error does not reveal whether anything exists at its path.
func (w *walk) end(under Path, err error) error {
	isHidden := w.visits != nil && (IsMissing(err) || errors.Is(err, fs.ErrPermission))
	if isHidden || err == nil && w.visits != nil && w.visits.Load() == 0 {
		return missing(under)
	}
	return err
}

// walk is a running walk: a few workers, the first of which is the caller, and the jobs that they create for
// each other. The newest job is done first (depth first), so that few folders are open at a time.
type walk struct {
	vault *Folder
	visit func(Entry)
	// visitsClosed is set if visit reads each note itself, see [Folder.WalkUnread].
	visitsClosed bool
	// visits counts the visits of a walk that begins in an invisible folder; nil for other walks.
	visits     *atomic.Int64
	skipsFiles bool
	maxWorkers int
	running    conc.WaitGroup

	mu          sync.Mutex
	jobsChanged sync.Cond // there are jobs, or no more jobs can come
	jobs        []job
	open        int // jobs that are waiting or running
	workers     int
	failed      error // errors of folders that do not count as empty
}

// job is a set of files in one folder to be visited or, without files, a folder to be entered.
type job struct {
	shared *sharedPlace
	files  []Path
	folder Path
}

// sharedPlace is an open folder that its last job closes.
type sharedPlace struct {
	place
	users atomic.Int64
}

// work does jobs until there are none and no more can come.
func (w *walk) work() {
	for {
		w.mu.Lock()
		for len(w.jobs) == 0 && w.open > 0 {
			w.jobsChanged.Wait()
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
		if j.shared.users.Add(-1) == 0 {
			j.shared.close()
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open--
		if w.open == 0 {
			w.jobsChanged.Broadcast()
		}
	}()
	for _, path := range j.files {
		// A file that cannot be read because of its other names or its text is not listed either.
		if w.vault.view != nil {
			if _, err := j.shared.stamp(path.Base()); IsHardLinked(err) {
				continue
			}
		}
		if w.visitsClosed || w.admits(j.shared.place, path) {
			w.visit(Entry{Path: path, at: j.shared.place, vault: w.vault})
		}
	}
	if len(j.files) > 0 {
		return
	}
	if visited, _ := w.judgeFolder(j.folder); visited {
		w.visit(Entry{Path: j.folder, IsDir: true, at: j.shared.place, vault: w.vault})
	}
	err := w.enter(j)
	// A folder that vanished or cannot be entered counts as empty, and so does one that was reported.
	_ = w.vault.Told(j.folder, err)
	isFault := IsUnread(err) && !errors.Is(err, fs.ErrPermission)
	if isFault && w.vault.tell == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = errors.Join(w.failed, err)
	}
}

// enter creates jobs for the contents of a folder. A folder in the cloud is not listed, because that would
// fetch it.
func (w *walk) enter(j job) error {
	if isFolderElsewhere(j.shared, j.folder.Base()) {
		return system.ErrElsewhere
	}
	sub, err := j.shared.step(j.folder.Base())
	if err != nil {
		return err
	}
	return w.folder(sub, j.folder)
}

// elsewhere reports whether reading a file or folder fetches its content from a cloud. It is nil on systems
// without such files; tests replace it.
var elsewhere = elsewhereOnThisSystem()

func elsewhereOnThisSystem() func(fs.FileInfo) bool {
	if system.HasCloudFiles {
		return system.IsElsewhere
	}
	return nil
}

// isElsewhere reports whether reading a file fetches its content from a cloud.
func isElsewhere(at place, name string) bool {
	if elsewhere == nil {
		return false
	}
	info, err := at.info(name)
	return err == nil && elsewhere(info)
}

// isFolderElsewhere reports whether listing a folder fetches its names from a cloud.
func isFolderElsewhere(at place, name string) bool {
	if elsewhere == nil {
		return false
	}
	info, err := at.lookAtFolder(name)
	return err == nil && elsewhere(info)
}

// admits reports whether the text of a note allows visiting it. An unreadable note may be a closed one, so its
// name is not shown.
func (w *walk) admits(at place, p Path) bool {
	isClosed, err := w.vault.judge.decide(at, p)
	return w.vault.Told(p, err) == nil && !isClosed
}

// folder creates jobs for the contents of a place; the last of them closes it. The error is that of listing it.
func (w *walk) folder(at place, path Path) error {
	names, err := at.list()
	if err != nil {
		at.close()
		return err
	}
	shared := &sharedPlace{place: at}
	var jobs []job
	files := make([]Path, 0, len(names))
	for _, entry := range names {
		if w.skipsFiles && !entry.folder {
			continue
		}
		child, ok := path.child(entry.name)
		if !ok {
			continue
		}
		if entry.folder {
			if _, entered := w.judgeFolder(child); entered {
				jobs = append(jobs, job{shared: shared, folder: child})
			}
			continue
		}
		if w.vault.seesFile(child) {
			files = append(files, child)
		}
	}
	if w.vault.countFiles != nil {
		w.vault.countFiles(len(files))
	}
	for len(files) > 0 {
		chunk := files[:min(batch, len(files))]
		files = files[len(chunk):]
		jobs = append(jobs, job{shared: shared, files: chunk})
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
	for range min(len(jobs)-1, w.maxWorkers-w.workers) {
		w.workers++
		w.running.Go(w.work)
	}
	w.jobsChanged.Broadcast()
	return nil
}
