package excerpt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Reason returns the text of an error without the folders of this machine, for callers who must not learn where the
// owner keeps files. It removes the paths of file errors of the system, and those of errors with a method Pathless.
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

// eachOf calls visit with an error and all errors that it wraps.
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

// withoutPath returns the text of an error without its path. ok is false if it has no path of this machine.
func withoutPath(err error) (plain string, ok bool) {
	switch e := err.(type) {
	case interface{ Pathless() string }:
		return e.Pathless(), true
	case *fs.PathError:
		return fmt.Sprintf("%s: %v", e.Op, e.Err), isOfMachine(e.Path)
	case *os.LinkError:
		return fmt.Sprintf("%s: %v", e.Op, e.Err), isOfMachine(e.Old) || isOfMachine(e.New)
	}
	return "", false
}

// isOfMachine reports whether a path is not relative to the working folder. On Windows, this includes paths from the root
// of the current drive, and paths in the working folder of a drive, which are not absolute there.
func isOfMachine(path string) bool {
	isRooted := path != "" && os.IsPathSeparator(path[0])
	return isRooted || filepath.IsAbs(path) || filepath.VolumeName(path) != ""
}

// IsOfOwner reports whether an error is, or wraps, one with a method Pathless, like errors about the files of the owner.
func IsOfOwner(err error) bool {
	_, isOfOwner := errors.AsType[interface {
		error
		Pathless() string
	}](err)
	return isOfOwner
}

// IsOfSystem reports whether an error is, or wraps, one that the system returned for a call on a file.
func IsOfSystem(err error) bool {
	_, isOfPath := errors.AsType[*fs.PathError](err)
	_, isOfLink := errors.AsType[*os.LinkError](err)
	_, isOfCall := errors.AsType[*os.SyscallError](err)
	return isOfPath || isOfLink || isOfCall
}
