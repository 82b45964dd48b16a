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
	"time"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Draft is a hidden temporary file of a transaction. Before the commit, it contains the new text of a note;
// afterwards, the old text, or a file that is being removed. The zero Draft is no file.
type Draft struct {
	folder Path
	name   string
}

// String returns the path of the draft in the vault; "" for the zero Draft.
func (d Draft) String() string {
	if d.folder == (Path{}) {
		return d.name
	}
	return d.folder.text + "/" + d.name
}

// Folder returns the folder of the draft.
func (d Draft) Folder() Path { return d.folder }

// ParseDraft returns the draft with a path from [Draft.String]. It returns an error for any other text, so that
// only temporary files of this program are ever treated as drafts.
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

// NewDraft returns a new name for a draft of the file at p: next to it, or in the nearest existing folder above
// it. It creates no file.
func (f *Folder) NewDraft(p Path) Draft { return NewDraftIn(f.NearestFolder(p)) }

// NewDraftIn returns a new name for a draft in a folder. It creates no file.
func NewDraftIn(folder Path) Draft { return Draft{folder: folder, name: temporary()} }

// NearestFolder returns the folder of the file at p, or the nearest existing folder above it. The zero Path is
// the root of the vault.
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

// MissingFolders returns the missing folders above p, the highest first. It is an error if one of them is there and
// cannot be opened.
func (f *Folder) MissingFolders(p Path) (missing []Path, err error) {
	if f.overlay != nil {
		for at := (Path{p.Folder()}); at != (Path{}); at = (Path{at.Folder()}) {
			_, err := f.FolderInfo(at)
			if IsUnread(err) {
				return nil, err
			}
			if err == nil {
				break
			}
			missing = slices.Insert(missing, 0, at)
		}
		return missing, nil
	}
	dir, err := f.enter(nil)
	if err != nil {
		return nil, err
	}
	defer func() { dir.Close() }()
	at := Path{}
	for _, segment := range p.parents() {
		at, _ = at.child(segment)
		if missing == nil {
			next, err := step(dir, segment)
			if IsUnread(err) {
				return nil, err
			}
			if err == nil {
				dir.Close()
				dir = next
				continue
			}
		}
		missing = append(missing, at)
	}
	return missing, nil
}

// Whole returns the same open folder with everything in it: without a view, and with secrets and notes that a
// [Judge] closes. It is for completing or undoing a change, to which the caller's rights do not apply.
func (f *Folder) Whole() *Folder {
	g := *f
	g.view = nil
	g.redact = nil
	g.judge = nil
	return &g
}

// Gathering returns the same open folder for changes that are made durable together: their names are durable
// once sync returns nil. The error of sync is an *[Unsettled]. The caller must call [Folder.CloseGathered] at
// the end.
func (f *Folder) Gathering() (g *Folder, sync func() error) {
	gathering := *f
	gathering.gathered = &syncGroup{folders: map[string]bool{}, locks: map[string]*sharedLock{}}
	if system.CanKeepOpen {
		gathering.gathered.openFolders = &folderCache{open: map[string]*cachedFolder{}}
	}
	return &gathering, func() error { return f.syncAll(gathering.gathered) }
}

// CloseGathered closes the files and folders that gathered changes keep open. The changes may still continue.
func (f *Folder) CloseGathered() {
	if f.gathered != nil && f.gathered.openFolders != nil {
		f.gathered.openFolders.close()
	}
}

// HasExchanged reports whether a gathered change has exchanged two files. On such a disk, the draft of each
// change shows whether it was made.
func (f *Folder) HasExchanged() bool { return f.gathered != nil && f.gathered.exchanged.Load() }

// Staging is a text to be written to a draft.
type Staging struct {
	Draft Draft
	Text  func() ([]byte, error)
	// Like is the file whose mode and extended attributes the draft gets; the zero Path for none.
	Like Path
	// Mode has the permission bits of a draft without Like; 0 for those of a new note.
	Mode fs.FileMode
	// IsHasty leaves making the content durable to [Folder.SyncFile].
	IsHasty bool
}

// Stage writes a text to a draft and makes its content durable. After an error, no draft exists.
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
	old, err := f.rooted(from).open(s.Like.Base())
	if err != nil {
		return err
	}
	defer old.Close()
	if err := mayReplace(s.Like, old.Info); err != nil {
		return err
	}
	return f.stage(dir, s, text, old.Info.Mode().Perm(), old.onDisk())
}

// stage writes text to a new temporary file in dir. With like, the file gets exactly the mode and the
// attributes of like; otherwise perm as restricted by the user's umask.
func (f *Folder) stage(dir *os.Root, s Staging, text []byte, perm fs.FileMode, like *os.File) error {
	initial := perm
	if like != nil {
		initial = private
	}
	file, err := f.sys.Create(dir, s.Draft.name, initial)
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

// SyncFile makes the content of the file at p durable, if it was staged hastily.
func (f *Folder) SyncFile(p Path) error {
	if !system.CanSyncLater {
		return nil
	}
	dir, err := f.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close()
	file, err := f.rooted(dir).open(p.Base())
	if err != nil {
		return err
	}
	defer file.Close()
	return f.sys.SyncFile(file.onDisk())
}

// ReadDraft returns the text of a draft. The error is fs.ErrNotExist if there is none.
func (f *Folder) ReadDraft(d Draft) ([]byte, error) {
	dir, err := f.enter(d.folder.segments())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return rooted{dir: dir}.readAll(d.name, MaxNote)
}

// How long the writer of a replaced file is waited for: a program that appends a line opens, writes and closes the file,
// and a busy system may interrupt it between these. One that keeps the file open is not waited for any longer.
const (
	writerLooks = 40
	writerPause = 5 * time.Millisecond
)

// ReplacedInfo returns information about the file of a draft, which was at a path before. As long as another program
// still has it open for writing, it waits up to 0.2 s; hasWriter is true if the program keeps it open. The error is
// fs.ErrNotExist if there is no such file.
func (f *Folder) ReplacedInfo(d Draft) (info fs.FileInfo, hasWriter bool, err error) {
	dir, err := f.enter(d.folder.segments())
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	file, err := rooted{dir: dir}.open(d.name)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	for looks := 0; looks < writerLooks; looks++ {
		if looks > 0 {
			f.sys.Sleep(writerPause)
		}
		hasWriter, err = f.sys.HasWriter(file.onDisk())
		if err != nil || !hasWriter {
			break
		}
	}
	if err != nil {
		return nil, hasWriter, err
	}
	info, err = file.onDisk().Stat() // not before the writer has ended
	return info, hasWriter, err
}

// Holds reports whether the draft exists and has the content. It returns an error if the draft cannot be read.
func (f *Folder) Holds(d Draft, content Content) (bool, error) {
	dir, err := f.enter(d.folder.segments())
	if err != nil {
		return false, ignoreMissing(err)
	}
	defer dir.Close()
	return isUnchanged(rooted{dir: dir}, d.name, content)
}

// isUnchanged reports whether the file name has the content. It returns an error if the file cannot be read.
func isUnchanged(in rooted, name string, content Content) (bool, error) {
	err := in.unchanged(name, content)
	if errors.Is(err, ErrChanged) || IsHardLinked(err) {
		return false, nil
	}
	return err == nil, err
}

// Discard removes a draft, if it exists.
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
		return ErrChanged // as if it did not exist
	}
	dir, err := f.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.rooted(dir).unchanged(p.Base(), content)
}

// Replace replaces the file at p, which must have the content before, with a draft. If the system can exchange
// two files, the draft is the old file afterwards; if that turns out to have another content, the exchange is
// reversed. Otherwise, the file is compared just before it is replaced, and the draft no longer exists. The
// error is ErrChanged if the file has another content, otherwise an error of Read.
func (f *Folder) Replace(p Path, before Content, d Draft, after Content) error {
	if f.IsClosed(p) {
		return ErrChanged // as if it did not exist
	}
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return err
	}
	defer leave()
	info, err := f.rooted(dir).info(p.Base())
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
	// Until an exchange is reversed, others see a text that must not stay. So compare the file before the
	// exchange, too.
	check := func() error { return f.rooted(dir).unchanged(p.Base(), before) }
	if err := check(); err != nil {
		return err
	}
	err = f.sys.Exchange(drafts, d.name, dir, p.Base())
	if errors.Is(err, errors.ErrUnsupported) {
		if err := f.sys.Rename(drafts, d.name, dir, p.Base(), check); err != nil {
			return err
		}
		return f.syncName(dir, p.Folder(), p.Base())
	}
	if err != nil {
		return err
	}
	if f.gathered != nil {
		f.gathered.exchanged.Store(true)
	}
	if compareErr := f.rooted(drafts).unchanged(d.name, before); compareErr != nil {
		return errors.Join(compareErr, f.exchangeBack(dir, p, drafts, d, after))
	}
	return f.syncName(dir, p.Folder(), p.Base())
}

// exchangeBack reverses an exchange that brought out an unexpected file. If the second exchange does not bring
// out the draft, a program wrote the file in between: the first file is then saved beside it.
func (f *Folder) exchangeBack(dir *os.Root, p Path, drafts *os.Root, d Draft, after Content) error {
	if err := f.sys.Exchange(drafts, d.name, dir, p.Base()); err != nil {
		return fmt.Errorf("%q is in %q, because it could not be put back: %w", p.text, d, err)
	}
	// An unreadable file is not treated as a text of another program.
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

// keepBeside renames a draft to the first free name like that of the file at p, such as "Note 1.md", in its
// folder.
func (f *Folder) keepBeside(drafts *os.Root, d Draft, dir *os.Root, p Path) (name string, err error) {
	for i := 1; i < maxTrashed; i++ {
		name := numbered(p.Base(), i)
		err := f.moveExclusive(drafts, d.name, dir, name)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fs.ErrExist
}

// KeepBeside turns a draft into a note next to the file at p and returns its name: the first free one such as
// "Note 1.md". The error is fs.ErrExist if none is free, otherwise one of the system.
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
	return name, f.syncName(dir, p.Folder(), name)
}

// Publish moves a draft to the path p, which must be free, and creates missing folders there. The error is
// fs.ErrExist if anything has that name. A name that some systems or links do not support is a [Refusal], and
// so is the name of a file that iCloud has evicted from the disk.
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
		if f.judge.refuse(f.rooted(dir), p) != nil {
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
	if err := f.moveExclusive(drafts, d.name, dir, p.Base()); err != nil {
		return err
	}
	return f.syncName(dir, p.Folder(), p.Base())
}

// PutBack moves a draft back to the path p, where the file was before it was set aside.
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
	if err := f.moveExclusive(drafts, d.name, dir, p.Base()); err != nil {
		return err
	}
	return f.syncName(dir, p.Folder(), p.Base())
}

// SetAside turns the file at p into a draft; discarding the draft removes it. The error is ErrChanged unless
// the file has the content before.
func (f *Folder) SetAside(p Path, before Content, d Draft) error {
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
	drafts, err := f.enter(d.folder.segments())
	if err != nil {
		return err
	}
	defer drafts.Close()
	if err := f.moveVerified(file, dir, drafts, d.name); err != nil {
		return err
	}
	return f.syncName(dir, p.Folder(), p.Base())
}

// StageAll stages texts concurrently until ctx ends. After an error for the text with the index failed, some of
// the others are staged.
func (f *Folder) StageAll(ctx context.Context, stagings []Staging) (failed int, err error) {
	return budget.WaitForEach(len(stagings), func(i int) error { return f.stageOne(ctx, stagings[i]) })
}

func (f *Folder) stageOne(ctx context.Context, s Staging) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.Stage(s)
}

// IsOneFile reports whether two paths are names of the same file.
func (f *Folder) IsOneFile(p, other Path) bool {
	first, err := f.Stat(p)
	if err != nil {
		return false
	}
	second, err := f.Stat(other)
	return err == nil && os.SameFile(first, second)
}

// RemoveName removes the file at p, which has another name or no content that must be kept. The error is
// ErrChanged unless it has the content.
func (f *Folder) RemoveName(p Path, content Content) error {
	if f.IsClosed(p) {
		return ErrChanged // as if it did not exist
	}
	dir, leave, err := f.lockedParent(p)
	if err != nil {
		return err
	}
	defer leave()
	if err := f.rooted(dir).unchanged(p.Base(), content); err != nil {
		return err
	}
	if err := f.sys.Remove(dir, p.Base()); err != nil {
		return err
	}
	return f.syncName(dir, p.Folder(), p.Base())
}

// RemoveEmptyTrash removes the trash of the vault if it is empty.
func (f *Folder) RemoveEmptyTrash() error {
	names, err := f.count(Path{text: trashFolder})
	if err != nil || names > 0 {
		return ignoreMissing(err)
	}
	return ignoreMissing(f.sys.Rmdir(f.root, trashFolder))
}
