// Package watch notes which files of a folder change, as far as the system reports changes (inotify(7) on Linux).
package watch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// ErrUnwatchable says that the system cannot be relied on to report changes of a folder.
var ErrUnwatchable = errors.New("changes in this folder cannot be watched")

// maxNamed is how many changed paths are kept: with more of them, looking at everything
// costs no more.
const maxNamed = 4096

// Changes are what may have changed since the last call of [Watcher.Take].
type Changes struct {
	// Paths are relative to the folder, with slashes. A folder means everything
	// below it.
	Paths []string
	// All says that any path may have changed.
	All bool
}

// None reports whether nothing has changed.
func (c Changes) None() bool { return !c.All && len(c.Paths) == 0 }

// Watcher notes which files of a folder change, until it is closed. It promises one thing:
// a change is named soon after it, or [Watcher.Take] says that anything may have changed. It may
// name what did not change. It is safe for concurrent use.
type Watcher struct {
	root string
	sys  *fsnotify.Watcher
	more chan struct{}
	done chan struct{}

	turn  sync.Mutex // held by a call of Settle
	probe *os.File   // a file of this process that is watched, too; nil before the first call of Settle
	seen  chan struct{}

	mu      sync.Mutex
	named   map[string]struct{}
	all     bool
	blind   bool                // a folder could not be watched; never reset
	folders map[string]struct{} // that are watched
}

// New watches the folder root, an absolute path, and the visible folders below it.
// The error is [ErrUnwatchable] where the system, the kind of file system or one of its
// limits does not allow that.
func New(root string) (*Watcher, error) {
	if !reportsChanges(root) {
		return nil, ErrUnwatchable
	}
	sys, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, errors.Join(ErrUnwatchable, err)
	}
	w := &Watcher{
		root: root, sys: sys, more: make(chan struct{}, 1), done: make(chan struct{}), seen: make(chan struct{}, 1),
		named: map[string]struct{}{}, folders: map[string]struct{}{},
	}
	go w.listen()
	w.add("")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blind {
		sys.Close()
		return nil, ErrUnwatchable
	}
	w.all = true // nothing was looked at yet
	return w, nil
}

// More is signalled when there may be something to take, and closed with the watch.
func (w *Watcher) More() <-chan struct{} { return w.more }

// Close ends the watch and returns when it has ended.
func (w *Watcher) Close() {
	w.sys.Close()
	<-w.done
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.probe != nil {
		w.probe.Close()
	}
}

const (
	probePrefix = ".vaultwicket-probe-"
	// maxSettle is how long the report of a change of our own is waited for. It comes in microseconds.
	maxSettle = time.Second
)

// Settle waits until every change that was made before the call has been noted: the system reports
// changes in their order, so it makes one of a file of its own, in the folder dir, and waits for that
// one. It reports whether that was possible; without a folder ("") it is not.
func (w *Watcher) Settle(dir string) bool {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.probe == nil {
		if dir == "" { // which to CreateTemp is the system's folder of temporary files
			return false
		}
		file, err := os.CreateTemp(dir, probePrefix)
		if err != nil {
			return false
		}
		err = w.sys.Add(file.Name())
		if err = errors.Join(err, os.Remove(file.Name())); err != nil {
			file.Close()
			return false
		}
		w.probe = file
	}
	select {
	case <-w.seen: // of a call that did not wait for it
	default:
	}
	if _, err := w.probe.WriteAt([]byte{0}, 0); err != nil {
		return false
	}
	select {
	case <-w.seen:
		return true
	case <-w.done:
	case <-time.After(maxSettle):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = true // the report may come during another call
	return false
}

// Take returns what may have changed since the last call.
func (w *Watcher) Take() Changes {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := Changes{All: w.all || w.blind}
	if !c.All {
		c.Paths = slices.Sorted(maps.Keys(w.named))
	}
	w.all = false
	clear(w.named)
	return c
}

// Touch notes a change by the caller itself, which then need not wait for the report.
func (w *Watcher) Touch(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.named) >= maxNamed {
		w.all = true
		clear(w.named)
	}
	w.named[path] = struct{}{}
}

// listen receives what the system reports until the watch is closed.
func (w *Watcher) listen() {
	defer close(w.done)
	defer close(w.more)
	for {
		select {
		case event, ok := <-w.sys.Events:
			if !ok {
				return
			}
			if strings.HasPrefix(filepath.Base(event.Name), probePrefix) {
				if event.Has(fsnotify.Write) {
					select {
					case w.seen <- struct{}{}:
					default:
					}
				}
				continue
			}
			w.receive(event)
		case _, ok := <-w.sys.Errors:
			if !ok {
				return
			}
			w.lose() // an overflow, or worse: something was not reported
		}
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// receive notes one event. Folders come and go with everything below them.
func (w *Watcher) receive(event fsnotify.Event) {
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
		w.mu.Lock()
		if _, watched := w.folders[path]; watched {
			// Events of the folders below it may have their old names: everything has to be looked at once.
			w.all = true
			for folder := range w.folders {
				if folder == path || strings.HasPrefix(folder, path+"/") {
					delete(w.folders, folder)
					_ = w.sys.Remove(filepath.Join(w.root, filepath.FromSlash(folder))) // it may be gone already
				}
			}
		}
		w.mu.Unlock()
	}
	if event.Has(fsnotify.Create) || event.Has(fsnotify.Chmod) { // it may have been unreadable before
		info, err := os.Lstat(event.Name)
		if err == nil && info.IsDir() {
			w.add(path)
		}
		if isFault(err) {
			w.setBlind()
		}
	}
	w.Touch(path)
}

// add watches a folder and those below it. The watch begins before the folder is listed,
// so that no folder is missed that is made meanwhile.
func (w *Watcher) add(path string) {
	full := filepath.Join(w.root, filepath.FromSlash(path))
	err := w.sys.Add(full)
	elsewhere := err == nil && path != "" && !reportsChanges(full) // another file system is mounted here
	if isFault(err) || elsewhere {
		w.setBlind()
	}
	if err != nil || elsewhere {
		return // a folder that is gone again or unreadable has no notes to watch
	}
	w.mu.Lock()
	w.folders[path] = struct{}{}
	w.mu.Unlock()
	entries, err := os.ReadDir(full)
	if isFault(err) { // the folders below it are not watched
		w.setBlind()
	}
	for _, entry := range entries {
		if entry.IsDir() && !isHidden(entry.Name()) {
			w.add(strings.TrimPrefix(path+"/"+entry.Name(), "/"))
		}
	}
}

// isFault reports whether a folder may have notes although it could not be watched or listed.
func isFault(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

// setBlind notes that a folder is not watched.
func (w *Watcher) setBlind() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = true
}

// lose notes that anything may have changed.
func (w *Watcher) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = true
}

// isHidden reports whether a path leads to or through something that a vault does not
// show.
func isHidden(path string) bool {
	return path != "." && (strings.HasPrefix(path, ".") || strings.Contains(path, "/."))
}
