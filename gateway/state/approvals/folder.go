package approvals

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"vaultwicket/gateway/state/private"
)

const lockFile = "desk.lock"

const patience = 10 * time.Second // the lock is held for a few small files

// withContent runs do with what is in the folder, while nobody else changes it. Where
// nothing was ever asked that is nothing, and nothing is made.
func (d *Store) withContent(do func(content) error) error {
	if !filepath.IsAbs(d.dir) {
		return unusable(d.dir, &private.Unsafe{Path: d.dir, Problem: private.NotAbsolute})
	}
	err := private.CheckFolder(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return do(content{now: d.now()})
	}
	if err != nil {
		return unusable(d.dir, err)
	}
	return d.withLock(do)
}

// withLock does the same in a folder that is there.
func (d *Store) withLock(do func(content) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := d.readContent()
	if err != nil {
		return err
	}
	return do(s)
}

func (d *Store) lock() (unlock func(), err error) {
	path := filepath.Join(d.dir, lockFile)
	unlock, err = private.Lock(context.Background(), path, patience)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &Unusable{Path: path, Reason: "held by another process", Cause: err}
	}
	return unlock, unusable(path, err)
}
