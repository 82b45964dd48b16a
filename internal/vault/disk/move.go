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

// Move gives the file at from the path to, and makes the folders that are missing there.
// The error is fs.ErrExist if something is at to, unless that is the file itself under a
// name that the system takes for the same, and ErrChanged unless the file has the content
// before.
func (f *Folder) Move(from, to Path, before Content) error {
	if err := f.admit(from); err != nil {
		return err
	}
	if f.IsClosed(from) {
		return ErrChanged // as if it were gone
	}
	// An invisible path is refused, and one that differs from the name on the disk, unless it is another
	// spelling of the own name of the file.
	switch renamed, err := f.renamed(from, to); {
	case errors.Is(err, fs.ErrNotExist),
		err == nil && renamed != to,
		err == nil && !f.seesFile(to),
		err == nil && from != to && f.IsClosed(to):
		return closed(to)
	case err != nil:
		return err
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
	file, err := f.in(source).openUnchanged(from.Base(), before)
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
	return errors.Join(f.settle(target, to.Folder(), to.Base()), f.sync(source, from.Folder()))
}

// rename moves a file without replacing another one.
func (f *Folder) rename(file *File, source, target *os.Root, to Path) error {
	switch there, err := target.Lstat(to.Base()); {
	case err == nil && os.SameFile(file.Info, there) && file.Info.Name() != to.Base() && strings.EqualFold(norm.NFC.String(file.Info.Name()), norm.NFC.String(to.Base())):
		// Another spelling of the same name. Some file systems report success and keep the old one.
		one, err := source.Stat(".")
		if err != nil {
			return err
		}
		other, err := target.Stat(".")
		if err != nil {
			return err
		}
		links, err := file.links()
		if err != nil {
			return err
		}
		if links > 1 || !os.SameFile(one, other) {
			return fmt.Errorf("%q: %w", to.text, fs.ErrExist) // a second name of the file, perhaps in another folder
		}
		look := func() error { return nil } // it is the file itself that is replaced
		if err := f.sys.Rename(source, file.Info.Name(), source, to.Base(), look); err != nil {
			return err
		}
		folder, err := source.Open(".")
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
	case err == nil:
		return fmt.Errorf("%q: %w", to.text, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err := f.take(file, source, target, to.Base())
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%q: %w", to.text, fs.ErrExist)
	}
	return err
}

// trashFolder is where the app moves deleted files, if it does not use the trash of the
// system. Nothing in it is visible.
const trashFolder = ".trash"

// FreeTrashName returns a name in the trash of the vault for the file at p: its own, or one with a number from the
// given one on, if that is taken. next is the number for another file of the same name.
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

// Trash moves the file at p into the trash of the vault, which is flat, and gives it a name there. The error is
// ErrChanged unless the file has the content before, and fs.ErrExist if the name is taken.
func (f *Folder) Trash(p Path, name string, before Content) error {
	if f.IsClosed(p) {
		return ErrChanged // as if it were gone
	}
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return err
	}
	defer leave()
	file, err := f.in(dir).openUnchanged(p.Base(), before)
	if err != nil {
		return err
	}
	defer file.Close()
	trash, err := f.enterMaking([]string{trashFolder})
	if err != nil {
		return err
	}
	defer trash.Close()
	if err := f.take(file, dir, trash, name); err != nil {
		return err
	}
	return errors.Join(f.settle(trash, trashFolder, name), f.sync(dir, p.Folder()))
}

// maxTrashed is how many files of one name the trash takes.
const maxTrashed = 10_000

// numbered returns name with a number before its extension; 0 is none.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	ext := path.Ext(name)
	return fmt.Sprintf("%s %d%s", strings.TrimSuffix(name, ext), n, ext)
}

// HoldsTrashed reports whether the file of that name in the trash of the vault has the content. The error says that it
// cannot be read.
func (f *Folder) HoldsTrashed(name string, content Content) (bool, error) {
	if !isTrashName(name) {
		return false, nil
	}
	trash, err := f.enter([]string{trashFolder})
	if err != nil {
		return false, ignoreMissing(err)
	}
	defer trash.Close()
	return isUnchanged(f.in(trash), name, content)
}

func isTrashName(name string) bool { return !strings.ContainsAny(name, `/\`) && flaw(name) == "" }

// Untrash moves a file, with its times and its mode, out of the trash of the vault to p,
// which must be free, and makes the folders that are missing there. The error is ErrChanged
// unless it has the content.
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
	file, err := f.in(trash).openUnchanged(name, content)
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
	if err := f.take(file, trash, dir, p.Base()); err != nil {
		return err
	}
	return errors.Join(f.settle(dir, p.Folder(), p.Base()), f.sync(trash, trashFolder))
}

// take gives the file of source that was opened as seen the name to in target, which must
// be free. If another file had its name by then, or it was written since, the move is
// undone: that is ErrChanged.
func (f *Folder) take(seen *File, source *os.Root, target *os.Root, to string) error {
	from := seen.Info.Name()
	if err := f.pass(source, from, target, to); err != nil {
		return err
	}
	moved, err := target.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another program moved it on
	}
	if err != nil {
		return errors.Join(err, f.pass(target, to, source, from))
	}
	was := seen.Info
	if os.SameFile(was, moved) && was.Size() == moved.Size() && was.ModTime().Equal(moved.ModTime()) {
		return nil
	}
	for n := range maxTrashed {
		name := numbered(from, n)
		switch err := f.pass(target, to, source, name); {
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

// pass gives the file from in source the name to in target, and never replaces another
// file. Where that takes several calls, a crash between them leaves the file with both
// names, or with an empty file of the new name.
func (f *Folder) pass(source *os.Root, from string, target *os.Root, to string) error {
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
	// The file system has no hard links either. An empty file, whose creation fails if the
	// name is taken, reserves the name and is replaced.
	placeholder, err := f.sys.Create(target, to, newNote)
	if err != nil {
		return err
	}
	isPlaceholder := func() error { return rooted{dir: target}.unchanged(to, Text(nil)) }
	if err = placeholder.Close(); err == nil {
		err = f.sys.Rename(source, from, target, to, isPlaceholder)
	}
	if err == nil || isPlaceholder() != nil {
		return err // by now another program's note is there
	}
	return errors.Join(err, ignoreMissing(f.sys.Remove(target, to)))
}
