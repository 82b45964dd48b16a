package excerpt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Reason says why something failed, without the folders of this machine: for a caller who is not to know where its owner
// keeps files. What an error says with a path of the machine is said without it: that of the errors of the system, and of
// each with a method Pathless.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	eachOf(err, func(part error) {
		if plain, ok := withoutPath(part); ok {
			text = strings.ReplaceAll(text, part.Error(), plain)
		}
	})
	return text
}

// eachOf calls visit with an error and all that it wraps.
func eachOf(err error, visit func(part error)) {
	visit(err)
	switch wraps := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wraps.Unwrap(); inner != nil {
			eachOf(inner, visit)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wraps.Unwrap() {
			eachOf(inner, visit)
		}
	}
}

// withoutPath returns what an error itself says without its path, false for one without a path of the machine.
func withoutPath(err error) (plain string, ok bool) {
	switch at := err.(type) {
	case interface{ Pathless() string }:
		return at.Pathless(), true
	case *fs.PathError:
		return fmt.Sprintf("%s: %v", at.Op, at.Err), isOfMachine(at.Path)
	case *os.LinkError:
		return fmt.Sprintf("%s: %v", at.Op, at.Err), isOfMachine(at.Old) || isOfMachine(at.New)
	}
	return "", false
}

// isOfMachine reports whether a path begins at a place of the machine: on Windows also at the root of the drive that is in
// use, or in the working folder of a drive, which are no absolute paths there.
func isOfMachine(path string) bool {
	isRooted := path != "" && os.IsPathSeparator(path[0])
	return isRooted || filepath.IsAbs(path) || filepath.VolumeName(path) != ""
}

// IsOfOwner reports whether an error is, or wraps, one with a method Pathless, as those about the files of the owner are.
func IsOfOwner(err error) bool {
	_, isOfOwner := errors.AsType[interface {
		error
		Pathless() string
	}](err)
	return isOfOwner
}

// IsOfSystem reports whether an error is, or wraps, one that the system has given for a call on a file.
func IsOfSystem(err error) bool {
	_, isOfPath := errors.AsType[*fs.PathError](err)
	_, isOfLink := errors.AsType[*os.LinkError](err)
	_, isOfCall := errors.AsType[*os.SyscallError](err)
	return isOfPath || isOfLink || isOfCall
}
