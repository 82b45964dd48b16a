package approvals

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"vaultwicket/gateway/state/private"
)

const lockName = "desk.lock"

const patience = 10 * time.Second // the lock is held for a few small files

// look runs do with what lies on the desk, while nobody else changes it. Where
// nothing was ever asked that is nothing, and nothing is made.
func (d *Desk) look(do func(shelf) error) error {
	if !filepath.IsAbs(d.dir) {
		return unusable(d.dir, &private.Unsafe{Path: d.dir, Problem: private.NotAbsolute})
	}
	err := private.CheckFolder(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return do(shelf{now: d.now()})
	}
	if err != nil {
		return unusable(d.dir, err)
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
	unlock, err = private.Lock(context.Background(), path, patience)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &Unusable{Path: path, Reason: "is held by another process", Cause: err}
	}
	return unlock, unusable(path, err)
}
