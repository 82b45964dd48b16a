package disk

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/processors"
)

// batch is how many files of a folder are one job: enough to make taking it
// cheap, few enough that one large folder keeps all processors busy.
const batch = 64

// WalkParallel is Walk with as many visits at once as there are processors: a
// folder may be visited after what it holds, and visit has to guard what it
// shares. It returns when the last visit has.
func (f *Folder) WalkParallel(under Path, visit func(Entry)) error {
	return f.walkParallel(under, false, visit)
}

// WalkFolders is WalkParallel for who wants the folders alone. It costs less, because
// nothing is done for each file.
func (f *Folder) WalkFolders(under Path, visit func(Path)) error {
	return f.walkParallel(under, true, func(e Entry) {
		if e.IsDir {
			visit(e.Path)
		}
	})
}

func (f *Folder) walkParallel(under Path, foldersOnly bool, visit func(Entry)) error {
	walk, err := f.walker(under, visit)
	if err != nil {
		return err
	}
	at, err := f.place(under.segments())
	if err != nil {
		return walk.failure(under, err)
	}
	// Files count where they alone tell that the first folder is there.
	skipsFiles := foldersOnly && walk.seen == nil
	w := &parallelWalk{walker: walk, skipsFiles: skipsFiles, counts: f.found, workers: 1, most: processors.Count()}
	w.more.L = &w.mu
	if err := w.folder(at, under); err != nil {
		return w.failure(under, err)
	}
	w.work()
	w.running.Wait()
	if w.failed != nil {
		return w.failed
	}
	return w.end(under)
}

// parallelWalk is one such walk: a few workers, of which the caller is the
// first, and the jobs that they find for one another. The job that was found
// last is done first, so that no more folders are open than a walk needs that
// goes down before it goes on.
type parallelWalk struct {
	walker
	skipsFiles bool
	counts     func(files int) // nil if nobody counts
	most       int             // workers at once
	running    sync.WaitGroup

	mu      sync.Mutex
	more    sync.Cond // there are jobs, or there will be none
	jobs    []job
	open    int // jobs that wait or are being done
	workers int
	failed  error // the first error that is not a folder's own affair
}

// job is files of one folder to be visited, or if there are none, a folder to
// be entered.
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

func (p *sharedPlace) release() {
	if p.users.Add(-1) == 0 {
		p.close()
	}
}

// work does jobs until there are none and none can come.
func (w *parallelWalk) work() {
	for {
		j, ok := w.next()
		if !ok {
			return
		}
		w.do(j)
	}
}

func (w *parallelWalk) next() (job, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.jobs) == 0 && w.open > 0 {
		w.more.Wait()
	}
	if len(w.jobs) == 0 {
		return job{}, false
	}
	last := len(w.jobs) - 1
	j := w.jobs[last]
	w.jobs = w.jobs[:last]
	return j, true
}

// add hands out jobs. Workers are started when there is something to do for
// them besides the worker that found the jobs.
func (w *parallelWalk) add(jobs []job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs = append(w.jobs, jobs...)
	w.open += len(jobs)
	for range min(len(jobs)-1, w.most-w.workers) {
		w.workers++
		w.running.Go(w.work)
	}
	w.more.Broadcast()
}

func (w *parallelWalk) do(j job) {
	defer w.done(j)
	if len(j.files) == 0 {
		w.enter(j.in, j.folder)
	}
	for _, path := range j.files {
		if !w.lists(j.in.place, path) {
			continue
		}
		w.visit(Entry{Path: path, at: j.in.place})
	}
}

func (w *parallelWalk) done(j job) {
	j.in.release()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open--; w.open == 0 {
		w.more.Broadcast()
	}
}

// enter visits a folder and finds the jobs in it. One that vanished or may not
// be entered counts as empty.
func (w *parallelWalk) enter(parent place, path Path) {
	if visited, _ := w.found(path, true); visited {
		w.visit(Entry{Path: path, IsDir: true, at: parent})
	}
	sub, err := parent.step(path.base())
	if err == nil {
		err = w.folder(sub, path)
	}
	if err != nil && !IsMissing(err) && !errors.Is(err, fs.ErrPermission) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = errors.Join(w.failed, err)
	}
}

// folder makes jobs of what lies at this place, which the last of them closes.
// The error is that of listing it.
func (w *parallelWalk) folder(at place, path Path) error {
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
		switch visited, entered := w.found(child, found.folder); {
		case entered:
			jobs = append(jobs, job{in: shared, folder: child})
		case visited:
			files = append(files, child)
		}
	}
	if w.counts != nil {
		w.counts(len(files))
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
	w.add(jobs)
	return nil
}
