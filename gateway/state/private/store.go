package private

import (
	"context"
	"errors"
	"fmt"
)

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
