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

// Turn is the right to change notes of the vault through this program. Only one caller among all processes has
// it at a time; it ends with the process.
//
// A change of several files may take long. It excludes others while it is written to the journal together with
// the paths of all its files. From then on ([Turn.PassOn]), others can take turns beside it ([Journal.Beside])
// to change a single file that is not one of those ([Journal.Claimed]). They can also do so while a large
// change is prepared for the journal, until [Turn.Resume].
type Turn struct {
	journal       *Journal
	releaseChange func() // releases the lock of changes of several files; nil for a turn beside such a change
	releaseWrite  func() // releases the lock of writers; nil while the turn is passed on
}

// Alone waits until nobody else changes notes of the vault, and takes the turn. If ctx ends first, the error is
// a *[Busy].
func (j *Journal) Alone(ctx context.Context) (*Turn, error) {
	if err := j.prepare(); err != nil {
		return nil, err
	}
	releaseChange, err := j.lock(ctx, changeLock)
	if err != nil {
		return nil, err
	}
	releaseWrite, err := j.lock(ctx, writerLock)
	if err != nil {
		releaseChange()
		return nil, err
	}
	return &Turn{j, releaseChange, releaseWrite}, nil
}

// Beside takes a turn beside a change of several files, if there is one. If ctx ends first, the error is a
// *[Busy].
func (j *Journal) Beside(ctx context.Context) (*Turn, error) {
	if err := j.prepare(); err != nil {
		return nil, err
	}
	releaseWrite, err := j.lock(ctx, writerLock)
	if err != nil {
		return nil, err
	}
	return &Turn{journal: j, releaseWrite: releaseWrite}, nil
}

// Lock is [Journal.Alone] for a caller that does not pass the turn on.
//
// [Journal.Begin], [Journal.End] and readers do not need it: they have a lock of their own.
func (j *Journal) Lock(ctx context.Context) (unlock func(), err error) {
	t, err := j.Alone(ctx)
	if err != nil {
		return nil, err
	}
	return t.End, nil
}

// TryLock is [Journal.Lock] without waiting. ok is false if another caller has a turn, or an error occurred.
func (j *Journal) TryLock() (unlock func(), ok bool) {
	unlock, err := j.Lock(endedContext())
	return unlock, err == nil
}

// endedContext returns a context with which acquiring a lock does not wait.
func endedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (j *Journal) lock(ctx context.Context, name string) (unlock func(), err error) {
	unlock, err = ownerfiles.Lock(ctx, j.folder.file(name), 0)
	return unlock, store.Locked(j.folder.file(name), err)
}

// BecomeAlone turns a turn beside others into one that is alone, without waiting. It returns false if a change
// of several files is being made.
func (t *Turn) BecomeAlone() bool {
	if t.releaseChange != nil {
		return true
	}
	releaseChange, err := t.journal.lock(endedContext(), changeLock)
	if err != nil {
		return false
	}
	t.releaseChange = releaseChange
	return true
}

// PassOn lets others take turns beside this one. If its change is marked ([Journal.Mark]) and begun, they can
// change only other files than its own; otherwise, any file.
func (t *Turn) PassOn() {
	if t.releaseWrite != nil {
		t.releaseWrite()
		t.releaseWrite = nil
	}
}

// Resume waits until nobody has a turn beside this one, and lets nobody take one from then on. If ctx ends
// first, the error is a *[Busy].
func (t *Turn) Resume(ctx context.Context) error {
	if t.releaseWrite != nil {
		return nil
	}
	releaseWrite, err := t.journal.lock(ctx, writerLock)
	if err == nil {
		t.releaseWrite = releaseWrite
	}
	return err
}

// End ends the turn.
func (t *Turn) End() {
	t.PassOn()
	if t.releaseChange != nil {
		t.releaseChange()
		t.releaseChange = nil
	}
}

// Claims are the paths that a change of several files reserves. The zero Claims reserve none.
type Claims struct {
	id      string
	paths   map[string]bool // of the files, before and after the change
	parents map[string]bool // the folders above the files
	// folders are those that the change creates or removes, with everything in them.
	folders map[string]bool
}

// Claimed returns the claims of the change that [Journal.Mark] names, and false if no such change is begun or
// it has ended. The caller must have a [Turn].
func (j *Journal) Claimed(ctx context.Context) (*Claims, bool, error) {
	claims := j.lastClaims.Load()
	id, _, err := j.Mark().read()
	if err == nil && claims != nil && claims.id == id { // do not read the thousands of files that it may have
		return claims, true, nil
	}
	j.lastClaims.Store(nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	e, err := j.Mark().BrokenOff(ctx)
	if err != nil || e == nil {
		return nil, false, err
	}
	claims = claimsOf(e.Entry)
	j.lastClaims.Store(claims)
	return claims, true, nil
}

// Claim remembers the claims of an entry that is about to be begun, so that [Journal.Claimed] need not read
// them in this process.
func (j *Journal) Claim(e Entry) { j.lastClaims.Store(claimsOf(e)) }

func claimsOf(e Entry) *Claims {
	c := &Claims{id: e.ID, paths: map[string]bool{}, parents: map[string]bool{}, folders: map[string]bool{}}
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

// add adds a path. The path of a folder ends with a slash.
func (c *Claims) add(text string) {
	file, isFolder := strings.CutSuffix(access.Fold(text), "/")
	if isFolder {
		c.folders[file] = true
	}
	c.paths[file] = true
	for _, folder := range foldersAbove(file) {
		c.parents[folder] = true
	}
}

// Cover reports whether a path is reserved: it is a file of the change, or in a folder that the change creates
// or removes, or the path of a folder that the change needs. Spellings that a disk may treat as the same path
// are equal.
func (c *Claims) Cover(file string) bool {
	file = access.Fold(file)
	if c.paths[file] || c.parents[file] {
		return true
	}
	for _, folder := range foldersAbove(file) {
		if c.folders[folder] || c.paths[folder] {
			return true
		}
	}
	return false
}

// foldersAbove returns the folders above a file, except the vault itself.
func foldersAbove(file string) (folders []string) {
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		folders = append(folders, folder)
	}
	return folders
}
