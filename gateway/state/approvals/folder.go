package approvals

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const lockName = "desk.lock"

const (
	patience  = 10 * time.Second     // the lock is held for a few small files
	lookAgain = 2 * time.Millisecond // a person waits for the answer
)

// makeFolder makes the folder unless it is there, and returns an error unless it
// is ours alone.
func (d *Desk) makeFolder() error {
	if !filepath.IsAbs(d.dir) {
		return &Unusable{Path: d.dir, Reason: "is no absolute path"}
	}
	if _, err := os.Lstat(d.dir); errors.Is(err, fs.ErrNotExist) {
		err := os.MkdirAll(filepath.Dir(d.dir), 0o700)
		if err == nil {
			err = d.disk.mkdir(d.dir)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return unusable(d.dir, err)
		}
	}
	return checkPrivate(d.dir)
}

// checkPrivate returns an error unless dir is a folder, and no link to one, that
// nobody else can look into.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return unusable(dir, err)
	case !info.IsDir():
		return &Unusable{Path: dir, Reason: "is not a folder"}
	case !isPrivate(info):
		return &Unusable{Path: dir, Reason: "is open to others, or of another user"}
	}
	return nil
}

// look runs do with what lies on the desk, while nobody else changes it. Where
// nothing was ever asked that is nothing, and nothing is made.
func (d *Desk) look(do func(shelf) error) error {
	if !filepath.IsAbs(d.dir) {
		return &Unusable{Path: d.dir, Reason: "is no absolute path"}
	}
	if _, err := os.Lstat(d.dir); errors.Is(err, fs.ErrNotExist) {
		return do(shelf{now: d.now()})
	}
	if err := checkPrivate(d.dir); err != nil {
		return err
	}
	return d.locked(do)
}

// locked does the same in a folder that is there.
func (d *Desk) locked(do func(shelf) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := d.read()
	if err != nil {
		return err
	}
	return do(s)
}

func (d *Desk) lock() (unlock func(), err error) {
	path := filepath.Join(d.dir, lockName)
	if info, err := os.Lstat(path); err == nil {
		if err := checkOwn(path, info); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// One for each call: a lock that is shared would let its second caller in.
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|cautious), flock.SetPermissions(0o600))
	_, err = lock.TryLockContext(ctx, lookAgain)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &Unusable{Path: path, Reason: "is held by another process", Cause: err}
	}
	if err != nil {
		return nil, unusable(path, err)
	}
	return func() { _ = lock.Unlock() }, nil
}
