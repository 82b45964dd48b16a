package audit

import (
	"errors"
	"fmt"

	"vaultwicket/gateway/state/private"
)

// Unusable says that the log could not be written or read: a full disk, missing
// rights, a file or folder that is not this user's alone.
type Unusable struct {
	Path   string
	Reason string
	Cause  error // of the system, nil if there is none
}

// Code returns the name of the error for programs.
func (*Unusable) Code() string { return "audit_unusable" }

func (e *Unusable) Error() string { return fmt.Sprintf("audit log %q: %s", e.Path, e.Reason) }

func (e *Unusable) Unwrap() error { return e.Cause }

// unusable returns an error of this package for one of the system.
func unusable(path string, err error) error {
	var typed interface {
		error
		Code() string
	}
	if err == nil || errors.As(err, &typed) {
		return err
	}
	path, reason := private.Describe(path, err)
	return &Unusable{Path: path, Reason: reason, Cause: err}
}

// Busy says that another process held the lock until patience ended. Nothing was
// written.
type Busy struct{ Path string }

// Code returns the name of the error for programs.
func (*Busy) Code() string { return "audit_busy" }

func (e *Busy) Error() string {
	return fmt.Sprintf("audit lock %q: held by another process", e.Path)
}

// Invalid says that a caller gave what no line can hold. Nothing was written.
type Invalid struct{ Field, Value, Reason string }

// Code returns the name of the error for programs.
func (*Invalid) Code() string { return "audit_invalid" }

func (e *Invalid) Error() string {
	return fmt.Sprintf("audit log: %s %.100q: %s", e.Field, e.Value, e.Reason)
}

// Damaged says that a line cannot be read.
type Damaged struct {
	File string // its name in the folder
	Line int    // counted from 1
}

// Code returns the name of the error for programs.
func (*Damaged) Code() string { return "audit_damaged" }

func (e *Damaged) Error() string {
	return fmt.Sprintf("audit log: %q, line %d: is not a line of this log", e.File, e.Line)
}
