package ownerfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Surroundings are the folders in which a program must not be. The zero value has none.
type Surroundings struct {
	Vaults func() []string // returns the folders of the vaults; nil for none
	Home   string          // the home folder of the user, "" if it is not known
}

// Objection says why a program must not be started. The zero Objection means that it may.
type Objection struct {
	Reason string // worded to follow the name of the program
	Remedy string // the command with which the user fixes it, "" if there is none
}

// CheckProgramFile returns why a file must not be started, the zero Objection if it may: it is not
// a regular file, another user could have changed it, or it is in a vault or the working folder,
// where an agent or a cloned repository could have put it. path must be absolute and without
// links; file is from Lstat. [CheckProgramPath] checks the folders.
func CheckProgramFile(path string, file fs.FileInfo, at Surroundings) Objection {
	if !file.Mode().IsRegular() {
		return Objection{Reason: "is not a regular file"}
	}
	if objection := checkProgramRights(path, file); objection != (Objection{}) {
		return objection
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
	// A session that starts in the home folder, or in a folder above it, does not work on a project.
	if inside(filepath.Join(home, "x"), info) && !isFolder(filepath.Dir(path), info) {
		return Objection{}
	}
	return Objection{Reason: "is inside the working folder"}
}

// CheckProgram combines [CheckProgramPath] and [CheckProgramFile]. path may have links, which it resolves.
func CheckProgram(path string, at Surroundings) (objection Objection, err error) {
	objection, err = CheckProgramPath(path)
	if err != nil || objection != (Objection{}) {
		return objection, err
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return Objection{}, err
	}
	file, err := os.Lstat(path)
	if err != nil {
		return Objection{}, err
	}
	return CheckProgramFile(path, file, at), nil
}

// CheckProgramPath checks every folder and link on the absolute path of a program: a user who can rename
// an entry on the path, or redirect a link, can put another program in its place. It returns why the path
// is not safe, the zero Objection if it is.
func CheckProgramPath(path string) (objection Objection, err error) {
	errUnsafe := errors.New("a folder is not safe")
	err = WalkPath(path, func(folder, entry string, info fs.FileInfo) (err error) {
		objection, err = checkStep(folder, entry, info)
		if objection != (Objection{}) {
			return errUnsafe
		}
		return err
	})
	if err == errUnsafe {
		err = nil
	}
	return objection, err
}

// inside reports whether folder contains path, at any depth. Folders are compared by identity, so
// that the spelling of a path does not matter.
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
