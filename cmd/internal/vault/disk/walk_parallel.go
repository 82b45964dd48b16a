package disk

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// batch is how many files of a folder one goroutine visits: enough to make its
// start cheap, few enough that one large folder keeps all of them busy.
const batch = 64

// WalkParallel is Walk with as many visits at once as there are processors: a
// folder may be visited after what it holds, and visit has to guard what it
// shares. It returns when the last visit has.
func (f *Folder) WalkParallel(under Path, visit func(Entry)) error {
	dir, err := f.enter(under.segments())
	if err != nil {
		return err
	}
	w := &parallelWalk{visit: visit, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	err = w.folder(&sharedDir{root: dir, users: 1}, under)
	w.running.Wait()
	if err != nil {
		return err
	}
	return w.failed
}

// parallelWalk is one such walk.
type parallelWalk struct {
	visit   func(Entry)
	slots   chan struct{} // one for each goroutine that may run besides the first
	running sync.WaitGroup

	mu     sync.Mutex
	failed error // the first error that is not a folder's own affair
}

// sharedDir is an open folder that is closed by the last of its users.
type sharedDir struct {
	root  *os.Root
	mu    sync.Mutex
	users int
}

func (d *sharedDir) use() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
}

func (d *sharedDir) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		d.root.Close()
	}
}

// spawn runs task at the side if a slot is free, else at once. A walk can
// therefore never wait for itself.
func (w *parallelWalk) spawn(task func()) {
	select {
	case w.slots <- struct{}{}:
		w.running.Go(func() {
			defer func() { <-w.slots }()
			task()
		})
	default:
		task()
	}
}

// folder visits what lies in dir and releases it. The error is that of listing
// dir itself.
func (w *parallelWalk) folder(dir *sharedDir, at Path) error {
	defer dir.release()
	names, err := list(dir.root)
	if err != nil {
		return err
	}
	var files, folders []Path
	for _, found := range names {
		path, err := ParsePath(at.join(found.Name()).text)
		switch {
		case err != nil:
		case found.IsDir():
			folders = append(folders, path)
		case found.Type().IsRegular():
			files = append(files, path)
		}
	}
	for _, path := range folders {
		dir.use()
		w.spawn(func() { w.enter(dir, path) })
	}
	for len(files) > 0 {
		some := files[:min(batch, len(files))]
		files = files[len(some):]
		dir.use()
		w.spawn(func() { w.files(dir, some) })
	}
	return nil
}

// files visits some files of one folder.
func (w *parallelWalk) files(dir *sharedDir, paths []Path) {
	defer dir.release()
	for _, path := range paths {
		w.visit(Entry{Path: path, dir: dir.root})
	}
}

// enter visits a folder and what it holds. One that vanished or may not be
// entered counts as empty.
func (w *parallelWalk) enter(parent *sharedDir, path Path) {
	defer parent.release()
	w.visit(Entry{Path: path, IsDir: true, dir: parent.root})
	sub, err := step(parent.root, path.base())
	if err == nil {
		err = w.folder(&sharedDir{root: sub, users: 1}, path)
	}
	if err != nil && !IsMissing(err) && !errors.Is(err, fs.ErrPermission) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = errors.Join(w.failed, err)
	}
}
