package private

import (
	"context"
	"errors"
	"io/fs"
	"os"
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
	return lock(ctx, patience, func() (func(), error) { // Nil and no error if another caller has the lock.
		var err error
		file, err := openLock(path)
		if err != nil {
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
	})
}

// lock tries to take a lock until it has it. try returns nil and no error if another
// caller has it.
func lock(ctx context.Context, patience time.Duration, try func() (unlock func(), err error)) (unlock func(), err error) {
	unlock, err = try()
	if unlock != nil || err != nil {
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
		unlock, err = try()
		if unlock != nil || err != nil {
			return unlock, err
		}
	}
}

// LockFile is the file of a lock that stays open from one lock to the next. It is not
// safe for use by several goroutines: locks that it takes do not exclude each other.
type LockFile struct {
	path string
	file *os.File
	info fs.FileInfo
}

// OpenLock opens the file path of a lock, and creates it if it is missing. The errors are
// those of [Open].
func OpenLock(path string) (*LockFile, error) {
	file, err := openLock(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &LockFile{path, file, info}, nil
}

// Lock is [Lock] for the open file.
func (l *LockFile) Lock(ctx context.Context, patience time.Duration) (unlock func(), err error) {
	return lock(ctx, patience, func() (func(), error) {
		locked, err := lockFile(l.file)
		if err != nil {
			return nil, &fs.PathError{Op: "lock", Path: l.path, Err: err}
		}
		if !locked {
			return nil, nil
		}
		return func() { _ = unlockFile(l.file) }, nil
	})
}

// IsThere reports whether the path still leads to the open file, and the file is one that
// [Open] accepts. Where it does not, others take another lock.
func (l *LockFile) IsThere() bool {
	info, err := os.Lstat(l.path)
	return err == nil && os.SameFile(info, l.info) && CheckFile(l.path, info) == nil
}

// Close closes the file, and so releases its lock.
func (l *LockFile) Close() error { return l.file.Close() }

// LockToRead is [Lock] for a caller that only reads. On a read-only file system there is no
// writer, so it succeeds without a lock.
func LockToRead(path string, patience time.Duration) (unlock func(), err error) {
	unlock, err = Lock(context.Background(), path, patience)
	if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
		return func() {}, checkExisting(path)
	}
	return unlock, err
}

// openLock opens the file of a lock, with fewer system calls than [Open]: it is
// done for each line of a log. Only the open file is checked where that is enough.
func openLock(path string) (*os.File, error) {
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
	return file, nil
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
