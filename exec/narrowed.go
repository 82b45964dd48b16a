package exec

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/watch"
)

// Before every call to the app that may reach any note, the gateway must know which notes of the vault restrict
// access to themselves. That does not change as long as nothing in the folder changes. This process watches the
// folder, so that it can be sure of that without asking the embedded program.

// maxReuse is how long an answer is reused. Writes through a memory mapping, or through another name of the file,
// are not reported by the watcher.
const maxReuse = 30 * time.Second

// narrowedCache has the reusable answers, the last one for each folder. It is safe for concurrent use.
type narrowedCache struct {
	getenv func(string) string

	mu      sync.Mutex
	folders map[string]*watchedFolder
	closed  bool
	starts  sync.WaitGroup
}

// watchedFolder has the last answer for one folder.
type watchedFolder struct {
	path  string
	place string // the folder for the file that Settle writes

	mu      sync.Mutex     // not held while the embedded program is asked
	watcher *watch.Watcher // nil until the folder is watched, or if it cannot be
	root    fs.FileInfo    // the folder that is watched
	changes uint64         // how many changes were reported
	lines   []string
	key     workerKey // the worker whose answer lines are
	known   bool      // lines is valid
	at      time.Time // when lines was stored
}

// pendingEntry is a question that is being asked. changes is how many changes had been reported before it.
type pendingEntry struct {
	folder  *watchedFolder // nil if the answer is not stored
	changes uint64
}

// folder returns the entry for the folder at path, which is watched from the first call on. It returns nil if
// answers are not stored.
func (s *narrowedCache) folder(path string) *watchedFolder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || path == "" {
		return nil
	}
	f := s.folders[path]
	if f == nil {
		f = &watchedFolder{path: path, place: ownerfiles.CacheFolder(s.getenv, path)}
		if s.folders == nil {
			s.folders = map[string]*watchedFolder{}
		}
		s.folders[path] = f
		s.starts.Go(f.watch)
	}
	return f
}

// close ends all watches. Later answers are not stored.
func (s *narrowedCache) close() {
	s.mu.Lock()
	s.closed = true
	folders := s.folders
	s.mu.Unlock()
	s.starts.Wait()
	for _, f := range folders {
		f.mu.Lock()
		f.drop()
		f.mu.Unlock()
	}
}

// watch starts watching the folder, which takes as long as listing all folders in it.
func (f *watchedFolder) watch() {
	if f.place == "" {
		return
	}
	root, err := os.Stat(f.path)
	if err != nil {
		return
	}
	w, err := watch.New(f.path)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watcher = w
	f.root = root
}

// drop ends the watch. The caller holds f.mu.
func (f *watchedFolder) drop() {
	f.known = false
	if f.watcher != nil {
		f.watcher.Close()
		f.watcher = nil
	}
}

// answer returns the stored answer for a key if it can be reused. Otherwise the new answer is to be stored with next.
func (f *watchedFolder) answer(key workerKey, now time.Time) (lines []string, ok bool, next pendingEntry) {
	if f == nil || f.hasPatterns() {
		return nil, false, pendingEntry{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher == nil {
		return nil, false, pendingEntry{}
	}
	if root, err := os.Stat(f.path); err != nil || !os.SameFile(root, f.root) {
		f.drop() // another folder is at the path
		return nil, false, pendingEntry{}
	}
	if !f.watcher.Settle(f.place) || !f.watcher.Take().None() {
		f.changes++
		f.known = false
	}
	if f.known && f.key == key && now.Sub(f.at) < maxReuse {
		return f.lines, true, pendingEntry{}
	}
	return nil, false, pendingEntry{folder: f, changes: f.changes}
}

// keep stores an answer for later calls, unless a change was reported in the meantime.
func (a pendingEntry) keep(key workerKey, lines []string, now time.Time) {
	if a.folder == nil {
		return
	}
	a.folder.mu.Lock()
	defer a.folder.mu.Unlock()
	if a.folder.changes == a.changes {
		a.folder.lines = lines
		a.folder.key = key
		a.folder.known = true
		a.folder.at = now
	}
}

// hasPatterns reports whether the vault has an ignore file. It decides what is visible and is not watched.
func (f *watchedFolder) hasPatterns() bool {
	_, err := os.Lstat(filepath.Join(f.path, access.IgnoreFile))
	return !errors.Is(err, fs.ErrNotExist)
}
