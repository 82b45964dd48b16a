package ownerfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Surroundings is where a program must not be. The zero value is nowhere.
type Surroundings struct {
	Vaults func() []string // the folders of the vaults; nil is none
	Home   string          // the home folder of the user, "" if it is not known
}

// Objection says why a program must not be started. The zero Objection is none.
type Objection struct {
	Reason string // in words that follow the name of the program
	Remedy string // the one command with which the user mends it, "" where none does
}

// CheckProgramFile says why a file must not be started, nothing if it may:
// it is no regular file, another user could have changed it, or it is where an agent or a
// cloned repository could have put it, in a vault or the working folder. The path is
// absolute and without links; file is from Lstat. [CheckProgramPath] checks the folders.
func CheckProgramFile(path string, file fs.FileInfo, at Surroundings) Objection {
	if !file.Mode().IsRegular() {
		return Objection{Reason: "is not a regular file"}
	}
	if found := safeProgram(path, file); found != (Objection{}) {
		return found
	}
	if at.Vaults != nil {
		for _, vault := range at.Vaults() {
			if info, err := os.Stat(vault); err == nil && inside(path, info) {
				return Objection{Reason: "is inside the vault " + excerpt.Quoted(vault)}
			}
		}
	}
	work, err := os.Getwd()
	if err != nil {
		return Objection{}
	}
	info, err := os.Stat(work)
	if err != nil || !inside(path, info) {
		return Objection{}
	}
	home := at.Home
	if !filepath.IsAbs(home) {
		home = string(filepath.Separator)
	}
	// A session that starts in the home folder, or in a folder above it, is no project.
	if inside(filepath.Join(home, "x"), info) && !isFolder(filepath.Dir(path), info) {
		return Objection{}
	}
	return Objection{Reason: "is inside the working folder"}
}

// CheckProgram is [CheckProgramPath] and [CheckProgramFile] for a path after its links are resolved.
func CheckProgram(path string, at Surroundings) (found Objection, err error) {
	if found, err = CheckProgramPath(path); found != (Objection{}) || err != nil {
		return found, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return Objection{}, err
	}
	file, err := os.Lstat(path)
	if err != nil {
		return Objection{}, err
	}
	return CheckProgramFile(path, file, at), nil
}

// CheckProgramPath checks every folder on the path to a program, through the links as they are: a user
// who can rename an entry on it, or redirect a link, can put another program in its place.
// It says why a path is not safe, nothing if it is. The path is absolute.
func CheckProgramPath(path string) (found Objection, err error) {
	errUnsafe := errors.New("a folder is not safe")
	err = WalkPath(path, func(folder, entry string, info fs.FileInfo) (err error) {
		if found, err = safeStep(folder, entry, info); found != (Objection{}) {
			return errUnsafe
		}
		return err
	})
	if err == errUnsafe {
		err = nil
	}
	return found, err
}

// inside reports whether a folder is one of those around path. Folders are compared by
// identity, so that no spelling of a path matters.
func inside(path string, folder fs.FileInfo) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if isFolder(dir, folder) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func isFolder(dir string, folder fs.FileInfo) bool {
	info, err := os.Stat(dir)
	return err == nil && os.SameFile(info, folder)
}
