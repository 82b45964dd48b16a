// Package ownerfiles opens, creates, replaces and locks files that belong to this
// user alone, in folders that no one else can access, and says which users can change a
// file. The journal, the audit log and the approvals are kept in such files; programs that
// are started and settings that are read are checked with it, each by rules of its own.
//
// It refuses what another user could read or change, or could have put there: a
// symbolic link, anything but a regular file, another owner, permissions for the
// group or others, and a second hard link. What is checked by name before it is
// opened is checked again on the open file. Nothing is truncated by path.
//
// Who can change a file depends on every folder and link on its path, the owner and the
// permissions of files, and on Windows on their access lists; what is not understood counts
// as open to all. On Windows no one but this user, the administrators and the system may own
// or access a file of this user. Folders are made so, and files inherit it from them.
//
// Calls that change the disk go through a [System], so that a test can let the
// n-th of them fail. The package also knows where state and cache are on each system, and
// which servers of this user are running. It starts nothing.
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

// Unsafe says that a file or folder does not belong to this user alone, or is not a plain
// file with one link, or a folder. It was not read or changed.
type Unsafe struct {
	Path    string
	Problem Problem
	Mode    fs.FileMode // its permissions if it is Accessible, on Unix
	Account string      // on Windows the account that can access it, by name or SID
}

// Reason returns the problem, to follow the name of the file in a sentence.
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

// Pathless is the error without its path, see [excerpt.Reason].
func (e *Unsafe) Pathless() string { return "a file or folder of the owner " + e.Reason() }

// Describe returns the path that an error of this package or of the system is about, and what is
// wrong without that path. An error that does not say its path is about path.
func Describe(path string, err error) (about, reason string) {
	if unsafe, ok := errors.AsType[*Unsafe](err); ok {
		return unsafe.Path, unsafe.Reason()
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return path, at.Op + ": " + at.Err.Error()
	}
	return path, excerpt.Reason(err)
}

// Store is a store of files, as its errors name it: Name for people, and Code at the beginning of
// the names of errors for programs.
type Store struct{ Name, Code string }

// Unusable says that a store cannot be written or read: a full disk, missing rights, a file or
// folder that is not this user's alone. No partial write remains.
type Unusable struct {
	Store
	Path   string
	Reason string
	Cause  error // of the system, nil if there is none
}

// Code returns the name of the error for programs.
func (e *Unusable) Code() string { return e.Store.Code + "_unusable" }

func (e *Unusable) Error() string { return fmt.Sprintf("%s %q: %s", e.Name, e.Path, e.Reason) }

// Pathless is the error without its path, see [excerpt.Reason].
func (e *Unusable) Pathless() string { return e.Name + ": " + e.Reason }

func (e *Unusable) Unwrap() error { return e.Cause }

// Busy says that another process held the lock of a store until patience ended. Nothing was written.
type Busy struct {
	Store
	Path  string
	Cause error // of the context
}

// Code returns the name of the error for programs.
func (e *Busy) Code() string { return e.Store.Code + "_busy" }

func (e *Busy) Error() string {
	return fmt.Sprintf("%s lock %q: held by another process", e.Store.Code, e.Path)
}

// Pathless is the error without its path, see [excerpt.Reason].
func (e *Busy) Pathless() string { return e.Store.Code + " lock: held by another process" }

func (e *Busy) Unwrap() error { return e.Cause }

// Unusable returns an error with a code for one of the system; one that has a code stays as it is.
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

// Locked is [Store.Unusable] for an error of locking, which is a *[Busy] if another process has the lock.
func (s Store) Locked(path string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Busy{s, path, err}
	}
	return s.Unusable(path, err)
}
