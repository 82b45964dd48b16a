package audit

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"vaultwicket/gateway/state/private"
)

// patience is how long the lock is waited for. It is held for one line, and
// for a moment longer when a file is rotated.
const patience = 10 * time.Second

// lock takes the lock of writers, and makes the folder if need be.
func (l *Log) lock() (unlock func(), err error) {
	if !l.prepared.Load() {
		if err := l.prepare(); err != nil {
			return nil, err
		}
		l.prepared.Store(true)
	}
	unlock, err = l.lockOnce()
	if errors.Is(err, fs.ErrNotExist) {
		// The folder went away in between.
		if err := l.prepare(); err != nil {
			return nil, err
		}
		unlock, err = l.lockOnce()
	}
	return unlock, err
}

// maxReplaced is how often the file of the lock is opened again because another one was
// put in its place. Nobody does that but by hand.
const maxReplaced = 8

// lockOnce takes the lock of the file that is open, as long as that is the one that is
// there: others would take another lock.
func (l *Log) lockOnce() (unlock func(), err error) {
	if !l.keepOpen {
		return l.folder.lock()
	}
	for range maxReplaced {
		if l.lockFile == nil {
			if l.lockFile, err = private.OpenLock(l.folder.file(lockFile)); err != nil {
				l.lockFile = nil
				return nil, l.folder.lockError(err)
			}
		}
		if unlock, err = l.lockFile.Lock(context.Background(), patience); err != nil {
			return nil, l.folder.lockError(err)
		}
		if l.last, l.unchanged = l.found.areUnchanged(l.folder.dir); l.unchanged || l.lockFile.IsThere() {
			return unlock, nil
		}
		unlock()
		_ = l.closeLock()
	}
	return nil, &Busy{Path: l.folder.file(lockFile)}
}

func (p folder) lock() (unlock func(), err error) {
	unlock, err = private.Lock(context.Background(), p.file(lockFile), patience)
	return unlock, p.lockError(err)
}

// lockToRead takes the same lock for readers. Where nothing can be
// written there is no writer, and no need for it.
func (p folder) lockToRead() (unlock func(), err error) {
	unlock, err = private.LockToRead(p.file(lockFile), patience)
	return unlock, p.lockError(err)
}

// lockError returns an error of this package for one of locking.
func (p folder) lockError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &Busy{Path: p.file(lockFile)}
	}
	return unusable(p.file(lockFile), err)
}
