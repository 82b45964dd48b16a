package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// The names of temporary files: 16 hexadecimal digits between these.
const (
	tempBegin  = ".vaultwicket-"
	tempDigits = 16
	tempEnd    = ".tmp"
)

// temporary returns a hidden name that no note has.
func temporary() string {
	return fmt.Sprintf("%s%0*x%s", tempBegin, tempDigits, rand.Uint64(), tempEnd)
}

func isTemporary(name string) bool {
	rest, begins := strings.CutPrefix(name, tempBegin)
	digits, ends := strings.CutSuffix(rest, tempEnd)
	return begins && ends && len(digits) == tempDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// Sweep removes the temporary files that were last changed before a moment: those of a
// writer that was killed. It looks wherever this program writes, also where the view hides it,
// enters no link, and removes only regular files of that name. It returns how many
// temporary files are left, which are younger or could not be removed, and an error if it
// could not look everywhere.
func (f *Folder) Sweep(before time.Time) (left int, err error) {
	dir, err := f.enter(nil)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	err = f.sweep(dir, Path{}, before, &left)
	return left, err
}

func (f *Folder) sweep(dir *os.Root, path Path, before time.Time, left *int) error {
	in := rooted{dir: dir}
	names, err := in.list()
	failed := []error{err}
	for _, found := range names {
		switch {
		case isTemporary(found.name):
			stamp, err := in.stamp(found.name)
			if err != nil {
				continue // it is gone, or no regular file
			}
			young := !time.Unix(0, max(stamp.Modified, stamp.Changed)).Before(before)
			if young || ignoreMissing(f.sys.Remove(dir, found.name)) != nil {
				*left++
			}
		case found.folder:
			below, written := writtenIn(path, found.name)
			if !written {
				continue
			}
			sub, err := step(dir, found.name)
			if err == nil {
				err = f.sweep(sub, below, before, left)
				sub.Close()
			}
			// A folder that vanished or cannot be entered counts as empty.
			if !IsMissing(err) && !errors.Is(err, fs.ErrPermission) {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// writtenIn returns the path of the folder name in path, and false if nothing is ever
// written there.
func writtenIn(path Path, name string) (Path, bool) {
	if path == (Path{}) && (name == trashFolder || name == configFolder) {
		return Path{text: name}, true
	}
	if path.text == trashFolder || path.text == configFolder {
		return Path{}, false // nothing is written deeper
	}
	return path.child(name)
}
