package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// patience is how long the lock is waited for. It is held for one line, and
	// for a moment longer when a file is laid aside.
	patience = 10 * time.Second

	// A line takes a fraction of the first wait.
	shortestWait = 50 * time.Microsecond
	longestWait  = 5 * time.Millisecond
)

// lock takes the lock of those who write, and makes the folder if need be.
func (l *Log) lock() (unlock func(), err error) {
	if !l.prepared.Load() {
		if err := l.prepare(); err != nil {
			return nil, err
		}
		l.prepared.Store(true)
	}
	unlock, err = l.place.lock()
	if errors.Is(err, fs.ErrNotExist) {
		// The folder went away in between.
		if err := l.prepare(); err != nil {
			return nil, err
		}
		unlock, err = l.place.lock()
	}
	return unlock, err
}

func (p place) lock() (unlock func(), err error) {
	path := filepath.Join(p.dir, lockFile)
	// One for each call: a lock that is shared would let its second caller in.
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|noFollow), flock.SetPermissions(0o600))
	until := time.Time{}
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, unusable(path, err)
		}
		if locked {
			return func() { _ = lock.Unlock() }, nil
		}
		if until.IsZero() {
			until = time.Now().Add(patience)
		} else if time.Now().After(until) {
			return nil, &Busy{Path: path}
		}
		time.Sleep(wait)
	}
}

// lockToRead takes the same lock for those who read. Where nothing can be
// written, nobody does, and there is no need for it.
func (p place) lockToRead() (unlock func(), err error) {
	if err := p.checkLock(); err != nil {
		return nil, err
	}
	unlock, err = p.lock()
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return func() {}, nil
	}
	return unlock, err
}
