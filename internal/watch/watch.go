// Package watch records which files in a folder change, if the system reports changes (inotify(7) on Linux).
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

// ErrUnwatchable is returned if the system does not reliably report changes in a folder.
var ErrUnwatchable = errors.New("changes in this folder cannot be watched")

// maxNamed limits the recorded paths: with more changes, checking everything costs no more.
const maxNamed = 4096

// Changes are the possible changes since the last call of [Watcher.Take].
type Changes struct {
	// Paths are relative to the folder, with slashes. The path of a folder stands for everything below it.
	Paths []string
	// All is set if any path may have changed.
	All bool
}

// None reports whether nothing changed.
func (c Changes) None() bool { return !c.All && len(c.Paths) == 0 }

// Watcher records which files in a folder change, until it is closed. It guarantees that either a change is
// recorded soon after it was made, or [Watcher.Take] reports that anything may have changed. It may also report
// files that did not change. It is safe for concurrent use.
type Watcher struct {
	root string
	sys  *fsnotify.Watcher
	more chan struct{}
	done chan struct{}

	turn   sync.Mutex    // held during a call of Settle
	probe  *os.File      // a file of this process that is also watched; nil before the first call of Settle
	probed chan struct{} // signals a report about the probe

	mu      sync.Mutex
	named   map[string]struct{}
	all     bool
	blind   bool                // a folder could not be watched; never reset
	folders map[string]struct{} // watched folders
}

// New watches the folder root, an absolute path, and the visible folders below it. The error is
// [ErrUnwatchable] if the system, the file system or one of its limits does not allow that.
func New(root string) (*Watcher, error) {
	if !reportsChanges(root) {
		return nil, ErrUnwatchable
	}
	sys, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, errors.Join(ErrUnwatchable, err)
	}
	w := &Watcher{
		root:    root,
		sys:     sys,
		more:    make(chan struct{}, 1),
		done:    make(chan struct{}),
		probed:  make(chan struct{}, 1),
		named:   map[string]struct{}{},
		folders: map[string]struct{}{},
	}
	go w.listen()
	w.add("")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blind {
		sys.Close()
		return nil, ErrUnwatchable
	}
	w.all = true // nothing was examined yet
	return w, nil
}

// More returns a channel that is signalled when Take may have something to return, and closed with the watcher.
func (w *Watcher) More() <-chan struct{} { return w.more }

// Close ends the watch. It returns once the watch has ended.
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
	// maxSettle limits the wait for the report of our own change, which usually takes microseconds.
	maxSettle = time.Second
)

// Settle waits until every change that was made before the call has been recorded. The system reports changes
// in order, so Settle changes a file of its own, in the folder dir, and waits for the report. It reports
// whether that succeeded; it cannot if dir is "".
func (w *Watcher) Settle(dir string) bool {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.probe == nil {
		if dir == "" { // CreateTemp would use the system's folder for temporary files
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
	case <-w.probed: // discard a late report for an earlier call
	default:
	}
	if _, err := w.probe.WriteAt([]byte{0}, 0); err != nil {
		return false
	}
	select {
	case <-w.probed:
		return true
	case <-w.done:
	case <-time.After(maxSettle):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = true // the report may arrive during a later call
	return false
}

// Take returns the possible changes since the last call, and forgets them.
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

// Touch records a change by the caller itself, which then need not wait for the report.
func (w *Watcher) Touch(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.named) >= maxNamed {
		w.all = true
		clear(w.named)
	}
	w.named[path] = struct{}{}
}

// listen handles the system's reports until the watch is closed.
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
					case w.probed <- struct{}{}:
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
			w.lose() // an overflow or another error: some changes were not reported
		}
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// receive records one event. A folder is added or removed with everything below it.
func (w *Watcher) receive(event fsnotify.Event) {
	rest, err := filepath.Rel(w.root, event.Name)
	path := filepath.ToSlash(rest)
	if err != nil || isHidden(path) {
		return
	}
	if path == "." { // the root itself was changed, moved or removed
		w.lose()
		return
	}
	if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		w.mu.Lock()
		if _, isWatched := w.folders[path]; isWatched {
			// Events of its subfolders may still have their old names, so everything must be examined.
			w.all = true
			for folder := range w.folders {
				if folder == path || strings.HasPrefix(folder, path+"/") {
					delete(w.folders, folder)
					_ = w.sys.Remove(filepath.Join(w.root, filepath.FromSlash(folder))) // it may already be gone
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

// add watches a folder and its subfolders. The watch begins before the folder is listed, so that no folder is
// missed that is created meanwhile.
func (w *Watcher) add(path string) {
	full := filepath.Join(w.root, filepath.FromSlash(path))
	err := w.sys.Add(full)
	isUnreported := err == nil && path != "" && !reportsChanges(full) // another file system is mounted here
	if isFault(err) || isUnreported {
		w.setBlind()
	}
	if err != nil || isUnreported {
		return // a folder that was removed or is unreadable has no notes to watch
	}
	w.mu.Lock()
	w.folders[path] = struct{}{}
	w.mu.Unlock()
	entries, err := os.ReadDir(full)
	if isFault(err) { // its subfolders are not watched
		w.setBlind()
	}
	for _, entry := range entries {
		if entry.IsDir() && !isHidden(entry.Name()) {
			w.add(strings.TrimPrefix(path+"/"+entry.Name(), "/"))
		}
	}
}

// isFault reports whether err means that a folder may have notes although it cannot be watched or listed.
func isFault(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

// setBlind records that a folder is not watched.
func (w *Watcher) setBlind() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blind = true
}

// lose records that anything may have changed.
func (w *Watcher) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = true
}

// isHidden reports whether a path is, or is below, something that a vault does not show.
func isHidden(path string) bool {
	return path != "." && (strings.HasPrefix(path, ".") || strings.Contains(path, "/."))
}
