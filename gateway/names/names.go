// Package names finds out by which name the disk knows a file. On many systems
// one file answers to several: other cases of its letters, other Unicode normal
// forms, short names such as PROJEC~1. Rules and records that knew the others
// could be passed by with one of them.
//
// What a folder lists is the name. It is asked for only where it can differ from
// the asked one: whether a folder takes spellings for one another is found out
// with another spelling of a name that is in it, and remembered for a while. So a
// folder that tells all spellings apart costs nothing most of the time.
//
// The package imports nothing of ours: the gateway uses it and so does the
// program that works in the vault.
package names

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"
)

// Folder finds names in one folder, at any depth. It is safe for use by several
// goroutines. The zero Folder is worthless.
type Folder struct {
	open   func() (level, error)
	memory *memory
}

// In returns what finds names in the folder that open opens. It is called when
// something is not remembered, and closed afterwards. Links are not followed.
func In(open func() (*os.Root, error)) *Folder {
	return newFolder(func() (level, error) {
		root, err := open()
		if err != nil {
			return nil, err
		}
		return rooted{root}, nil
	})
}

func newFolder(open func() (level, error)) *Folder {
	return &Folder{open: open, memory: newMemory(time.Now)}
}

// Name returns a path, segments joined by slashes, with the name in place of each
// segment by which its folder lists it. From the first segment on that is not
// there, the path is as it was asked for. The error is fs.ErrNotExist for what
// answers to a name and is listed under none, and that of the folder if it cannot
// be opened.
func (f *Folder) Name(path string) (string, error) {
	if path == "" || f.memory.tellsAll(path) {
		return path, nil
	}
	at, err := f.open()
	if err != nil {
		return "", err
	}
	defer func() { at.close() }()
	named, rest := "", path
	for rest != "" {
		asked, more, _ := strings.Cut(rest, "/")
		found, err := f.nameIn(at, named, asked)
		if err != nil {
			return "", err
		}
		if found.info == nil {
			return join(named, rest), nil
		}
		named, rest = join(named, found.name), more
		if rest == "" || !found.info.IsDir() {
			break
		}
		next, err := at.enter(found.name)
		if err != nil {
			break // nothing can be reached by that path
		}
		at.close()
		at = next
	}
	return join(named, rest), nil
}

// entry is what a name leads to. Without info there is nothing.
type entry struct {
	name string
	info fs.FileInfo
}

// nameIn returns what a folder has under the name asked. folder is its path.
func (f *Folder) nameIn(at level, folder, asked string) (entry, error) {
	info, err := at.lstat(asked)
	if err != nil {
		return entry{name: asked}, nil // it cannot be reached by that name
	}
	seen := entry{asked, info}
	if f.memory.tells(folder, asked) || f.learn(at, folder, seen) && f.memory.tells(folder, asked) {
		return seen, nil
	}
	return f.listed(at, folder, seen)
}

// learn finds out with the other spellings of a name whether the folder takes
// them for the same. It reports whether it found out anything.
func (f *Folder) learn(at level, folder string, seen entry) (learned bool) {
	if runtime.GOOS == "windows" || f.memory.folds(folder) {
		return false // any name may be a short one; to list is as fast as to ask
	}
	if other := otherCase(seen.name); other != seen.name {
		apart := f.apart(at, seen, other)
		f.memory.note(folder, tellsCase, apart)
		learned = true
	}
	if other := otherForm(seen.name); other != seen.name {
		f.memory.note(folder, tellsForm, f.apart(at, seen, other))
		learned = true
	}
	return learned
}

// apart reports whether another spelling leads to another file, or to none.
func (f *Folder) apart(at level, seen entry, other string) bool {
	info, err := at.lstat(other)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(seen.info, info)
}

// listed returns what was seen under the name that its folder lists.
func (f *Folder) listed(at level, folder string, seen entry) (entry, error) {
	stamp := stampOf(at)
	if f.memory.lists(folder, stamp, seen.name) {
		return seen, nil
	}
	begun := f.memory.now()
	names, err := at.list()
	if err != nil {
		return entry{}, err
	}
	f.memory.keep(folder, stamp, begun, names)
	name, ok := pick(at, names, seen)
	if !ok {
		return entry{}, &fs.PathError{Op: "list", Path: seen.name, Err: fs.ErrNotExist}
	}
	if name == seen.name {
		f.learnFrom(at, folder, names)
	}
	return entry{name, seen.info}, nil
}

// learnFrom has one of the names of a folder tell about it, for those that say
// nothing themselves, such as 2026.
func (f *Folder) learnFrom(at level, folder string, names []string) {
	for _, name := range names {
		if otherCase(name) == name {
			continue
		}
		if info, err := at.lstat(name); err == nil {
			f.learn(at, folder, entry{name, info})
		}
		return
	}
}

// pick returns which of the names of a folder is that of the file that was seen:
// the one it was seen under, another spelling of it, or any that leads to it.
func pick(at level, names []string, seen entry) (name string, ok bool) {
	var spellings, others []string
	for _, name := range names {
		switch {
		case name == seen.name:
			return name, true
		case fold(name) == fold(seen.name):
			spellings = append(spellings, name)
		default:
			others = append(others, name)
		}
	}
	for _, name := range append(spellings, others...) {
		if info, err := at.lstat(name); err == nil && os.SameFile(seen.info, info) {
			return name, true
		}
	}
	if len(spellings) == 1 {
		return spellings[0], true // the file system gives one file several identities
	}
	return "", false
}

func join(folder, name string) string {
	if folder == "" || name == "" {
		return folder + name
	}
	return folder + "/" + name
}
