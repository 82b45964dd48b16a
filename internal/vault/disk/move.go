package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Move moves the file at from to the path to, and creates missing folders there. The error is fs.ErrExist if to
// exists, unless it is the same file under a name that the system treats as equal, and ErrChanged unless the
// file has the content before.
func (f *Folder) Move(from, to Path, before Content) error {
	if err := f.admit(from); err != nil {
		return err
	}
	if f.IsClosed(from) {
		return ErrChanged // as if it did not exist
	}
	// Refuse an invisible path, and one that differs from the name on the disk unless it is another spelling of
	// the file's own name.
	renamed, err := f.renamed(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return closed(to)
	}
	if err != nil {
		return err
	}
	if renamed != to || !f.seesFile(to) {
		return closed(to)
	}
	if from != to && f.IsClosed(to) {
		return closed(to)
	}
	if reason := unportable(to.Base()); reason != "" {
		return &Refusal{Path: to.Base(), Reason: reason}
	}
	source, err := f.enter(from.parents())
	if err != nil {
		return err
	}
	defer source.Close()
	defer system.Lock(source)()
	file, err := f.rooted(source).openUnchanged(from.Base(), before)
	if err != nil {
		return err
	}
	defer file.Close()
	target, err := f.enterMaking(to.parents())
	if err != nil {
		return err
	}
	defer target.Close()
	if err := f.rename(file, source, target, to); err != nil {
		return err
	}
	return errors.Join(f.syncName(target, to.Folder(), to.Base()), f.sync(source, from.Folder()))
}

// rename moves a file without replacing another one.
func (f *Folder) rename(file *File, source, target *os.Root, to Path) error {
	existing, err := target.Lstat(to.Base())
	switch {
	case err == nil && isRespelling(file.Info, existing, to.Base()):
		return f.respell(file, source, target, to)
	case err == nil:
		return fmt.Errorf("%q: %w", to.text, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err = f.moveVerified(file, source, target, to.Base())
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%q: %w", to.text, fs.ErrExist)
	}
	return err
}

// isRespelling reports whether an existing file with a name is the file itself, under another spelling of its
// own name.
func isRespelling(file, existing fs.FileInfo, name string) bool {
	isSameName := strings.EqualFold(norm.NFC.String(file.Name()), norm.NFC.String(name))
	return isSameName && file.Name() != name && os.SameFile(file, existing)
}

// respell gives a file another spelling of its own name. Some file systems report success but keep the old one.
func (f *Folder) respell(file *File, source, target *os.Root, to Path) error {
	sourceInfo, err := source.Stat(".")
	if err != nil {
		return err
	}
	targetInfo, err := target.Stat(".")
	if err != nil {
		return err
	}
	links, err := file.links()
	if err != nil {
		return err
	}
	if links > 1 || !os.SameFile(sourceInfo, targetInfo) {
		return fmt.Errorf("%q: %w", to.text, fs.ErrExist) // another name of the file, perhaps in another folder
	}
	noCheck := func() error { return nil } // the file only replaces itself
	if err := f.sys.Rename(source, file.Info.Name(), source, to.Base(), noCheck); err != nil {
		return err
	}
	folder, err := system.OpenFolder(source)
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err == nil && slices.Contains(names, file.Info.Name()) {
		return &Refusal{
			Path: file.Info.Name(),
			Reason: fmt.Sprintf(
				"is not renamed: the file system has kept the name and takes %q for the same",
				to.Base(),
			),
		}
	}
	return err
}

// trashFolder is the folder to which the app moves deleted files if it does not use the system's trash. Its
// contents are invisible.
const trashFolder = ".trash"

// FreeTrashName returns a free name for the file at p in the trash of the vault: its own name, with a number if
// from is not 0 or the name is taken. next is the number to try first for another file of the same name.
func (f *Folder) FreeTrashName(p Path, from int) (name string, next int, err error) {
	trash, err := f.enter([]string{trashFolder})
	if errors.Is(err, fs.ErrNotExist) {
		return numbered(p.Base(), from), from + 1, nil
	}
	if err != nil {
		return "", 0, err
	}
	defer trash.Close()
	for n := from; n < maxTrashed; n++ {
		name = numbered(p.Base(), n)
		if _, err := trash.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, n + 1, nil
		}
	}
	return "", 0, fmt.Errorf("%q: %w", p.text, fs.ErrExist)
}

// Trash moves the file at p to the trash of the vault, which has no subfolders, under the given name. The error
// is ErrChanged unless the file has the content before, and fs.ErrExist if the name is taken.
func (f *Folder) Trash(p Path, name string, before Content) error {
	if f.IsClosed(p) {
		return ErrChanged // as if it did not exist
	}
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return err
	}
	defer leave()
	file, err := f.rooted(dir).openUnchanged(p.Base(), before)
	if err != nil {
		return err
	}
	defer file.Close()
	trash, err := f.enterMaking([]string{trashFolder})
	if err != nil {
		return err
	}
	defer trash.Close()
	if err := f.moveVerified(file, dir, trash, name); err != nil {
		return err
	}
	return errors.Join(f.syncName(trash, trashFolder, name), f.sync(dir, p.Folder()))
}

// maxTrashed limits the files with the same name in the trash.
const maxTrashed = 10_000

// numbered returns name with a number before its extension, or unchanged for 0.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	ext := path.Ext(name)
	return fmt.Sprintf("%s %d%s", strings.TrimSuffix(name, ext), n, ext)
}

// HoldsTrashed reports whether the trash of the vault has a file with the name and the content. It returns an
// error if that cannot be read.
func (f *Folder) HoldsTrashed(name string, content Content) (bool, error) {
	if !isTrashName(name) {
		return false, nil
	}
	trash, err := f.enter([]string{trashFolder})
	if err != nil {
		return false, ignoreMissing(err)
	}
	defer trash.Close()
	return isUnchanged(f.rooted(trash), name, content)
}

func isTrashName(name string) bool { return !strings.ContainsAny(name, `/\`) && flaw(name) == "" }

// Untrash moves a file, with its times and mode, from the trash of the vault to p, which must be free, and
// creates missing folders there. The error is ErrChanged unless the file has the content.
func (f *Folder) Untrash(name string, p Path, content Content) error {
	if err := f.admitNew(p); err != nil || f.IsClosed(p) {
		return cmp.Or(err, closed(p))
	}
	if !isTrashName(name) {
		return &Refusal{Path: name, Reason: "is not the name of a file"}
	}
	trash, err := f.enter([]string{trashFolder})
	if err != nil {
		return err
	}
	defer trash.Close()
	file, err := f.rooted(trash).openUnchanged(name, content)
	if err != nil {
		return err
	}
	defer file.Close()
	dir, err := f.enterMaking(p.parents())
	if err != nil {
		return err
	}
	defer dir.Close()
	defer system.Lock(dir)()
	if err := f.moveVerified(file, trash, dir, p.Base()); err != nil {
		return err
	}
	return errors.Join(f.syncName(dir, p.Folder(), p.Base()), f.sync(trash, trashFolder))
}

// moveVerified moves the opened file seen from source to the name to in target, which must be free. If its name
// belonged to another file by then, or the file was written since, the move is undone, and the error is
// ErrChanged.
func (f *Folder) moveVerified(seen *File, source *os.Root, target *os.Root, to string) error {
	from := seen.Info.Name()
	if err := f.moveExclusive(source, from, target, to); err != nil {
		return err
	}
	moved, err := target.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another program moved it away
	}
	if err != nil {
		return errors.Join(err, f.moveExclusive(target, to, source, from))
	}
	before := seen.Info
	if os.SameFile(before, moved) && before.Size() == moved.Size() && before.ModTime().Equal(moved.ModTime()) {
		return nil
	}
	for n := range maxTrashed {
		name := numbered(from, n)
		switch err := f.moveExclusive(target, to, source, name); {
		case err == nil && n == 0:
			return ErrChanged
		case err == nil:
			return fmt.Errorf(
				"%q was exchanged for another file, which is called %q from now on: %w",
				from,
				name,
				ErrChanged,
			)
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%q was exchanged for another file, which is called %q from now on: %w", from, to, err)
		}
	}
	return ErrChanged
}

// moveExclusive moves the file from in source to the name to in target, and never replaces another file. If
// that takes several calls, a crash between them may leave the file with both names, or an empty file with the
// new name.
func (f *Folder) moveExclusive(source *os.Root, from string, target *os.Root, to string) error {
	err := f.sys.Move(source, from, target, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	err = f.sys.Link(source, from, target, to)
	switch {
	case err == nil:
		if err = f.sys.Remove(source, from); err != nil {
			return errors.Join(err, f.sys.Remove(target, to))
		}
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// The file system has no hard links either. An empty file, whose creation fails if the name is taken,
	// reserves the name and is then replaced.
	placeholder, err := f.sys.Create(target, to, newNote)
	if err != nil {
		return err
	}
	isPlaceholder := func() error { return rooted{dir: target}.unchanged(to, Text(nil)) }
	if err = placeholder.Close(); err == nil {
		err = f.sys.Rename(source, from, target, to, isPlaceholder)
	}
	if err == nil || isPlaceholder() != nil {
		return err // the name now belongs to another program's note
	}
	return errors.Join(err, ignoreMissing(f.sys.Remove(target, to)))
}
