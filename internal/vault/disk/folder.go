// Package disk is the only way to access the files of a vault. All access starts from one os.Root, which is
// opened once, and continues one path segment at a time: through further roots or, for looking up and reading
// files, through a place (openat). What was checked in an open folder is done in the same open folder, with
// names of one segment ([system.Calls]), so a folder that is replaced by a link meanwhile leads nowhere
// (TOCTOU).
//
// Its guarantees: nothing outside the vault is read or written. Hidden files and folders do not exist, except
// for the app's settings through [Folder.Config], one file of which can be written, and the trash, in which
// only files that were moved there are visible. Only regular files are opened, and never so that a pipe could
// block. A crash at any point leaves either the old note or the new one.
//
// Symbolic links are not followed. Links to the outside would break the first guarantee, and the app ignores
// links within the vault, too. The other names of a hard link cannot be found, so if something in the vault is
// hidden, a file with several names is refused ([IsHardLinked]). Otherwise it is an ordinary file; a write
// replaces it, so it never changes the file under its other names.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// MaxNote is the maximum size in bytes of a file that is read or written. The largest real notes have a few
// MiB; the limit exists because a change holds a note in memory twice.
const MaxNote = 128 << 20

// maxConfig limits the bytes of a settings file. Real ones have kilobytes, except for a workspace in which no
// tab was ever closed.
const maxConfig = 16 << 20

// configFolder is the folder with the app's settings for a vault. The app can be configured to use another
// name, but leaves no trace of that in the vault.
const configFolder = ".obsidian"

// Folder is an opened vault. It is safe for concurrent use. Several methods return the same open folder with
// another property; only one of them must be closed.
type Folder struct {
	root       *os.Root
	sys        system.Calls
	view       View // nil sees everything
	names      *filenames.Folder
	countFiles func(files int) // called by a parallel walk; may be nil
	// redact replaces the secrets of a text that was read; nil replaces nothing.
	redact   func(p Path, text []byte) ([]byte, error)
	gathered *syncGroup // changes that become durable together; nil if each does by itself
	judge    *Judge     // nil if no note is closed by its text
	// tell is called for everything that cannot be read, see [Folder.Telling]; may be nil.
	tell    func(p Path)
	ask     *interposed // shared by all copies of the folder
	overlay *Overlay    // planned changes that are not on the disk; nil for none
}

// Refusal is the error for an existing file or folder that is not accepted.
type Refusal struct {
	Path   string
	Reason string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%q %s", r.Path, r.Reason) }

// hardLinked is the reason of a [Refusal] for a file with several names, see [IsHardLinked].
const hardLinked = "has more than one hard link"

// IsHardLinked reports whether err refuses a file because it has several names. One of them may be hidden, or
// outside the vault. So a folder in which something is hidden ([Folder.WithView]) does not list, read or change
// such a file.
func IsHardLinked(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Reason == hardLinked
}

// IsMissing reports whether err means that no such file is visible in the vault: it does not exist, or is not a
// regular file.
func IsMissing(err error) bool {
	var refusal *Refusal
	return errors.Is(err, fs.ErrNotExist) || system.IsNoName(err) || errors.As(err, &refusal)
}

// Open opens the folder at path as a vault.
func Open(path string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Folder{
		root:  root,
		sys:   system.Calls{Patience: system.Patient},
		ask:   new(interposed),
		names: filenames.In(func() (*os.Root, error) { return root.OpenRoot(".") }),
	}, nil
}

// Close closes the folder. Files that were opened from it stay open.
func (f *Folder) Close() error { return f.root.Close() }

// Info returns information about the folder itself, even if it was moved.
func (f *Folder) Info() (fs.FileInfo, error) { return f.root.Stat(".") }

// Interpose sets a function that is called before every call that changes the disk, with the name of its method
// of [system.Calls]. If it returns an error, the call is not made and returns that error. Other programs are not waited
// for. It is for tests of interrupted work.
func (f *Folder) Interpose(ask func(method string) error) {
	var mu sync.Mutex // several goroutines stage files
	f.sys = f.sys.After(func(method string) error {
		mu.Lock()
		defer mu.Unlock()
		return ask(method)
	})
	f.sys.Sleep = func(time.Duration) {}
}

// Config returns the text of the app's settings file with the name. The error is fs.ErrNotExist if there is
// none.
func (f *Folder) Config(name string) (guard.Unjudged, error) {
	text, err := f.config(name)
	return guard.NewUnjudged(text), err
}

func (f *Folder) config(name string) (text []byte, err error) {
	if f.overlay != nil {
		if text, isPlanned := f.overlay.text(Path{text: ConfigPath(name)}); isPlanned {
			return text, nil
		}
	}
	err = steady{ask: f.ask}.try("config", name, func() error {
		dir, err := f.enter([]string{configFolder})
		if err != nil {
			return err
		}
		defer dir.Close()
		text, err = rooted{dir: dir}.readAll(name, maxConfig)
		return err
	})
	return text, err
}

// ConfigPath returns the path of a settings file for messages.
func ConfigPath(name string) string { return configFolder + "/" + name }

// Ignored returns the text of [access.IgnoreFile], the file with patterns. The error is fs.ErrNotExist if there
// is none. No path leads to this file, so it is neither read nor written as a note. A link in its place is a
// [Refusal], and so is anything else that is not a regular file.
func (f *Folder) Ignored() (text []byte, err error) {
	err = steady{ask: f.ask}.try("config", access.IgnoreFile, func() error {
		text, err = rooted{dir: f.root}.readAll(access.IgnoreFile, access.MaxIgnoreFile)
		return err
	})
	return text, err
}

// enter opens the folder at the segments. The caller must close it.
func (f *Folder) enter(segments []string) (*os.Root, error) {
	if f.gathered != nil && f.gathered.openFolders != nil {
		return f.gathered.openFolders.enter(f.root, segments)
	}
	dir, err := f.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for _, segment := range segments {
		next, err := step(dir, segment)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// enterMaking is enter, but creates missing folders.
func (f *Folder) enterMaking(segments []string) (*os.Root, error) {
	if f.gathered != nil { // the folder may be open already
		if dir, err := f.enter(segments); !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
	}
	dir, err := f.enter(nil)
	if err != nil {
		return nil, err
	}
	for _, segment := range segments {
		next, err := f.stepMaking(dir, segment)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// stepMaking is step, but creates a missing folder.
func (f *Folder) stepMaking(dir *os.Root, name string) (*os.Root, error) {
	sub, err := step(dir, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return sub, err
	}
	if reason := unportable(name); reason != "" {
		return nil, &Refusal{Path: name, Reason: reason}
	}
	err = f.sys.Mkdir(dir, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := f.sys.Sync(dir); err != nil {
		return nil, err
	}
	return step(dir, name)
}

// parent opens the folder of the file at p, if the file may be visible. The caller must close it.
func (f *Folder) parent(p Path) (*os.Root, error) {
	if err := f.admit(p); err != nil {
		return nil, err
	}
	dir, err := f.enter(p.parents())
	if err == nil {
		if err = f.judge.refuse(f.rooted(dir), p); err != nil {
			dir.Close()
			return nil, err
		}
	}
	return dir, err
}

// lockedParent is parent that prevents other processes of this program from writing to the folder until leave
// is called. leave also closes it.
func (f *Folder) lockedParent(p Path) (dir *os.Root, leave func(), err error) {
	dir, err = f.parent(p)
	if err != nil {
		return nil, nil, err
	}
	if f.gathered != nil {
		return dir, f.gathered.lock(p.Folder(), dir), nil
	}
	unlock := system.Lock(dir)
	return dir, func() { unlock(); dir.Close() }, nil
}

// step opens the subfolder name of dir. It ensures that the subfolder is not a link and was not replaced by one
// meanwhile.
func step(dir *os.Root, name string) (*os.Root, error) {
	sub, _, err := stepSeen(dir, name)
	return sub, err
}

// stepSeen is step, and also returns information about the folder.
func stepSeen(dir *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	seen, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !seen.IsDir() {
		return nil, nil, &Refusal{Path: name, Reason: "is not a folder"}
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, nil, err
	}
	sub, err = unlessReplaced(sub, seen, name)
	return sub, seen, err
}

// unlessReplaced returns sub if it is the folder that was seen. Otherwise it closes sub, which may be the
// target of a link.
func unlessReplaced(sub *os.Root, seen fs.FileInfo, name string) (*os.Root, error) {
	opened, err := sub.Stat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = &Refusal{Path: name, Reason: "was replaced while it was opened"}
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// FolderInfo returns information about the folder at p, if it is visible.
func (f *Folder) FolderInfo(p Path) (info fs.FileInfo, err error) {
	if err := f.admitFolder(p); err != nil {
		return nil, err
	}
	if f.overlay != nil {
		return f.overlay.folderInfo(f, p)
	}
	err = steady{ask: f.ask}.try("info", p.Base(), func() error {
		dir, err := f.enter(p.segments())
		if err != nil {
			return err
		}
		defer dir.Close()
		info, err = dir.Stat(".")
		return err
	})
	return info, err
}

// admitFolder returns an error for an invisible folder: that of a missing one, or that of a disk on which its
// name cannot be read.
func (f *Folder) admitFolder(p Path) error {
	if err := f.isNamed(p); err != nil {
		return err
	}
	if !f.seesFolder(p) || f.IsClosed(p) || f.isBelowClosed(p) {
		return missing(p)
	}
	return nil
}

// MakeFolder creates the folder p and the missing folders above it. It does nothing if the folder exists. A
// name that some systems or links do not support is a [Refusal], and so is an invisible one.
func (f *Folder) MakeFolder(p Path) error {
	if err := f.admitFolder(p); err != nil {
		return closedUnlessUnread(p, err)
	}
	dir, err := f.enterMaking(p.segments())
	if err != nil {
		return err
	}
	return dir.Close()
}

// RemoveFolder removes the folder p if it exists and is empty.
func (f *Folder) RemoveFolder(p Path) error {
	if err := f.isNamed(p); err != nil {
		return closedUnlessUnread(p, err)
	}
	if !f.seesFolder(p) {
		return closed(p)
	}
	if f.IsClosed(p) || f.isBelowClosed(p) {
		return nil
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return ignoreMissing(err)
	}
	defer dir.Close()
	if names, err := f.count(p); err == nil && names > 0 {
		return nil
	}
	if err := f.sys.Rmdir(dir, p.Base()); err != nil {
		return ignoreMissing(err)
	}
	return f.syncName(dir, p.Folder(), p.Base())
}

// Contents are the visible files and folders below a folder.
type Contents struct {
	Files   []Path
	Folders []Path // the folder itself first, each before its subfolders
	Hidden  bool   // whether something in the folder is invisible
	// Stay has the folders that cannot be removed, because they or their subfolders have something that is not
	// a file of the vault, such as a hidden name or a link.
	Stay map[Path]bool
}

// Contents returns the contents of the folder p. The errors are those of Walk.
func (f *Folder) Contents(p Path) (c Contents, err error) {
	c = Contents{Folders: []Path{p}, Stay: map[Path]bool{}}
	err = f.Walk(p, func(e Entry) {
		if e.IsDir {
			c.Folders = append(c.Folders, e.Path)
		} else {
			c.Files = append(c.Files, e.Path)
		}
	})
	if err != nil {
		return c, err
	}
	// The order on the disk depends on invisible names.
	inOrder := func(a, b Path) int { return strings.Compare(a.text, b.text) }
	slices.SortFunc(c.Files, inOrder)
	slices.SortFunc(c.Folders, inOrder) // a folder precedes its subfolders
	visible := map[Path]int{}
	total := 0
	whole := Folder{root: f.root, sys: f.sys, names: f.names, ask: f.ask, overlay: f.overlay}
	err = whole.Walk(p, func(e Entry) {
		visible[Path{e.Path.Folder()}]++
		total++
	})
	c.Hidden = total > len(c.Files)+len(c.Folders)-1 || !f.seesFolder(p)
	for _, folder := range c.Folders {
		names, countErr := f.count(folder)
		err = errors.Join(err, countErr)
		for at := folder; names > visible[folder] && !c.Stay[at]; at = (Path{at.Folder()}) {
			c.Stay[at] = true
			if at == p {
				break
			}
		}
	}
	return c, err
}

// SetModified sets the modification time of the file or folder at p.
func (f *Folder) SetModified(p Path, at time.Time) error {
	if _, err := f.FolderInfo(p); err != nil {
		file, err := f.Open(p)
		if err != nil {
			return err
		}
		file.Close()
	}
	dir, err := f.parent(p)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Chtimes(p.Base(), time.Time{}, at)
}

// count returns the number of names in a folder.
func (f *Folder) count(p Path) (int, error) {
	if f.overlay != nil {
		return f.overlay.count(f, p)
	}
	dir, err := f.enter(p.segments())
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	entries, err := fs.ReadDir(dir.FS(), ".")
	return len(entries), err
}

// View decides which files and folders of a vault a caller can see. An invisible file does not exist for the
// caller: it is in no walk, and cannot be opened, changed or moved. The view does not apply to the app's
// settings.
type View interface {
	// SeesFile reports whether the file at path is visible.
	SeesFile(path string) bool
	// SeesFolder reports whether the folder at path is visible.
	SeesFolder(path string) bool
	// Enters reports whether something in an invisible folder may be visible.
	Enters(folder string) bool
}

// WithView returns the same open folder as v shows it.
func (f *Folder) WithView(v View) *Folder {
	g := *f
	g.view = v
	return &g
}

// Redacting returns the same open folder, with texts that are read passed through redact; its error becomes
// that of the read. Files are compared and written unredacted.
func (f *Folder) Redacting(redact func(p Path, text []byte) ([]byte, error)) *Folder {
	g := *f
	g.redact = redact
	return &g
}

// IsRedacted reports whether reads replace the secrets in files.
func (f *Folder) IsRedacted() bool { return f.redact != nil }

// Counting returns the same open folder, whose parallel walks call found with the number of visible files in
// each folder.
func (f *Folder) Counting(found func(files int)) *Folder {
	g := *f
	g.countFiles = found
	return &g
}

// seesFile reports whether the view shows the path of a file. It does not access the disk.
func (f *Folder) seesFile(p Path) bool { return f.view == nil || f.view.SeesFile(p.text) }

// seesFolder is seesFile for a folder.
func (f *Folder) seesFolder(p Path) bool { return f.view == nil || f.view.SeesFolder(p.text) }

// admit returns an error for a file that the caller may not see. A path that differs from the name on the disk
// counts as missing: the view must judge the name by which the file is opened.
func (f *Folder) admit(p Path) error {
	if p == Bookmarks() {
		return nil
	}
	if err := f.isNamed(p); err != nil {
		return err
	}
	if !f.seesFile(p) || f.isBelowClosed(p) {
		return missing(p)
	}
	return nil
}

// isBelowClosed reports whether a path goes through a note that is closed by its text, as if the note were a
// folder.
func (f *Folder) isBelowClosed(p Path) bool {
	for above := p.Folder(); f.judge != nil && above != ""; above = (Path{above}).Folder() {
		if f.IsClosed(Path{above}) {
			return true
		}
	}
	return false
}

// admitNew is admit for a file that is to be created.
func (f *Folder) admitNew(p Path) error {
	err := f.admit(p)
	if errors.Is(err, fs.ErrNotExist) {
		return closed(p)
	}
	return err
}

// missing returns the error for an invisible file, which is the same as for a missing one.
func missing(p Path) error { return &fs.PathError{Op: "open", Path: p.Base(), Err: fs.ErrNotExist} }

// closed returns the error for creating an invisible file. It does not reveal whether the file exists.
func closed(p Path) error { return &Refusal{Path: p.text, Reason: "cannot be created"} }

// closedUnlessUnread returns the error for creating a folder whose name was not admitted: that of the disk if
// the name could not be read, otherwise the same as for an invisible one.
func closedUnlessUnread(p Path, err error) error {
	if IsUnread(err) {
		return err
	}
	return closed(p)
}

// Named returns p as it is spelled on the disk: each segment has the name that its folder lists, instead of
// another case, another Unicode normal form or a short name. Segments from the first missing one on are
// unchanged, and so is the path of an invisible file. The error is fs.ErrNotExist for a path that leads to a
// hidden place by another name.
func (f *Folder) Named(p Path) (Path, error) {
	if p == Bookmarks() {
		return p, nil
	}
	return f.visibleName(p, f.names.Name)
}

// NamedInAnyForm is [Folder.Named] for a path that a caller or a setting spells out: a name that differs from
// that of a file only in its Unicode normal form names the file.
func (f *Folder) NamedInAnyForm(p Path) (Path, error) {
	return f.visibleName(p, f.names.NameInAnyForm)
}

func (f *Folder) visibleName(p Path, name func(path string) (string, error)) (Path, error) {
	named, err := f.nameBy(p, name)
	if err != nil || named == p {
		return named, err
	}
	isVisible := f.seesFile(named) || f.seesFolder(named) || f.view.Enters(named.text)
	if isVisible && !f.IsClosed(named) {
		return named, nil
	}
	return p, nil
}

func (f *Folder) name(p Path) (Path, error) { return f.nameBy(p, f.names.Name) }

func (f *Folder) nameBy(p Path, name func(path string) (string, error)) (Path, error) {
	text, err := name(p.text)
	switch {
	case err != nil:
		return Path{}, err
	case text == p.text:
		return p, nil
	}
	named, err := ParsePath(text)
	if err != nil {
		return Path{}, missing(p)
	}
	return named, nil
}

// isNamed returns an error if a path differs from its spelling on the disk.
func (f *Folder) isNamed(p Path) error {
	named, err := f.name(p)
	if err == nil && named != p {
		err = missing(p)
	}
	return err
}

// SeesFile reports whether the path of a file at p may be shown. The file need not exist.
func (f *Folder) SeesFile(p Path) bool {
	if p == Bookmarks() {
		return true
	}
	return f.isNamed(p) == nil && f.seesFile(p) && !f.IsClosed(p)
}

// SeesFolder reports whether the path of a folder at p may be shown. The folder need not exist.
func (f *Folder) SeesFolder(p Path) bool { return f.isNamed(p) == nil && f.seesFolder(p) }

// Renamed returns the path to which the file from should be moved if p is requested: the folder as it is
// spelled on the disk, and the requested last segment if that is another spelling of the name of from. An
// invisible path is returned unchanged.
func (f *Folder) Renamed(from, p Path) (Path, error) {
	renamed, err := f.renamed(from, p)
	if err != nil || renamed == p {
		return renamed, err
	}
	isVisible := renamed.Folder() == from.Folder() || f.SeesFile(renamed)
	if !isVisible {
		return p, nil
	}
	return renamed, nil
}

func (f *Folder) renamed(from, p Path) (Path, error) {
	named, err := f.nameBy(p, f.names.NameInAnyForm)
	if err != nil || named != from {
		return named, err
	}
	return Path{text: named.text[:len(named.text)-len(named.Base())] + p.Base()}, nil
}
