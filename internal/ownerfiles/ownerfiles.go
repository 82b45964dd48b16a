// Package ownerfiles opens, creates, replaces and locks private files of this user in folders
// that no one else can access. It also finds out which users can change a file. The journal, the
// audit log and the approvals are stored in private files; programs that are started and settings
// that are read are checked by separate rules.
//
// It refuses whatever another user could read or change, or could have put there: a symbolic
// link, anything but a regular file, another owner, permissions for the group or others, and a
// second hard link. What is checked by name before opening is checked again on the open file.
// Nothing is truncated by path.
//
// Who can change a file depends on every folder and link on its path, on owners and permissions,
// and on Windows on access lists; what cannot be interpreted counts as open to all. On Windows,
// no one but this user, the administrators and the system may own or access a private file.
// Folders are created that way, and their files inherit it.
//
// Calls that change the disk go through a [System], so that a test can let any of them fail. The
// package also knows the state and cache folders of each system, and the running servers of this
// user. It starts nothing.
package ownerfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Problem says why a file or folder is not safe to use.
type Problem uint8

// The problems of an *[Unsafe]. The zero Problem is never used.
const (
	NotAbsolute Problem = iota + 1
	NotFolder
	NotRegular
	OtherOwner
	Accessible // by the group or by others
	HardLinked
	Replaced
)

var reasons = [...]string{
	NotAbsolute: "is not an absolute path",
	NotFolder:   "is not a folder",
	NotRegular:  "is not a regular file",
	OtherOwner:  "belongs to another user",
	Accessible:  "is accessible to other users",
	HardLinked:  "has more than one hard link",
	Replaced:    "was replaced while it was opened",
}

// Unsafe is the error for a file or folder that is not private, or not a regular file with one
// link, or not a folder. It was not read or changed.
type Unsafe struct {
	Path    string
	Problem Problem
	Mode    fs.FileMode // on Unix, its permissions if the problem is Accessible
	Account string      // on Windows, the account that can access it, by name or SID
}

// Reason words the problem, to follow the name of the file in a sentence.
func (e *Unsafe) Reason() string {
	switch {
	case e.Problem == Accessible && e.Account != "":
		return fmt.Sprintf("can be accessed by %q", e.Account)
	case e.Problem == Accessible:
		return fmt.Sprintf("%s (mode %04o)", reasons[e.Problem], e.Mode)
	}
	return reasons[e.Problem]
}

func (e *Unsafe) Error() string { return fmt.Sprintf("%q %s", e.Path, e.Reason()) }

// Pathless returns the error without its path, see [excerpt.Reason].
func (e *Unsafe) Pathless() string { return "a file or folder of the owner " + e.Reason() }

// Describe returns the path that an error of this package or of the system is about, and the
// reason without that path. If the error has no path, about is path.
func Describe(path string, err error) (about, reason string) {
	if unsafe, ok := errors.AsType[*Unsafe](err); ok {
		return unsafe.Path, unsafe.Reason()
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return path, at.Op + ": " + at.Err.Error()
	}
	return path, excerpt.Reason(err)
}

// Store has the names of a store of files in errors: Name for people, and Code as the prefix of
// error codes.
type Store struct{ Name, Code string }

// Unusable is the error for a store that cannot be written or read: the disk is full, rights are
// missing, or a file or folder is not private. No partial write remains.
type Unusable struct {
	Store
	Path   string
	Reason string
	Cause  error // the error of the system, nil if there is none
}

// Code returns the error code.
func (e *Unusable) Code() string { return e.Store.Code + "_unusable" }

func (e *Unusable) Error() string { return fmt.Sprintf("%s %q: %s", e.Name, e.Path, e.Reason) }

// Pathless returns the error without its path, see [excerpt.Reason].
func (e *Unusable) Pathless() string { return e.Name + ": " + e.Reason }

func (e *Unusable) Unwrap() error { return e.Cause }

// Busy is the error if another process held the lock of a store for too long. Nothing was written.
type Busy struct {
	Store
	Path  string
	Cause error // the error of the context
}

// Code returns the error code.
func (e *Busy) Code() string { return e.Store.Code + "_busy" }

func (e *Busy) Error() string {
	return fmt.Sprintf("%s lock %q: held by another process", e.Store.Code, e.Path)
}

// Pathless returns the error without its path, see [excerpt.Reason].
func (e *Busy) Pathless() string { return e.Store.Code + " lock: held by another process" }

func (e *Busy) Unwrap() error { return e.Cause }

// Unusable returns an *[Unusable] for an error of the system. An error that has a code is returned unchanged.
func (s Store) Unusable(path string, err error) error {
	_, hasCode := errors.AsType[interface {
		error
		Code() string
	}](err)
	if err == nil || hasCode {
		return err
	}
	path, reason := Describe(path, err)
	return &Unusable{s, path, reason, err}
}

// Locked is [Store.Unusable] for an error of locking: it returns a *[Busy] if another process has the lock.
func (s Store) Locked(path string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Busy{s, path, err}
	}
	return s.Unusable(path, err)
}
