// Package watch notes which files of a vault change while somebody else knows
// what is in them.
//
// It promises one thing: what changed before a moment is named soon after it, or
// [changes.All] says that anything may have. It says nothing about what a
// change was, and may name what did not change: whoever asks has to look.
package knowledge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// errUnwatchable says that changes of a folder cannot be relied on to be told.
var errUnwatchable = errors.New("changes in this folder cannot be watched")

// maxNamed is how many changed paths are kept: with more of them, looking at
// everything is no dearer.
const maxNamed = 4096

// changes are what may differ from what it was when they were asked for last.
type changes struct {
	// Paths count from the folder, with slashes. A folder stands for everything
	// below it.
	Paths []string
	// All says that any path may be meant.
	All bool
}

// None reports whether nothing changed.
func (c changes) None() bool { return !c.All && len(c.Paths) == 0 }

// watcher watches a folder until it is closed. It is safe for use by several
// goroutines.
type watcher struct {
	root string
	sys  *fsnotify.Watcher
	more chan struct{}
	done chan struct{}

	mu      sync.Mutex
	named   map[string]struct{}
	all     bool
	blind   bool                // a folder could not be watched
	folders map[string]struct{} // that are watched
}

// New watches the folder root, an absolute path, and the visible folders below
// it. The error is [errUnwatchable] where the system, the kind of file system
// or a limit of it stands against that.
func newWatcher(root string) (*watcher, error) {
	if !tellsChanges(root) {
		return nil, errUnwatchable
	}
	sys, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, errors.Join(errUnwatchable, err)
	}
	w := &watcher{
		root: root, sys: sys, more: make(chan struct{}, 1), done: make(chan struct{}),
		named: map[string]struct{}{}, folders: map[string]struct{}{},
	}
	go w.listen()
	w.add("")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blind {
		sys.Close()
		return nil, errUnwatchable
	}
	w.all = true // whoever looks first has seen nothing yet
	return w, nil
}

// Close ends the watch and comes back when it has.
func (w *watcher) Close() {
	w.sys.Close()
	<-w.done
}

// More is signalled when there may be something to take, and closed with the
// watch.
func (w *watcher) More() <-chan struct{} { return w.more }

// Take returns what may have changed since the last time.
func (w *watcher) Take() changes {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := changes{All: w.all || w.blind}
	if !c.All {
		for path := range w.named {
			c.Paths = append(c.Paths, path)
		}
		slices.Sort(c.Paths)
	}
	w.all = false
	clear(w.named)
	return c
}

// Touch notes a change that the caller made himself, so that he need not wait
// to be told of it.
func (w *watcher) Touch(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(path)
}

// listen takes what the system tells until the watch is closed.
func (w *watcher) listen() {
	defer close(w.done)
	defer close(w.more)
	for {
		select {
		case event, ok := <-w.sys.Events:
			if !ok {
				return
			}
			w.hear(event)
		case _, ok := <-w.sys.Errors:
			if !ok {
				return
			}
			w.lose() // an overflow, or worse: something was not told
		}
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// hear notes one event. Folders come and go with everything below them.
func (w *watcher) hear(event fsnotify.Event) {
	rest, err := filepath.Rel(w.root, event.Name)
	path := filepath.ToSlash(rest)
	if err != nil || isHidden(path) {
		return
	}
	if path == "." { // the folder itself was touched, moved or removed
		w.lose()
		return
	}
	if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		w.leave(path)
	}
	if event.Has(fsnotify.Create) || event.Has(fsnotify.Chmod) { // it may have been shut before
		if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
			w.add(path)
		}
	}
	w.Touch(path)
}

// add watches a folder and those below it. The watch stands before the folder
// is listed, so that no folder is missed that is made meanwhile.
func (w *watcher) add(path string) {
	full := filepath.Join(w.root, filepath.FromSlash(path))
	if err := w.sys.Add(full); err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			w.see(false)
		}
		return // it is gone again, or shut: then nobody reads in it either
	}
	w.mu.Lock()
	w.folders[path] = struct{}{}
	w.mu.Unlock()
	if path != "" && !tellsChanges(full) {
		w.see(false) // another file system is mounted here
		return
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() && !isHidden(entry.Name()) {
			w.add(join(path, entry.Name()))
		}
	}
}

// leave forgets a folder that has gone from its place. What is told about the
// folders below it may bear old names from now on, so that everything is to be
// looked at once.
func (w *watcher) leave(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, watched := w.folders[path]; !watched {
		return
	}
	w.all = true
	for folder := range w.folders {
		if folder == path || strings.HasPrefix(folder, path+"/") {
			delete(w.folders, folder)
			_ = w.sys.Remove(filepath.Join(w.root, filepath.FromSlash(folder))) // it may be gone already
		}
	}
}

func (w *watcher) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = true
}

// see notes whether everything is watched. What was missed once stays missed.
func (w *watcher) see(everything bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = w.blind || !everything
}

// note keeps one path. It is called under the lock.
func (w *watcher) note(path string) {
	if len(w.named) >= maxNamed {
		w.all = true
		clear(w.named)
	}
	w.named[path] = struct{}{}
}

// isHidden reports whether a path leads to or through what a vault does not
// show.
func isHidden(path string) bool {
	return path != "." && (strings.HasPrefix(path, ".") || strings.Contains(path, "/."))
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}
