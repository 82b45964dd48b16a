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

// Which notes of a vault narrow access to themselves is needed before every call to the app that may reach any note. The
// answer stays the same as long as nothing in the folder changes. This process watches the folder itself, so that it can be
// sure of that without asking the embedded program.

// maxStanding is how long an answer is used: a write through a mapped file, or through another name of the file, is not
// reported.
const maxStanding = 30 * time.Second

// standing has the answers that can be used again, the last one for each folder. It is safe for concurrent use.
type standing struct {
	getenv func(string) string

	mu      sync.Mutex
	folders map[string]*watchedFolder
	closed  bool
	starts  sync.WaitGroup
}

// watchedFolder has the last answer for one folder.
type watchedFolder struct {
	path  string
	place string // a folder for the file by which reports are awaited

	mu      sync.Mutex     // not held while anything is asked
	watcher *watch.Watcher // nil until the folder is watched, and where it cannot be
	root    fs.FileInfo    // of the folder that is watched
	changes uint64         // how often something was reported
	lines   []string
	key     workerKey // what the lines are the answer for
	known   bool
	at      time.Time
}

// pendingAnswer is a question that is being asked, with how many changes had been reported before it.
type pendingAnswer struct {
	folder  *watchedFolder // nil for an answer that is not kept
	changes uint64
}

// of returns the folder at a path, which is watched from the first call on, and nil where no answer is kept.
func (s *standing) of(path string) *watchedFolder {
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

// close ends all watches. Later answers are not kept.
func (s *standing) close() {
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

// watch begins to watch the folder, which takes as long as to list all folders in it.
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

// drop ends the watch, with f.mu held.
func (f *watchedFolder) drop() {
	f.known = false
	if f.watcher != nil {
		f.watcher.Close()
		f.watcher = nil
	}
}

// answer returns the answer to the question of a key if it can be used again. Otherwise next keeps the new one.
func (f *watchedFolder) answer(key workerKey, now time.Time) (lines []string, stands bool, next pendingAnswer) {
	if f == nil || f.hasPatterns() {
		return nil, false, pendingAnswer{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watcher == nil {
		return nil, false, pendingAnswer{}
	}
	if root, err := os.Stat(f.path); err != nil || !os.SameFile(root, f.root) {
		f.drop() // another folder is at the path
		return nil, false, pendingAnswer{}
	}
	if !f.watcher.Settle(f.place) || !f.watcher.Take().None() {
		f.changes++
		f.known = false
	}
	if f.known && f.key == key && now.Sub(f.at) < maxStanding {
		return f.lines, true, pendingAnswer{}
	}
	return nil, false, pendingAnswer{folder: f, changes: f.changes}
}

// keep keeps an answer for later calls, unless a change was reported while it was asked for.
func (a pendingAnswer) keep(key workerKey, lines []string, now time.Time) {
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

// hasPatterns reports whether the vault has an ignore file, which is not watched and decides what is seen.
func (f *watchedFolder) hasPatterns() bool {
	_, err := os.Lstat(filepath.Join(f.path, access.IgnoreFile))
	return !errors.Is(err, fs.ErrNotExist)
}
