package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Draft is a hidden temporary file of a transaction. Before the commit it holds the new text of a
// note; after it the old text, or a file that is removed. The zero Draft is none.
type Draft struct {
	folder Path
	name   string
}

// String returns the path of the draft in the vault, "" for none.
func (d Draft) String() string {
	if d.folder == (Path{}) {
		return d.name
	}
	return d.folder.text + "/" + d.name
}

// Folder returns the folder of the draft.
func (d Draft) Folder() Path { return d.folder }

// ParseDraft returns the draft at a path that [Draft.String] made. Every other text is an error, so
// that nothing but a temporary file of this program is ever taken for one.
func ParseDraft(text string) (Draft, error) {
	cut := strings.LastIndexByte(text, '/')
	name := text[cut+1:]
	if !isTemporary(name) {
		return Draft{}, fmt.Errorf("%q is not the name of a temporary file", text)
	}
	folder := text[:max(0, cut)]
	if folder == configFolder || folder == trashFolder {
		return Draft{folder: Path{text: folder}, name: name}, nil
	}
	at, err := ParseFolder(folder)
	return Draft{folder: at, name: name}, err
}

// NewDraft returns a new name for a draft of the file at p: next to it, or in the nearest folder
// above it that exists. It makes no file.
func (f *Folder) NewDraft(p Path) Draft { return NewDraftIn(f.NearestFolder(p)) }

// NewDraftIn returns a new name for a draft in a folder. It makes no file.
func NewDraftIn(folder Path) Draft { return Draft{folder: folder, name: temporary()} }

// NearestFolder returns the folder of the file at p, or the nearest one above it that exists; the zero Path is the vault
// itself.
func (f *Folder) NearestFolder(p Path) Path {
	folder := Path{p.Folder()}
	for folder != (Path{}) {
		dir, err := f.enter(folder.segments())
		if err == nil {
			dir.Close()
			break
		}
		folder = Path{folder.Folder()}
	}
	return folder
}

// MissingFolders returns the folders above p that do not exist, the highest first.
func (f *Folder) MissingFolders(p Path) (missing []Path) {
	if f.over != nil {
		for at := (Path{p.Folder()}); at != (Path{}); at = (Path{at.Folder()}) {
			if _, err := f.FolderInfo(at); !IsMissing(err) {
				break
			}
			missing = slices.Insert(missing, 0, at)
		}
		return missing
	}
	dir, err := f.enter(nil)
	if err != nil {
		return nil
	}
	defer func() { dir.Close() }()
	at := Path{}
	for _, segment := range p.parents() {
		at, _ = at.child(segment)
		if missing == nil {
			next, err := step(dir, segment)
			if err == nil {
				dir.Close()
				dir = next
				continue
			}
		}
		missing = append(missing, at)
	}
	return missing
}

// Whole returns the same open folder as its owner sees it: without a view, marks in place of secrets, and
// notes that are closed by their texts. It is for what completes or takes back a change, to which the rights of the
// caller do not matter.
func (f *Folder) Whole() *Folder {
	g := *f
	g.view = nil
	g.redact = nil
	g.judge = nil
	return &g
}

// Gathering returns the same open folder for changes that are made durable together: the names in a
// folder that was changed are so when sync returns nil. Its error is an *[Unsettled]. The caller ends it with
// [Folder.CloseGathered].
func (f *Folder) Gathering() (g *Folder, sync func() error) {
	one := *f
	one.gathered = &gathered{folders: map[string]bool{}, locks: map[string]*sharedLock{}}
	if system.CanKeepOpen {
		one.gathered.kept = &keptFolders{open: map[string]*keptFolder{}}
	}
	return &one, func() error { return f.syncAll(one.gathered) }
}

// CloseGathered closes what changes that are made durable together keep open. They may still go on.
func (f *Folder) CloseGathered() {
	if f.gathered != nil && f.gathered.kept != nil {
		f.gathered.kept.close()
	}
}

// HasExchanged reports whether a change of those that are made durable together has had two files exchanged: then the disk
// tells of each change by itself, by what is in its draft, whether it is made.
func (f *Folder) HasExchanged() bool { return f.gathered != nil && f.gathered.exchanged.Load() }

// Staging is a text that is to be written into a draft.
type Staging struct {
	Draft Draft
	Text  func() ([]byte, error)
	// Like is the file of which the draft gets the mode and the extended attributes; the zero Path is none.
	Like Path
	// Mode are the permission bits of a draft that is like no file, 0 for those of a new note.
	Mode fs.FileMode
	// IsHasty leaves it to [Folder.SyncFile] to make the content durable.
	IsHasty bool
}

// Stage writes a text into a draft and makes its content durable. On an error nothing is left.
func (f *Folder) Stage(s Staging) error {
	text, err := s.Text()
	if err == nil {
		err = checkSize(s.Like, text)
	}
	if err != nil {
		return err
	}
	dir, err := f.enter(s.Draft.folder.segments())
	if err != nil {
		return err
	}
	defer dir.Close()
	if s.Like == (Path{}) {
		return f.stage(dir, s, text, cmp.Or(s.Mode, newNote), nil)
	}
	from, err := f.parent(s.Like)
	if err != nil {
		return err
	}
	defer from.Close()
	old, err := f.in(from).open(s.Like.Base())
	if err != nil {
		return err
	}
	defer old.Close()
	if err := mayReplace(s.Like, old.Info); err != nil {
		return err
	}
	return f.stage(dir, s, text, old.Info.Mode().Perm(), old.onDisk())
}

// stage writes text to a new temporary file in dir. With like the file gets exactly the mode and the attributes of
// that file, else the mode within the user's umask.
func (f *Folder) stage(dir *os.Root, s Staging, text []byte, perm fs.FileMode, like *os.File) error {
	made := perm
	if like != nil {
		made = private
	}
	file, err := f.sys.Create(dir, s.Draft.name, made)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil && like != nil {
		if written, ok := file.(*os.File); ok {
			system.CopyAttributes(like, written)
		}
	}
	if err == nil && (like != nil || s.Mode != 0) {
		err = file.Chmod(perm)
	}
	if err == nil && !(s.IsHasty && system.CanSyncLater) {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return errors.Join(err, ignoreMissing(f.sys.Remove(dir, s.Draft.name)))
	}
	return nil
}

// SyncFile makes the content of the file at p durable, which was staged hastily.
func (f *Folder) SyncFile(p Path) error {
	if !system.CanSyncLater {
		return nil
	}
	dir, err := f.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close()
	file, err := f.in(dir).open(p.Base())
	if err != nil {
		return err
	}
	defer file.Close()
	return f.sys.SyncFile(file.onDisk())
}

// ReadDraft returns the text of a draft; the error is fs.ErrNotExist if there is none.
func (f *Folder) ReadDraft(d Draft) ([]byte, error) {
	dir, err := f.enter(d.folder.segments())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return rooted{dir: dir}.readAll(d.name, MaxNote)
}

// DraftInfo returns what is known about the file of a draft; the error is fs.ErrNotExist if there is none.
func (f *Folder) DraftInfo(d Draft) (fs.FileInfo, error) {
	dir, err := f.enter(d.folder.segments())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Lstat(d.name)
}

// Holds reports whether there is a draft with this content. The error says that it cannot be read.
func (f *Folder) Holds(d Draft, content Content) (bool, error) {
	dir, err := f.enter(d.folder.segments())
	if err != nil {
		return false, ignoreMissing(err)
	}
	defer dir.Close()
	return isUnchanged(rooted{dir: dir}, d.name, content)
}

// isUnchanged reports whether the file name still has the content. The error says that it cannot be read.
func isUnchanged(in rooted, name string, content Content) (bool, error) {
	err := in.unchanged(name, content)
	if errors.Is(err, ErrChanged) || IsHardLinked(err) {
		return false, nil
	}
	return err == nil, err
}

// Discard removes a draft. One that is not there is no error.
func (f *Folder) Discard(d Draft) error {
	dir, err := f.enter(d.folder.segments())
	if err != nil {
		return ignoreMissing(err)
	}
	defer dir.Close()
	return ignoreMissing(f.sys.Remove(dir, d.name))
}

// Unchanged returns ErrChanged unless the file at p has the content.
func (f *Folder) Unchanged(p Path, content Content) error {
	if f.IsClosed(p) {
		return ErrChanged // as if it were gone
	}
	dir, err := f.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.in(dir).unchanged(p.Base(), content)
}

// Replace gives the file at p, which has to have the content before, the text of a draft. Where the system
// can exchange two files, the draft holds the old file afterwards, which is then compared: with another content
// than before the exchange is taken back. Elsewhere the file is compared right before it is replaced, and the
// draft is gone. The error is ErrChanged if the file has another content, otherwise one of those of Read.
func (f *Folder) Replace(p Path, before Content, d Draft, after Content) error {
	if f.IsClosed(p) {
		return ErrChanged // as if it were gone
	}
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return err
	}
	defer leave()
	info, err := f.in(dir).info(p.Base())
	if IsMissing(err) && !IsHardLinked(err) {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	if err := mayReplace(p, info); err != nil {
		return err
	}
	drafts := dir
	if d.folder.text != p.Folder() {
		if drafts, err = f.enter(d.folder.segments()); err != nil {
			return err
		}
		defer drafts.Close()
	}
	// For the moment between an exchange and its taking back others see a text that is not to stay. So the file is compared
	// before it, too.
	look := func() error { return f.in(dir).unchanged(p.Base(), before) }
	if err := look(); err != nil {
		return err
	}
	err = f.sys.Exchange(drafts, d.name, dir, p.Base())
	if errors.Is(err, errors.ErrUnsupported) {
		if err := f.sys.Rename(drafts, d.name, dir, p.Base(), look); err != nil {
			return err
		}
		return f.settle(dir, p.Folder(), p.Base())
	}
	if err != nil {
		return err
	}
	if f.gathered != nil {
		f.gathered.exchanged.Store(true)
	}
	if changed := f.in(drafts).unchanged(d.name, before); changed != nil {
		return errors.Join(changed, f.exchangeBack(dir, p, drafts, d, after))
	}
	return f.settle(dir, p.Folder(), p.Base())
}

// exchangeBack takes back an exchange by which another file than the expected one came out. If what comes
// out then is not the draft, a program has written the file in between: what came out first is kept beside it.
func (f *Folder) exchangeBack(dir *os.Root, p Path, drafts *os.Root, d Draft, after Content) error {
	if err := f.sys.Exchange(drafts, d.name, dir, p.Base()); err != nil {
		return fmt.Errorf("%q is in %q, because it could not be put back: %w", p.text, d, err)
	}
	// What cannot be read is not taken for a text of another program.
	if err := (rooted{dir: drafts}).unchanged(d.name, after); !errors.Is(err, ErrChanged) {
		return err
	}
	if err := f.sys.Exchange(drafts, d.name, dir, p.Base()); err != nil {
		return fmt.Errorf("%q was written twice meanwhile, and one of its texts is in %q: %w", p.text, d, err)
	}
	name, err := f.keepBeside(drafts, d, dir, p)
	if err != nil {
		return err
	}
	return fmt.Errorf("%q was written twice meanwhile, and one of its texts is in %q", p.text, name)
}

// keepBeside gives a draft the first free name like that of the file at p, such as "Note 1.md", in its folder.
func (f *Folder) keepBeside(drafts *os.Root, d Draft, dir *os.Root, p Path) (name string, err error) {
	for n := 1; n < maxTrashed; n++ {
		name := numbered(p.Base(), n)
		err := f.pass(drafts, d.name, dir, name)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fs.ErrExist
}

// KeepBeside makes a draft a note next to the file at p, with the first free name such as "Note 1.md", which it returns. The
// error is fs.ErrExist if none is free, else one of the system.
func (f *Folder) KeepBeside(d Draft, p Path) (name string, err error) {
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return "", err
	}
	defer leave()
	drafts, err := f.enter(d.folder.segments())
	if err != nil {
		return "", err
	}
	defer drafts.Close()
	name, err = f.keepBeside(drafts, d, dir, p)
	if err != nil {
		return "", err
	}
	return name, f.settle(dir, p.Folder(), name)
}

// Publish gives a draft the path p, which must be free, and makes the folders that are missing there. If anything of
// that name exists, the error is fs.ErrExist. A name that not every system and link can carry is a [Refusal], and so
// is one that iCloud has evicted from the disk.
func (f *Folder) Publish(d Draft, p Path) error {
	if err := f.admitNew(p); err != nil {
		return err
	}
	if reason := unportable(p.Base()); reason != "" {
		return &Refusal{Path: p.Base(), Reason: reason}
	}
	dir, err := f.enterMaking(p.parents())
	if err != nil {
		return err
	}
	defer dir.Close()
	defer system.Lock(dir)()
	if _, err := dir.Lstat(p.Base()); err == nil {
		if f.judge.refuse(f.in(dir), p) != nil {
			return closed(p)
		}
		return fmt.Errorf("%q: %w", p.text, fs.ErrExist)
	}
	if _, err := dir.Lstat(system.CloudStub(p.Base())); err == nil {
		return &Refusal{Path: p.text, Reason: system.ErrElsewhere.Error()}
	}
	drafts, err := f.enter(d.folder.segments())
	if err != nil {
		return err
	}
	defer drafts.Close()
	if err := f.pass(drafts, d.name, dir, p.Base()); err != nil {
		return err
	}
	return f.settle(dir, p.Folder(), p.Base())
}

// PutBack gives a draft its path p again, under which the file was before it was set aside.
func (f *Folder) PutBack(d Draft, p Path) error {
	dir, err := f.enterMaking(p.parents())
	if err != nil {
		return err
	}
	defer dir.Close()
	drafts, err := f.enter(d.folder.segments())
	if err != nil {
		return err
	}
	defer drafts.Close()
	if err := f.pass(drafts, d.name, dir, p.Base()); err != nil {
		return err
	}
	return f.settle(dir, p.Folder(), p.Base())
}

// SetAside makes the file at p a draft, which removes it once the draft is discarded. The error is
// ErrChanged unless it has the content before.
func (f *Folder) SetAside(p Path, before Content, d Draft) error {
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
	drafts, err := f.enter(d.folder.segments())
	if err != nil {
		return err
	}
	defer drafts.Close()
	if err := f.take(file, dir, drafts, d.name); err != nil {
		return err
	}
	return f.settle(dir, p.Folder(), p.Base())
}

// StageAll stages several texts, several at once, until ctx ends. After an error, of the one at the index failed, some are
// staged.
func (f *Folder) StageAll(ctx context.Context, all []Staging) (failed int, err error) {
	return budget.WaitForEach(len(all), func(i int) error { return f.stageOne(ctx, all[i]) })
}

func (f *Folder) stageOne(ctx context.Context, one Staging) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.Stage(one)
}

// IsOneFile reports whether two paths are names of one file.
func (f *Folder) IsOneFile(p, other Path) bool {
	one, err := f.Stat(p)
	if err != nil {
		return false
	}
	two, err := f.Stat(other)
	return err == nil && os.SameFile(one, two)
}

// RemoveName removes the file at p, which has another name or holds nothing that is to be kept. The error is ErrChanged
// unless it has the content.
func (f *Folder) RemoveName(p Path, content Content) error {
	if f.IsClosed(p) {
		return ErrChanged // as if it were gone
	}
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return err
	}
	defer leave()
	if err := f.in(dir).unchanged(p.Base(), content); err != nil {
		return err
	}
	if err := f.sys.Remove(dir, p.Base()); err != nil {
		return err
	}
	return f.settle(dir, p.Folder(), p.Base())
}

// RemoveEmptyTrash removes the trash of the vault if nothing is in it.
func (f *Folder) RemoveEmptyTrash() error {
	names, err := f.count(Path{text: trashFolder})
	if err != nil || names > 0 {
		return ignoreMissing(err)
	}
	return ignoreMissing(f.sys.Rmdir(f.root, trashFolder))
}
