package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
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
	return j.place.lock(ctx, writerLock)
}

func (p place) lock(ctx context.Context, name string) (unlock func(), err error) {
	path := p.file(name)
	if info, err := os.Lstat(path); err == nil {
		if err := checkOwn(path, info); err != nil {
			return nil, err
		}
	}
	// One for each call: a lock that is shared would let its second caller in.
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|os.O_CREATE|cautious), flock.SetPermissions(0o600))
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		locked, err := lock.TryLock()
		if err != nil {
			return nil, unusable(path, err)
		}
		if locked {
			return func() { _ = lock.Unlock() }, nil
		}
		select {
		case <-ctx.Done():
			return nil, &Busy{Path: path, Cause: ctx.Err()}
		case <-time.After(wait):
		}
	}
}

// lockShortly takes the lock of those who write here.
func (p place) lockShortly() (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.lock(ctx, appendLock)
}

// lockToRead does the same for those who read. Where nothing can be written,
// nobody does, and there is no need for it.
func (p place) lockToRead() (unlock func(), err error) {
	unlock, err = p.lockShortly()
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return func() {}, nil
	}
	return unlock, err
}
