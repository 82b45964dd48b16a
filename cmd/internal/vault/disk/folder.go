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
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/gateway/names"
	"vaultwicket/policy/access"
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

// Folder is an opened vault. It is safe for concurrent use.
type Folder struct {
	root  *os.Root
	sys   system.Calls
	view  View // nil sees everything
	names *names.Folder
	found func(files int) // called by a parallel walk; may be nil
	// redact replaces the secrets of a text that is read; nil replaces nothing.
	redact func(p Path, text []byte) ([]byte, error)
	series *series // of changes that become durable together; nil if each does by itself
	judge  *Judge  // nil closes no note
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
	return &Folder{root: root, sys: system.Retrying{Calls: system.Real{}, InUse: system.IsInUse, Sleep: time.Sleep}, names: names.In(func() (*os.Root, error) { return root.OpenRoot(".") })}, nil
}

// Close closes the folder; files that were opened from it stay open.
func (f *Folder) Close() error { return f.root.Close() }

// Info returns what is known about the folder itself, wherever it was moved.
func (f *Folder) Info() (fs.FileInfo, error) { return f.root.Stat(".") }

// Interpose has ask called before every call that changes the disk; an error of ask is
// that of the call, which is not made then. It is for tests of interrupted work.
func (f *Folder) Interpose(ask func() error) {
	var mu sync.Mutex // files are prepared by several goroutines
	f.sys = system.Interposed{Calls: f.sys, Ask: func() error {
		mu.Lock()
		defer mu.Unlock()
		return ask()
	}}
}

// Config returns the app's settings file of that name, or fs.ErrNotExist.
func (f *Folder) Config(name string) ([]byte, error) {
	dir, err := f.enter([]string{configFolder})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return rooted{dir: dir}.readAll(name, maxConfig)
}

// ConfigPath returns the name of a settings file in messages.
func ConfigPath(name string) string { return configFolder + "/" + name }

// Ignored returns the text of the file of patterns [access.IgnoreFile], or fs.ErrNotExist.
// No other path leads to it, so it is neither read nor written as a note. A link in its
// place is a [Refusal], and so is everything else that is no regular file.
func (f *Folder) Ignored() ([]byte, error) {
	return rooted{dir: f.root}.readAll(access.IgnoreFile, access.MaxIgnoreFile)
}

// enter opens the folder that the segments lead to. The caller closes it.
func (f *Folder) enter(segments []string) (*os.Root, error) {
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
	unlock := system.Lock(dir)
	return dir, func() { unlock(); dir.Close() }, nil
}

// step opens the sub-folder name of dir and makes sure that it is no link, nor became one
// meanwhile.
func step(dir *os.Root, name string) (*os.Root, error) {
	seen, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, &Refusal{Path: name, Reason: "is not a folder"}
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return unlessReplaced(sub, seen, name)
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
