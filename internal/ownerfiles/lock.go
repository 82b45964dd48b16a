package ownerfiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	// What is written under a lock often takes a fraction of the first wait.
	shortestWait = 50 * time.Microsecond
	longestWait  = 5 * time.Millisecond
)

// Lock takes the exclusive lock in the file path, which it creates if it is
// missing, and returns the function that releases it. The lock ends with the
// process. Two calls in one process exclude each other too.
//
// While another caller has the lock it waits until ctx ends or patience is over, 0 being without
// end. The error is then that of a context; others are those of [Open].
func Lock(ctx context.Context, path string, patience time.Duration) (unlock func(), err error) {
	if unlock, err = tryLock(path); unlock != nil || err != nil {
		return unlock, err
	}
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
		if unlock, err = tryLock(path); unlock != nil || err != nil {
			return unlock, err
		}
	}
}

// tryLock returns nil and no error if another caller has the lock. It opens the file with fewer system
// calls than [Open], because it is done for each line of a log: only the open file is checked where
// that is enough.
func tryLock(path string) (unlock func(), err error) {
	if noFollow == 0 {
		if err := checkExisting(path); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		var unsafe *Unsafe
		if found := checkExisting(path); errors.As(found, &unsafe) {
			return nil, found
		}
		return nil, err
	}
	if _, err := checkOpened(path, file); err != nil {
		file.Close()
		return nil, err
	}
	locked, err := lockFile(file)
	if err != nil {
		err = &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	if !locked {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		_ = unlockFile(file) // a child that is just being started may have the file open too
		_ = file.Close()
	}, nil
}

// LockToRead is [Lock] for a caller that only reads. On a read-only file system there is no
// writer, so it succeeds without a lock.
func LockToRead(path string, patience time.Duration) (unlock func(), err error) {
	unlock, err = Lock(context.Background(), path, patience)
	if errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, syscall.EROFS) { // on Windows it shows as a missing permission
		return func() {}, checkExisting(path)
	}
	return unlock, err
}

// checkExisting is [CheckFile] for a file that may not exist.
func checkExisting(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return CheckFile(path, info)
}
