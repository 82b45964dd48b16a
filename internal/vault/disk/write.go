package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// ErrChanged says that the note was changed between reading and writing it. Nothing was
// written.
var ErrChanged = errors.New("changed while it was edited, nothing was written")

// Modes of new files, before the user's umask.
const (
	newNote = 0o644
	private = 0o600 // until the old note's mode is set
)

// Swap replaces the content of the file at p, which has to be before, by text. The error
// is ErrChanged if it is not, otherwise one of those of Read.
func (f *Folder) Swap(p Path, before, text []byte) error {
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return err
	}
	defer leave()
	info, err := f.in(dir).info(p.base())
	if err != nil {
		return err
	}
	if err := mayReplace(p, info); err != nil {
		return err
	}
	if err := checkSize(p, text); err != nil {
		return err
	}
	return f.replace(dir, p, before, text, info.Mode().Perm())
}

// mayReplace refuses a read-only file.
func mayReplace(p Path, info fs.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 {
		return &Refusal{Path: p.text, Reason: "is read-only"}
	}
	return nil
}

// Make writes a new note with its folders. If anything of that name exists, the error is
// fs.ErrExist and nothing is changed. A name that not every system and link can carry is a
// [Refusal], and so is one that iCloud has evicted from the disk.
func (f *Folder) Make(p Path, text []byte) error {
	if err := f.admitNew(p); err != nil {
		return err
	}
	if reason := unportable(p.base()); reason != "" {
		return &Refusal{Path: p.base(), Reason: reason}
	}
	if err := checkSize(p, text); err != nil {
		return err
	}
	dir, err := f.enterMaking(p.parents())
	if err != nil {
		return err
	}
	defer dir.Close()
	defer system.Lock(dir)()

	if _, err := dir.Lstat(p.base()); err == nil {
		if f.judge.refuse(f.in(dir), p) != nil {
			return closed(p)
		}
		return fmt.Errorf("%q: %w", p.text, fs.ErrExist)
	}
	if _, err := dir.Lstat(system.CloudStub(p.base())); err == nil {
		return &Refusal{Path: p.text, Reason: system.ErrElsewhere.Error()}
	}
	temp, err := f.stage(dir, text, newNote, false)
	if err != nil {
		return err
	}
	if err := f.pass(dir, temp, dir, p.base()); err != nil {
		return errors.Join(err, ignoreMissing(f.sys.Remove(dir, temp)))
	}
	return f.settle(dir, p.Folder(), p.base())
}

func checkSize(p Path, text []byte) error {
	if len(text) > MaxNote {
		return &SizeError{Path: p.text, Size: int64(len(text)), Limit: MaxNote}
	}
	return nil
}

// replace puts text in place of the note at p, whose bytes were before.
func (f *Folder) replace(dir *os.Root, p Path, before, text []byte, perm fs.FileMode) error {
	temp, err := "", error(nil)
	if f.series != nil {
		if ready := f.series.ready[p]; ready.perm == perm && bytes.Equal(ready.text, text) {
			temp = ready.temp
			delete(f.series.ready, p)
		}
	}
	if temp == "" {
		temp, err = f.stage(dir, text, perm, true)
	}
	if err != nil {
		return err
	}
	name := p.base()
	// The look at the old bytes comes last, so that the window in which an edit could be
	// lost is one system call.
	if err = f.unchanged(dir, name, Text(before)); err == nil {
		err = f.sys.Rename(dir, temp, dir, name)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(f.sys.Remove(dir, temp)))
	}
	return f.settle(dir, p.Folder(), name)
}

// Unsettled says that a file was written and may yet be lost if the system crashes.
type Unsettled struct {
	Name  string
	Cause error
}

func (u *Unsettled) Error() string {
	return fmt.Sprintf("%q was written, but its folder could not be synced: %v", u.Name, u.Cause)
}

func (u *Unsettled) Unwrap() error { return u.Cause }

// settle makes the name of a written note in a folder durable, in a series at its end.
func (f *Folder) settle(dir *os.Root, folder, name string) error {
	if err := f.sync(dir, folder); err != nil {
		return &Unsettled{name, err}
	}
	return nil
}

// sync makes the names in a folder durable, in a series at its end.
func (f *Folder) sync(dir *os.Root, folder string) error {
	if f.series == nil {
		return f.sys.Sync(dir)
	}
	f.series.folders[folder] = true
	return nil
}

// stage writes text to a hidden temporary file in dir and syncs it. On an error nothing is
// left. With exact the mode is set as it is, without the user's umask.
func (f *Folder) stage(dir *os.Root, text []byte, perm fs.FileMode, exact bool) (name string, err error) {
	name = temporary()
	made := perm
	if exact {
		made = private
	}
	file, err := f.sys.Create(dir, name, made)
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	if err == nil && exact {
		err = file.Chmod(perm)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, ignoreMissing(f.sys.Remove(dir, name)))
	}
	return name, nil
}

// Content is what a file has to contain. The zero Content is that of no file.
type Content struct {
	text []byte
	sum  string // the SHA-256 in hexadecimal, in place of the text
	size int64
}

// Text is the content with these bytes.
func Text(text []byte) Content { return Content{text: text, size: int64(len(text))} }

// Sum is the content of so many bytes with this SHA-256, in hexadecimal.
func Sum(sum string, size int64) Content { return Content{sum: sum, size: size} }

// unchanged returns ErrChanged unless the file name still has the content.
func (f *Folder) unchanged(dir *os.Root, name string, then Content) error {
	file, err := f.openUnchanged(dir, name, then)
	if err != nil {
		return err
	}
	return file.Close()
}

// openUnchanged opens the file name; the error is ErrChanged unless it still has the
// content. The caller closes it: as long as it is open, its inode is not reused, so no other
// file can be taken for it.
func (f *Folder) openUnchanged(dir *os.Root, name string, then Content) (*File, error) {
	file, err := f.in(dir).open(name)
	if IsMissing(err) && !IsHardLinked(err) {
		return nil, ErrChanged
	}
	if err != nil {
		return nil, err
	}
	if err := file.compare(then); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// compare returns ErrChanged unless the file has the content.
func (f *File) compare(then Content) error {
	if f.Info.Size() != then.size {
		return ErrChanged
	}
	if then.sum != "" {
		hash := sha256.New()
		if _, err := io.Copy(hash, f); err != nil {
			return err
		}
		if hex.EncodeToString(hash.Sum(nil)) != then.sum {
			return ErrChanged
		}
		return nil
	}
	text := then.text
	chunk := make([]byte, 64<<10)
	for {
		n, err := f.Read(chunk)
		if n > len(text) || !bytes.Equal(chunk[:n], text[:n]) {
			return ErrChanged
		}
		text = text[n:]
		if err == io.EOF && len(text) == 0 {
			return nil
		}
		if err == io.EOF {
			return ErrChanged
		}
		if err != nil {
			return err
		}
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

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
			below, written := path.child(found.name)
			switch {
			case path == (Path{}) && (found.name == trashFolder || found.name == configFolder):
				below = Path{text: found.name}
			case !written, path.text == trashFolder, path.text == configFolder:
				continue // nothing is ever written there, or deeper
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
