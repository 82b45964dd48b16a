// Package disk is the only way to a vault's files. Everything starts from one os.Root,
// opened once, and goes on one path segment at a time: through further roots, or where
// files are only looked at and read, through a place (openat). What was checked in an open
// folder is done in that open folder, with names of one segment ([system.Calls]), so a
// folder that is replaced by a link meanwhile leads nowhere (TOCTOU).
//
// What it promises: nothing outside the vault is read or written; hidden files and folders
// do not exist, except the app's settings through [Folder.Config], one of which can be
// written, and the trash, in which only files that were moved there are seen; only regular
// files are opened, and never so that a pipe could block; a crash at any point leaves the
// old note or the new one.
//
// Symbolic links are not followed. Those that lead outside would break the first promise,
// and the app ignores those that stay inside, too. The other names of a hard link cannot
// be found, so where something of the vault is hidden, a file that has any is refused
// ([IsHardLinked]). Elsewhere it is a file; a write replaces it and so never reaches the
// other name.
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

// MaxNote is the size of the largest file that is read or written. The largest real notes
// are a few MiB; the limit is there because a change has a note in memory twice.
const MaxNote = 128 << 20

// maxConfig bounds a settings file; real ones are kilobytes, except for a workspace in
// which no tab was ever closed.
const maxConfig = 16 << 20

// configFolder is where the app keeps the settings of a vault. The app can be told to use
// another name, but leaves no trace of it in the vault.
const configFolder = ".obsidian"

// Folder is an opened vault. It is safe for concurrent use. Several methods return the same open folder
// with something else about it: only one of them all is to be closed.
type Folder struct {
	root  *os.Root
	sys   system.Calls
	view  View // nil sees everything
	names *filenames.Folder
	found func(files int) // called by a parallel walk; may be nil
	// redact replaces the secrets of a text that is read; nil replaces nothing.
	redact   func(p Path, text []byte) ([]byte, error)
	gathered *gathered // by changes that become durable together; nil if each does by itself
	judge    *Judge    // nil closes no note
	// tell is told of what cannot be read, see [Folder.Telling]; nil tells nobody.
	tell func(p Path)
	ask  *interposed // the same for all of these
	over *Overlay    // what is planned and not on the disk; nil for nothing
}

// Refusal says why an existing file or folder is not accepted.
type Refusal struct {
	Path   string
	Reason string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%q %s", r.Path, r.Reason) }

// hardLinked is the reason of a [Refusal] that [IsHardLinked] knows.
const hardLinked = "has more than one hard link"

// IsHardLinked reports whether err refuses a file because it has further names. One of
// them may be hidden, or outside the vault. So a folder in which something is hidden
// ([Folder.WithView]) neither lists such a file nor reads or changes it.
func IsHardLinked(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Reason == hardLinked
}

// IsMissing reports whether err means that no such file can be seen in the vault: it does
// not exist, or is no regular file.
func IsMissing(err error) bool {
	var refusal *Refusal
	return errors.Is(err, fs.ErrNotExist) || system.IsNoName(err) || errors.As(err, &refusal)
}

// Open opens the folder at path, which may be anywhere.
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

// Close closes the folder; files that were opened from it stay open.
func (f *Folder) Close() error { return f.root.Close() }

// Info returns what is known about the folder itself, wherever it was moved.
func (f *Folder) Info() (fs.FileInfo, error) { return f.root.Stat(".") }

// Interpose has ask called before every call that changes the disk, with its method of [system.Calls]; an error of ask is
// that of the call, which is not made then. It is for tests of interrupted work.
func (f *Folder) Interpose(ask func(method string) error) {
	var mu sync.Mutex // files are prepared by several goroutines
	f.sys = f.sys.After(func(method string) error {
		mu.Lock()
		defer mu.Unlock()
		return ask(method)
	})
}

// Config returns the app's settings file of that name, or fs.ErrNotExist.
func (f *Folder) Config(name string) (guard.Unjudged, error) {
	text, err := f.config(name)
	return guard.NewUnjudged(text), err
}

func (f *Folder) config(name string) (text []byte, err error) {
	if f.over != nil {
		if text, isPlanned := f.over.text(Path{text: ConfigPath(name)}); isPlanned {
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

// ConfigPath returns the name of a settings file in messages.
func ConfigPath(name string) string { return configFolder + "/" + name }

// Ignored returns the text of the file of patterns [access.IgnoreFile], or fs.ErrNotExist.
// No other path leads to it, so it is neither read nor written as a note. A link in its
// place is a [Refusal], and so is everything else that is no regular file.
func (f *Folder) Ignored() (text []byte, err error) {
	err = steady{ask: f.ask}.try("config", access.IgnoreFile, func() error {
		text, err = rooted{dir: f.root}.readAll(access.IgnoreFile, access.MaxIgnoreFile)
		return err
	})
	return text, err
}

// enter opens the folder that the segments lead to. The caller closes it.
func (f *Folder) enter(segments []string) (*os.Root, error) {
	if f.gathered != nil && f.gathered.kept != nil {
		return f.gathered.kept.enter(f.root, segments)
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

// enterMaking is enter that makes the folders that are missing.
func (f *Folder) enterMaking(segments []string) (*os.Root, error) {
	dir, err := f.enter(nil)
	for _, segment := range segments {
		if err != nil {
			return nil, err
		}
		var next *os.Root
		if next, err = step(dir, segment); errors.Is(err, fs.ErrNotExist) {
			if reason := unportable(segment); reason != "" {
				err = &Refusal{Path: segment, Reason: reason}
			} else if err = f.sys.Mkdir(dir, segment); err == nil || errors.Is(err, fs.ErrExist) {
				if err = f.sys.Sync(dir); err == nil {
					next, err = step(dir, segment)
				}
			}
		}
		dir.Close()
		dir = next
	}
	return dir, err
}

// parent opens the folder of the file at p, if that may be seen. The caller closes it.
func (f *Folder) parent(p Path) (*os.Root, error) {
	if err := f.admit(p); err != nil {
		return nil, err
	}
	dir, err := f.enter(p.parents())
	if err == nil {
		if err = f.judge.refuse(f.in(dir), p); err != nil {
			dir.Close()
			return nil, err
		}
	}
	return dir, err
}

// lockedParent is parent that keeps other processes of this program from writing into the
// folder until leave is called, which closes it.
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

// step opens the sub-folder name of dir and makes sure that it is no link, nor became one
// meanwhile.
func step(dir *os.Root, name string) (*os.Root, error) {
	sub, _, err := stepSeen(dir, name)
	return sub, err
}

// stepSeen is step that also returns what is known of the folder.
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

// unlessReplaced returns sub if it is the folder that was seen, and closes it if it is
// another one, such as the target of a link.
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

// FolderInfo returns what is known about the folder at p, if that may be seen.
func (f *Folder) FolderInfo(p Path) (info fs.FileInfo, err error) {
	if err := f.admitFolder(p); err != nil {
		return nil, err
	}
	if f.over != nil {
		return f.over.folderInfo(f, p)
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

// admitFolder returns the error of a folder that may not be seen, which is that of a missing one, or of a disk that
// cannot tell its name.
func (f *Folder) admitFolder(p Path) error {
	if err := f.isNamed(p); err != nil {
		return err
	}
	if !f.seesFolder(p) || f.IsClosed(p) || f.isBelowClosed(p) {
		return missing(p)
	}
	return nil
}

// MakeFolder makes the folder p with those above it. One that exists is no error. A name that
// not every system and link can carry is a [Refusal], and so is one that may not be seen.
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

// RemoveFolder removes the folder p. One that is not empty, or not there, stays as it is.
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
	return f.settle(dir, p.Folder(), p.Base())
}

// Contents is what a caller sees in a folder and below it.
type Contents struct {
	Files   []Path
	Folders []Path // the folder itself first, and each before those in it
	Hidden  bool   // there is something that the caller does not see
	// Stay are the folders with something that is not a file of a vault, such as a hidden name or
	// a link, and those above them.
	Stay map[Path]bool
}

// Contents returns what is in the folder p. The errors are those of Walk.
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
	// The order on the disk depends on names that are not seen.
	inOrder := func(a, b Path) int { return strings.Compare(a.text, b.text) }
	slices.SortFunc(c.Files, inOrder)
	slices.SortFunc(c.Folders, inOrder) // a folder is before those in it
	in := map[Path]int{}
	all := 0
	whole := Folder{root: f.root, sys: f.sys, names: f.names, ask: f.ask, over: f.over}
	err = whole.Walk(p, func(e Entry) {
		in[Path{e.Path.Folder()}]++
		all++
	})
	c.Hidden = all > len(c.Files)+len(c.Folders)-1 || !f.seesFolder(p)
	for _, folder := range c.Folders {
		names, failed := f.count(folder)
		err = errors.Join(err, failed)
		for at := folder; names > in[folder] && !c.Stay[at]; at = (Path{at.Folder()}) {
			c.Stay[at] = true
			if at == p {
				break
			}
		}
	}
	return c, err
}

// SetModified sets the time of modification of the file or folder at p.
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

// count returns how many names there are in a folder.
func (f *Folder) count(p Path) (int, error) {
	if f.over != nil {
		return f.over.count(f, p)
	}
	dir, err := f.enter(p.segments())
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	all, err := fs.ReadDir(dir.FS(), ".")
	return len(all), err
}

// View says which files and folders of a vault a caller may see. What it does not see does
// not exist: it is in no walk, cannot be opened, and is neither changed nor moved. It is
// not asked about the app's settings.
type View interface {
	// SeesFile reports whether the file at path is visible.
	SeesFile(path string) bool
	// SeesFolder reports whether the folder at path is visible.
	SeesFolder(path string) bool
	// Enters reports whether something in an invisible folder may be visible.
	Enters(folder string) bool
}

// WithView returns the same open folder as v sees it.
func (f *Folder) WithView(v View) *Folder {
	g := *f
	g.view = v
	return &g
}

// Redacting returns the same open folder, of whose files only the result of redact can be read; its
// error is that of the read. Files are compared and written as they are.
func (f *Folder) Redacting(redact func(p Path, text []byte) ([]byte, error)) *Folder {
	g := *f
	g.redact = redact
	return &g
}

// IsRedacted reports whether files are read with something else in place of their secrets.
func (f *Folder) IsRedacted() bool { return f.redact != nil }

// Counting returns the same open folder, whose parallel walks call found with the number
// of files in each folder that they are going to visit.
func (f *Folder) Counting(found func(files int)) *Folder {
	g := *f
	g.found = found
	return &g
}

// seesFile reports whether the view sees a path as that of a file. It does not ask the disk.
func (f *Folder) seesFile(p Path) bool { return f.view == nil || f.view.SeesFile(p.text) }

// seesFolder is seesFile for a folder.
func (f *Folder) seesFolder(p Path) bool { return f.view == nil || f.view.SeesFolder(p.text) }

// admit returns the error of a file that the caller may not see. A path that differs from
// the name on the disk leads nowhere: the view judges the name by which the file is opened.
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

// isBelowClosed reports whether a path leads through a note that its text closes, as if it were a
// folder.
func (f *Folder) isBelowClosed(p Path) bool {
	for above := p.Folder(); f.judge != nil && above != ""; above = (Path{above}).Folder() {
		if f.IsClosed(Path{above}) {
			return true
		}
	}
	return false
}

// admitNew is admit for a file that is to be made.
func (f *Folder) admitNew(p Path) error {
	err := f.admit(p)
	if errors.Is(err, fs.ErrNotExist) {
		return closed(p)
	}
	return err
}

// missing is the error of an invisible file. It is that of one that does not exist.
func missing(p Path) error { return &fs.PathError{Op: "open", Path: p.Base(), Err: fs.ErrNotExist} }

// closed refuses to make an invisible file. It does not reveal whether there is one.
func closed(p Path) error { return &Refusal{Path: p.text, Reason: "cannot be created"} }

// closedUnlessUnread returns the error of a folder that is to be made and whose name cannot be had: that of the disk, or
// the same as for an invisible one.
func closedUnlessUnread(p Path, err error) error {
	if IsUnread(err) {
		return err
	}
	return closed(p)
}

// Named returns p as the disk has it: each segment by the name that its folder lists, in
// place of another case, another Unicode normal form or a short name. From the first
// missing segment on p stays as it is, and so does the path of an invisible file. The
// error is fs.ErrNotExist for a path that leads to a hidden place by another name.
func (f *Folder) Named(p Path) (Path, error) {
	if p == Bookmarks() {
		return p, nil
	}
	return f.visibleName(p, f.names.Name)
}

// NamedInAnyForm is [Folder.Named] for a path that a caller or a setting spells out: a name that differs from that of a
// file in its Unicode normal form alone is that of the file.
func (f *Folder) NamedInAnyForm(p Path) (Path, error) {
	return f.visibleName(p, f.names.NameInAnyForm)
}

func (f *Folder) visibleName(p Path, name func(path string) (string, error)) (Path, error) {
	named, err := f.nameBy(p, name)
	if err != nil || named == p ||
		!f.IsClosed(named) && (f.seesFile(named) || f.seesFolder(named) || f.view.Enters(named.text)) {
		return named, err
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

// isNamed returns the error of a path that differs from the name on the disk.
func (f *Folder) isNamed(p Path) error {
	named, err := f.name(p)
	if err == nil && named != p {
		err = missing(p)
	}
	return err
}

// SeesFile reports whether the file at p may be named. It need not exist.
func (f *Folder) SeesFile(p Path) bool {
	if p == Bookmarks() {
		return true
	}
	return f.isNamed(p) == nil && f.seesFile(p) && !f.IsClosed(p)
}

// SeesFolder reports whether the folder at p may be named. It need not exist.
func (f *Folder) SeesFolder(p Path) bool { return f.isNamed(p) == nil && f.seesFolder(p) }

// Renamed returns the path that the file from is to get where p is requested: its folder
// as the disk has it, and its last segment as requested if that is another spelling of the
// name of from. An invisible path stays as it is.
func (f *Folder) Renamed(from, p Path) (Path, error) {
	renamed, err := f.renamed(from, p)
	if err == nil && renamed != p && !f.SeesFile(renamed) && renamed.Folder() != from.Folder() {
		return p, nil
	}
	return renamed, err
}

func (f *Folder) renamed(from, p Path) (Path, error) {
	named, err := f.nameBy(p, f.names.NameInAnyForm)
	if err != nil || named != from {
		return named, err
	}
	return Path{text: named.text[:len(named.text)-len(named.Base())] + p.Base()}, nil
}
