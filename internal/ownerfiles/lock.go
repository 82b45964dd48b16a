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
	// Locks are often held for less than the shortest wait.
	shortestWait = 50 * time.Microsecond
	longestWait  = 5 * time.Millisecond
)

// Lock acquires the exclusive lock of the file path, which it creates if it is
// missing, and returns the function that releases it. The lock is also released
// when the process ends. Two calls in one process exclude each other, too.
//
// While another caller has the lock, Lock waits until ctx is done or patience has passed; 0 waits
// without limit. The error is then that of a context; other errors are those of [Open].
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

// tryLock acquires the lock if it is free; if another caller has it, unlock and err are nil. It needs
// fewer system calls than [Open], because it is called for each line of a log: if possible, only the
// open file is checked.
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
		_ = unlockFile(file) // closing may not suffice: a child that is being started may have the file open, too
		_ = file.Close()
	}, nil
}

// LockToRead is [Lock] for a caller that only reads. On a read-only file system there are no
// writers, so it succeeds without a lock.
func LockToRead(path string, patience time.Duration) (unlock func(), err error) {
	unlock, err = Lock(context.Background(), path, patience)
	if errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, syscall.EROFS) { // on Windows, this is a permission error
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
