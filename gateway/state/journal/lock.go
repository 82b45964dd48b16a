package journal

import (
	"context"
	"errors"
	"time"

	"vaultwicket/gateway/state/private"
)

const (
	writerLock = "write.lock"  // held by a caller from before Begin until after End
	appendLock = "append.lock" // held while something is written here
)

// patience is how long the short lock is waited for. It is held for one entry,
// which may be a gigabyte.
const patience = 30 * time.Second

// Lock keeps other processes, and other callers in this one, from changing notes
// of the vault through this program until unlock is called. It ends with the
// process. It waits until ctx ends, and then answers with a *[Busy].
//
// Begin, End and all that reads do not need it: they have a lock of their own
// for a moment.
func (j *Journal) Lock(ctx context.Context) (unlock func(), err error) {
	if err := j.prepare(); err != nil {
		return nil, err
	}
	unlock, err = private.Lock(ctx, j.folder.file(writerLock), 0)
	return unlock, j.folder.lockError(writerLock, err)
}

// Extent is how far the journal has grown: another one after each entry. It is zero where
// nothing can be read.
type Extent struct {
	segment uint64
	size    int64
}

// Extent returns how far the journal has grown.
func (j *Journal) Extent() Extent {
	seen, err := j.folder.list()
	if err != nil || len(seen.segments) == 0 {
		return Extent{}
	}
	newest := seen.segments[len(seen.segments)-1]
	return Extent{newest.number, newest.size}
}

// lockAppend takes the lock of writers.
func (p folder) lockAppend() (unlock func(), err error) {
	unlock, err = private.Lock(context.Background(), p.file(appendLock), patience)
	return unlock, p.lockError(appendLock, err)
}

// lockToRead does the same for readers. Where nothing can be written,
// there is no writer, and no need for it.
func (p folder) lockToRead() (unlock func(), err error) {
	unlock, err = private.LockToRead(p.file(appendLock), patience)
	return unlock, p.lockError(appendLock, err)
}

// lockError returns an error of this package for one of locking.
func (p folder) lockError(name string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Busy{Path: p.file(name), Cause: err}
	}
	return unusable(p.file(name), err)
}
