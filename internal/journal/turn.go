package journal

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Turn is the right to change notes of the vault through this program. It is of one caller among all processes, and ends with
// the process.
//
// A change of several files may take long. It keeps others out while it is written to the journal, with the paths of all its
// files. From then on ([Turn.PassOn]) others have turns beside it ([Journal.Beside]), for a change of one file that is none of
// those ([Journal.Claimed]). They have turns also while a large change is made ready for the journal, until [Turn.Resume].
type Turn struct {
	journal *Journal
	change  func() // gives back the lock of changes of several files; nil for a turn beside one
	write   func() // gives back the lock of writers; nil while the turn is passed on
}

// Alone takes a turn once nobody else changes notes of the vault. When ctx ends first, the error is a *[Busy].
func (j *Journal) Alone(ctx context.Context) (*Turn, error) {
	if err := j.prepare(); err != nil {
		return nil, err
	}
	change, err := j.lock(ctx, changeLock)
	if err != nil {
		return nil, err
	}
	write, err := j.lock(ctx, writerLock)
	if err != nil {
		change()
		return nil, err
	}
	return &Turn{j, change, write}, nil
}

// Beside takes a turn beside a change of several files, if there is one. When ctx ends first, the error is a *[Busy].
func (j *Journal) Beside(ctx context.Context) (*Turn, error) {
	if err := j.prepare(); err != nil {
		return nil, err
	}
	write, err := j.lock(ctx, writerLock)
	if err != nil {
		return nil, err
	}
	return &Turn{journal: j, write: write}, nil
}

// Lock is [Journal.Alone] for a caller that has nothing to pass on.
//
// [Journal.Begin], [Journal.End] and readers do not need it: they take a lock of their own.
func (j *Journal) Lock(ctx context.Context) (unlock func(), err error) {
	t, err := j.Alone(ctx)
	if err != nil {
		return nil, err
	}
	return t.End, nil
}

// TryLock is [Journal.Lock] that does not wait. ok is false if another caller has a turn, or it cannot be had.
func (j *Journal) TryLock() (unlock func(), ok bool) {
	unlock, err := j.Lock(ended())
	return unlock, err == nil
}

// ended is a context with which a lock is not waited for.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (j *Journal) lock(ctx context.Context, name string) (unlock func(), err error) {
	unlock, err = ownerfiles.Lock(ctx, j.folder.file(name), 0)
	return unlock, store.Locked(j.folder.file(name), err)
}

// BecomeAlone makes a turn beside others one of a caller that is alone, without waiting. It is false if a change of several files
// is being made.
func (t *Turn) BecomeAlone() bool {
	if t.change != nil {
		return true
	}
	change, err := t.journal.lock(ended(), changeLock)
	if err != nil {
		return false
	}
	t.change = change
	return true
}

// PassOn lets others have turns beside this one. If its change is marked ([Journal.Mark]) and begun, they are for files that are
// none of its own; if not, for any file.
func (t *Turn) PassOn() {
	if t.write != nil {
		t.write()
		t.write = nil
	}
}

// Resume waits until nobody has a turn beside this one, nor gets one from then on. When ctx ends first, the error is a *[Busy].
func (t *Turn) Resume(ctx context.Context) error {
	if t.write != nil {
		return nil
	}
	write, err := t.journal.lock(ctx, writerLock)
	if err == nil {
		t.write = write
	}
	return err
}

// End gives the turn back.
func (t *Turn) End() {
	t.PassOn()
	if t.change != nil {
		t.change()
		t.change = nil
	}
}

// Claims are the paths that a change of several files is about. The zero Claims are of no change.
type Claims struct {
	id    string
	paths map[string]bool // of its files, before and after it
	above map[string]bool // the folders that these are in
	// folders are those that it makes or removes, with all that is in them.
	folders map[string]bool
}

// Claimed returns what the change that is marked by [Journal.Mark] is about, and false if no such change is begun or it has ended.
// The caller has a [Turn].
func (j *Journal) Claimed(ctx context.Context) (*Claims, bool, error) {
	known := j.claimed.Load()
	id, _, err := j.Mark().read()
	if err == nil && known != nil && known.id == id { // it may have thousands of files
		return known, true, nil
	}
	j.claimed.Store(nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	e, err := j.Mark().BrokenOff(ctx)
	if err != nil || e == nil {
		return nil, false, err
	}
	known = claimsOf(e.Entry)
	j.claimed.Store(known)
	return known, true, nil
}

// Claim notes what the change of an entry is about that is going to be begun, so that [Journal.Claimed] need not read that in this
// process.
func (j *Journal) Claim(e Entry) { j.claimed.Store(claimsOf(e)) }

func claimsOf(e Entry) *Claims {
	c := &Claims{id: e.ID, paths: map[string]bool{}, above: map[string]bool{}, folders: map[string]bool{}}
	for _, step := range e.Steps {
		c.add(step.Path)
		if step.From != "" {
			c.add(step.From)
		}
	}
	for _, folder := range e.Folders {
		c.add(folder + "/")
	}
	for _, folder := range e.Emptied {
		c.add(folder + "/")
	}
	return c
}

// add adds a path; that of a folder ends with a slash.
func (c *Claims) add(text string) {
	file, isFolder := strings.CutSuffix(access.Fold(text), "/")
	if isFolder {
		c.folders[file] = true
	}
	c.paths[file] = true
	for _, folder := range foldersAbove(file) {
		c.above[folder] = true
	}
}

// Cover reports whether a file at a path of the vault is one of those of the change, or in a folder that it makes or removes, or
// where it has a folder. Spellings of a path that a disk may take for one are one path.
func (c *Claims) Cover(file string) bool {
	file = access.Fold(file)
	if c.paths[file] || c.above[file] {
		return true
	}
	for _, folder := range foldersAbove(file) {
		if c.folders[folder] || c.paths[folder] {
			return true
		}
	}
	return false
}

// foldersAbove returns the folders above a file, without the vault itself.
func foldersAbove(file string) (folders []string) {
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		folders = append(folders, folder)
	}
	return folders
}
