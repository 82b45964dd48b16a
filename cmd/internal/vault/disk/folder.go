// Package disk is the only way to a vault's files. Everything starts from one
// os.Root, opened once, and goes on one path segment at a time: through further
// os.Roots, or where files are only looked at and read, through a place. What was
// checked in an open folder is done in that open folder, with names of one segment
// ([system.Calls]), so a folder that is exchanged for a link meanwhile leads nowhere.
//
// What it promises: nothing outside the vault is read or written; hidden files
// and folders do not exist, except the app's settings through [Folder.Config], one
// of which can be written, and the trash, where only what was put there is seen;
// only regular files are opened, and never so that a pipe could block; a crash
// at any point leaves the old note or the new one.
//
// Symbolic links are not followed at all. Those that lead outside would break
// the first promise, and those that stay inside are ignored by the app too.
// Of a hard link nobody can tell where its other names are, so where something of
// the vault is hidden, a file that has any is refused ([IsHardLinked]). Elsewhere it
// is a file; a write replaces it and so never reaches the other name.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/gateway/names"
)

// MaxNote is the size of the largest file that is read or written. The largest
// real notes are a few MiB; the limit is there because a change holds a note
// in memory twice.
const MaxNote = 128 << 20

// maxConfig bounds a settings file; real ones are kilobytes, except for the
// workspace of somebody who never closes a tab.
const maxConfig = 16 << 20

// configFolder is where the app keeps the settings of a vault. The app can be
// told to use another name, but leaves no trace of it in the vault.
const configFolder = ".obsidian"

// Folder is an opened vault. It is safe for concurrent use.
type Folder struct {
	root  *os.Root
	sys   system.Calls
	view  View // nil sees everything
	names *names.Folder
	found func(files int) // by a walk; nil if nobody counts
}

// Refusal says why something that is there is not taken for a note.
type Refusal struct {
	Path   string
	Reason string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%q %s", r.Path, r.Reason) }

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

// Info returns what is known about the folder itself, wherever it is by now.
func (f *Folder) Info() (fs.FileInfo, error) { return f.root.Stat(".") }

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

// step opens the sub-folder name of dir and makes sure that it is no link, nor
// became one meanwhile.
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

// unlessReplaced returns sub if it is the folder that was seen, and closes it if
// it is another one, such as the target of a link.
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

// IsMissing reports whether err means that no such file can be seen in the
// vault: it is not there, or what is there is no regular file.
func IsMissing(err error) bool {
	var refusal *Refusal
	return errors.Is(err, fs.ErrNotExist) || system.IsNoName(err) || errors.As(err, &refusal)
}

// Interpose has ask called before every call that changes the disk; an error of
// ask is that of the call, which is not made then. It is for tests of what
// becomes of work that the disk interrupts.
func (f *Folder) Interpose(ask func() error) { f.sys = system.Interposed{Calls: f.sys, Ask: ask} }
