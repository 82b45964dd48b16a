package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// The names of temporary files: 16 hexadecimal digits between these.
const (
	tempBegin  = ".vaultwicket-"
	tempDigits = 16
	tempEnd    = ".tmp"
)

// temporary returns a name that no note has and nobody sees.
func temporary() string {
	return fmt.Sprintf("%s%0*x%s", tempBegin, tempDigits, rand.Uint64(), tempEnd)
}

func isTemporary(name string) bool {
	rest, begins := strings.CutPrefix(name, tempBegin)
	digits, ends := strings.CutSuffix(rest, tempEnd)
	return begins && ends && len(digits) == tempDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// Sweep removes the temporary files that were last changed before a moment: those
// of a writer that was killed. It looks wherever this program writes, whatever the
// view hides, enters no link, and removes regular files of that name alone. It
// returns how many temporary files are left, which are younger or could not be
// removed, and an error if it could not look everywhere.
func (f *Folder) Sweep(before time.Time) (left int, err error) {
	dir, err := f.enter(nil)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	s := sweep{folder: f, before: before}
	err = s.in(dir, Path{})
	return s.left, err
}

type sweep struct {
	folder *Folder
	before time.Time
	left   int
}

func (s *sweep) in(dir *os.Root, path Path) error {
	names, err := namesIn(dir)
	var failed []error
	for _, name := range names {
		switch {
		case isTemporary(name.Name()):
			s.remove(dir, name.Name())
		case name.IsDir():
			if below, written := writtenIn(path, name.Name()); written {
				failed = append(failed, s.step(dir, below))
			}
		}
	}
	return errors.Join(append(failed, err)...)
}

// namesIn lists an open folder.
func namesIn(dir *os.Root) ([]fs.DirEntry, error) {
	handle, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	return handle.ReadDir(-1)
}

// writtenIn returns the path of the folder name in path, and false if nothing is
// ever written there.
func writtenIn(path Path, name string) (Path, bool) {
	if path == (Path{}) && (name == trashFolder || name == configFolder) {
		return Path{text: name}, true
	}
	if path.text == trashFolder || path.text == configFolder {
		return Path{}, false // nothing is written deeper
	}
	return path.child(name)
}

// step goes on in a folder. One that vanished or may not be entered counts as
// empty.
func (s *sweep) step(dir *os.Root, path Path) error {
	sub, err := step(dir, path.base())
	if err == nil {
		defer sub.Close()
		err = s.in(sub, path)
	}
	if IsMissing(err) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

func (s *sweep) remove(dir *os.Root, name string) {
	info, err := statIn(dir, name)
	if err != nil {
		return // it is gone, or no file of ours
	}
	stamp := system.StampOf(info)
	young := !time.Unix(0, max(stamp.Modified, stamp.Changed)).Before(s.before)
	if young || ignoreMissing(s.folder.sys.Remove(dir, name)) != nil {
		s.left++
	}
}
