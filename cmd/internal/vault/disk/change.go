package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/disk/system"
)

// Swap puts text in the place of what is in the file at p, which has to be
// before. It answers ErrChanged if it is not, and has the errors of Read.
func (f *Folder) Swap(p Path, before, text []byte) error {
	if err := f.admit(p); err != nil {
		return err
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return err
	}
	defer dir.Close()
	defer system.Lock(dir)()
	info, err := f.statIn(dir, p.base())
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return &Refusal{Path: p.text, Reason: "is read-only"}
	}
	if err := checkSize(p, text); err != nil {
		return err
	}
	return f.replace(dir, p.base(), before, text, info.Mode().Perm())
}

// Remove removes the file at p for good. It answers ErrChanged unless the file
// holds the bytes before.
func (f *Folder) Remove(p Path, before []byte) error {
	if err := f.admit(p); err != nil {
		return err
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return err
	}
	defer dir.Close()
	defer system.Lock(dir)()
	aside, err := f.setAside(dir, p.base(), before)
	if err != nil {
		return err
	}
	if err := f.sys.Remove(dir, aside); err != nil {
		return errors.Join(err, f.pass(dir, aside, dir, p.base()))
	}
	return f.settle(dir, p.base())
}

// setAside gives a file that is to be removed a temporary name, so that what is
// removed is what was looked at.
func (f *Folder) setAside(dir *os.Root, name string, before []byte) (aside string, err error) {
	file, err := f.openUnchanged(dir, name, before)
	if err != nil {
		return "", err
	}
	defer file.Close()
	aside = temporary()
	return aside, f.take(file, dir, dir, aside)
}

// Move gives the file at from the path to, and makes the folders that are
// missing there. It answers fs.ErrExist if something is at to, unless that is
// the file itself under a name that the system takes for the same, and
// ErrChanged unless the file holds the bytes before.
func (f *Folder) Move(from, to Path, before []byte) error {
	if err := f.admit(from); err != nil {
		return err
	}
	if err := f.mayBecome(from, to); err != nil {
		return err
	}
	if reason := unportable(to.base()); reason != "" {
		return &Refusal{Path: to.base(), Reason: reason}
	}
	source, err := f.enter(from.parents())
	if err != nil {
		return err
	}
	defer source.Close()
	defer system.Lock(source)()
	file, err := f.openUnchanged(source, from.base(), before)
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
	return errors.Join(f.settle(target, to.base()), f.sys.Sync(source))
}

// rename moves a file without ever replacing another one.
func (f *Folder) rename(file *File, source, target *os.Root, to Path) error {
	switch there, err := target.Lstat(to.base()); {
	case err == nil && os.SameFile(file.Info, there) && isRespelled(file.Info.Name(), to.base()):
		return f.respell(file, source, target, to)
	case err == nil:
		return fmt.Errorf("%q: %w", to.text, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err := f.take(file, source, target, to.base())
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%q: %w", to.text, fs.ErrExist)
	}
	return err
}

// isRespelled reports whether the case of letters, or their normal form, is all
// that tells two names apart.
func isRespelled(from, to string) bool {
	return from != to && strings.EqualFold(norm.NFC.String(from), norm.NFC.String(to))
}

// respell changes the spelling of a name, which on some systems the new name
// answers to already. Some file systems report success and keep the name.
func (f *Folder) respell(file *File, source, target *os.Root, to Path) error {
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
	if err := f.sys.Rename(source, file.Info.Name(), source, to.base()); err != nil {
		return err
	}
	folder, err := source.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err == nil && slices.Contains(names, file.Info.Name()) {
		return &Refusal{Path: file.Info.Name(), Reason: fmt.Sprintf("is not renamed: the file system has kept the name and takes %q for the same", to.base())}
	}
	return err
}

// trashFolder is where the app puts what is deleted, if it is not the trash of
// the system. Nothing in it is visible.
const trashFolder = ".trash"

// Trash moves the file at p into the trash of the vault, which is flat, and
// returns its name there: one that is taken gets a number. It answers ErrChanged
// unless the file holds the bytes before. A name beside an error says that the
// file is there nevertheless.
func (f *Folder) Trash(p Path, before []byte) (name string, err error) {
	if err := f.admit(p); err != nil {
		return "", err
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return "", err
	}
	defer dir.Close()
	defer system.Lock(dir)()
	file, err := f.openUnchanged(dir, p.base(), before)
	if err != nil {
		return "", err
	}
	defer file.Close()
	trash, err := f.enterMaking([]string{trashFolder})
	if err != nil {
		return "", err
	}
	defer trash.Close()
	for n := range maxTrashed {
		name = numbered(p.base(), n)
		err = f.take(file, dir, trash, name)
		switch {
		case err == nil:
			return name, errors.Join(f.settle(trash, name), f.sys.Sync(dir))
		case !errors.Is(err, fs.ErrExist):
			return "", err
		}
	}
	return "", err
}

// maxTrashed is how many files of one name the trash takes.
const maxTrashed = 10_000

// numbered returns name with a number in front of its extension; 0 is none.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	ext := path.Ext(name)
	return fmt.Sprintf("%s %d%s", strings.TrimSuffix(name, ext), n, ext)
}

// Untrash moves a file out of the trash of the vault to p, where nothing may be,
// and makes the folders that are missing there. So it has its times and its mode
// again. It answers ErrChanged unless the file holds the bytes content.
func (f *Folder) Untrash(name string, p Path, content []byte) error {
	if err := f.admitNew(p); err != nil {
		return err
	}
	if strings.ContainsAny(name, `/\`) || flaw(name) != "" {
		return &Refusal{Path: name, Reason: "is not the name of a file"}
	}
	trash, err := f.enter([]string{trashFolder})
	if err != nil {
		return err
	}
	defer trash.Close()
	file, err := f.openUnchanged(trash, name, content)
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
	if err := f.take(file, trash, dir, p.base()); err != nil {
		return err
	}
	return errors.Join(f.settle(dir, p.base()), f.sys.Sync(trash))
}
