// Package filenames finds the name of a file as it is stored on the disk. On many systems, one
// file can be opened by several names: with letters in another case, in another Unicode normal
// form, or by a short name such as PROJEC~1. With such a name, rules and records could be
// bypassed.
//
// The stored name is the one that the folder lists. A folder is only listed if the stored name
// may differ from the given one. Whether a folder ignores case or normal form is tested with
// another spelling of a name in it, and cached for a while, so that names in a folder that
// distinguishes all spellings are usually found without any system call.
//
// [Sort] sorts names as the app does.
//
// The package is used by the gateway and by the embedded program.
package filenames

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folder finds the stored names of files in a folder, at any depth. It is safe for concurrent use.
// It is created by [In] or [Over].
type Folder struct {
	open   func() (level, error)
	memory *memory
}

// In returns the Folder for the root that open opens. It is opened if a name is not cached, and
// closed afterwards. Links are not followed.
func In(open func() (*os.Root, error)) *Folder {
	return newFolder(func() (level, error) {
		root, err := open()
		if err != nil {
			return nil, err
		}
		return rooted{root}, nil
	})
}

// Level is an open folder of a tree that is not entirely on a disk, see [Over]. Its methods are like those of os.Root.
type Level interface {
	Lstat(name string) (fs.FileInfo, error)
	LstatOnDisk(name string) (fs.FileInfo, error) // of the file that the disk has now
	List() ([]string, error)
	Enter(name string) (Level, error)
	Close()
}

// Over returns the Folder for the tree whose root open opens. Listings are not cached, because its folders have no
// modification times.
func Over(open func() (Level, error)) *Folder {
	return newFolder(func() (level, error) {
		root, err := open()
		if err != nil {
			return nil, err
		}
		return overTree{root}, nil
	})
}

// overTree adapts a Level to level.
type overTree struct{ level Level }

func (o overTree) lstat(name string) (fs.FileInfo, error)       { return o.level.Lstat(name) }
func (o overTree) lstatOnDisk(name string) (fs.FileInfo, error) { return o.level.LstatOnDisk(name) }
func (o overTree) list() ([]string, error)                      { return o.level.List() }
func (o overTree) info() (fs.FileInfo, error)                   { return nil, errors.ErrUnsupported }
func (o overTree) close()                                       { o.level.Close() }

func (o overTree) enter(name string) (level, error) {
	sub, err := o.level.Enter(name)
	if err != nil {
		return nil, err
	}
	return overTree{sub}, nil
}

func newFolder(open func() (level, error)) *Folder {
	return &Folder{
		open:   open,
		memory: &memory{now: time.Now, sensitivities: map[string]cachedSensitivity{}, listings: map[string]listing{}},
	}
}

// Name returns path, whose segments are separated by slashes, with each segment as its folder
// lists it. From the first segment on that does not exist, the path is returned as given. The
// error is fs.ErrNotExist if a file can be opened but is not listed under any name; otherwise it
// is that of opening or listing the folder.
func (f *Folder) Name(path string) (string, error) {
	if path == "" || f.memory.distinguishesAll(path) {
		return path, nil
	}
	at, err := f.open()
	if err != nil {
		return "", err
	}
	defer func() { at.close() }()
	named := ""
	rest := path
	for rest != "" {
		segment, more, _ := strings.Cut(rest, "/")
		info, err := at.lstat(segment)
		if err != nil {
			break // nothing can be reached by that name
		}
		found := entry{segment, info}
		isStored := f.memory.distinguishes(named, segment)
		if !isStored && f.learn(at, named, found) {
			isStored = f.memory.distinguishes(named, segment)
		}
		if !isStored {
			found, err = f.asListed(at, named, found)
			if err != nil {
				return "", err
			}
		}
		named = join(named, found.name)
		rest = more
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

// NameInAnyForm is [Folder.Name] for a path from a caller or a setting. If a folder has no file with the name in a
// segment, but exactly one whose name differs from it only in Unicode normal form, the segment means that file.
func (f *Folder) NameInAnyForm(path string) (string, error) {
	path, err := f.Name(path)
	if err != nil || isASCII(path) {
		return path, err
	}
	at, err := f.open()
	if err != nil {
		return "", err
	}
	defer func() { at.close() }()
	named := ""
	rest := path
	for {
		segment, more, isFolder := strings.Cut(rest, "/")
		stored, ok := storedName(at, segment)
		if !ok {
			break
		}
		named = join(named, stored)
		rest = more
		info, err := at.lstat(stored)
		if err != nil || !isFolder || !info.IsDir() {
			break
		}
		next, err := at.enter(stored)
		if err != nil {
			break
		}
		at.close()
		at = next
	}
	return join(named, rest), nil
}

// storedName returns segment if the folder has a file with that name, otherwise the only listed name with the same
// normal form. ok is false if there is no such name, or more than one.
func storedName(at level, segment string) (name string, ok bool) {
	_, err := at.lstat(segment)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || isASCII(segment) {
		return segment, err == nil
	}
	names, err := at.list()
	if err != nil {
		return "", false
	}
	form := norm.NFC.String(segment)
	for _, other := range names {
		if norm.NFC.String(other) != form {
			continue
		}
		if ok {
			return "", false
		}
		name = other
		ok = true
	}
	return name, ok
}

// entry is a name with the file to which it leads.
type entry struct {
	name string
	info fs.FileInfo
}

// learn tests with other spellings of a name whether the folder distinguishes
// them. It reports whether it learned anything.
func (f *Folder) learn(at level, folder string, seen entry) (learned bool) {
	if runtime.GOOS == "windows" || f.memory.folds(folder) {
		return false // on Windows a name may be a short one, and listing is as fast; a folder that folds is known already
	}
	if !os.SameFile(seen.info, seen.info) {
		return false // the file is not on the disk, so its name says nothing about the folder
	}
	if other := otherCase(seen.name); other != seen.name {
		isDifferent := f.isOtherFile(at, seen, other)
		f.memory.record(folder, distinguishesCase, isDifferent)
		learned = true
	}
	if other := otherForm(seen.name); other != seen.name {
		f.memory.record(folder, distinguishesForm, f.isOtherFile(at, seen, other))
		learned = true
	}
	return learned
}

// isOtherFile reports whether another spelling leads to a different file, or to none.
func (f *Folder) isOtherFile(at level, seen entry, other string) bool {
	info, err := at.lstatOnDisk(other)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(seen.info, info)
}

// asListed returns the entry seen with the name that its folder lists.
func (f *Folder) asListed(at level, folder string, seen entry) (entry, error) {
	var modified time.Time // zero if it is not known
	if info, err := at.info(); err == nil {
		modified = info.ModTime()
	}
	if f.memory.hasListed(folder, modified, seen.name) {
		return seen, nil
	}
	begun := f.memory.now()
	names, err := at.list()
	if err != nil {
		return entry{}, err
	}
	f.memory.store(folder, modified, begun, names)
	name, ok := nameOfEntry(at, names, seen)
	if !ok {
		return entry{}, &fs.PathError{Op: "list", Path: seen.name, Err: fs.ErrNotExist}
	}
	if name == seen.name { // it may have no letters, as 2026 does, and then says nothing: test one that has
		if i := slices.IndexFunc(names, func(name string) bool { return otherCase(name) != name }); i >= 0 {
			if info, err := at.lstat(names[i]); err == nil {
				f.learn(at, folder, entry{names[i], info})
			}
		}
	}
	return entry{name, seen.info}, nil
}

// nameOfEntry returns the name in the listing that leads to the file seen: its own name, otherwise
// another spelling of it, otherwise any other name. If no name leads to it, the only other spelling is returned.
func nameOfEntry(at level, names []string, seen entry) (name string, ok bool) {
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
		return spellings[0], true // some file systems give a file several identities
	}
	return "", false
}

func join(folder, name string) string {
	if folder == "" || name == "" {
		return folder + name
	}
	return folder + "/" + name
}

// Identity returns the unique path of a folder: absolute, without links, and with each segment as it is
// stored on the disk. As far as that cannot be determined, the path is as given.
func Identity(folder string) string {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return folder
	}
	abs = withoutPrefix(abs)
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	volume := filepath.VolumeName(abs)
	top := volume + string(filepath.Separator)
	rest := strings.Trim(filepath.ToSlash(abs[len(volume):]), "/")
	named, err := newFolder(func() (level, error) { return plain(top), nil }).Name(rest)
	if err != nil {
		named = rest
	}
	return strings.ToUpper(volume) + string(filepath.Separator) + filepath.FromSlash(named)
}

// withoutPrefix removes the prefix of a Windows path that disables the usual rules
// for names: \\?\C:\Vault becomes C:\Vault.
func withoutPrefix(path string) string {
	rest, ok := strings.CutPrefix(path, `\\?\`)
	switch {
	case !ok:
		return path
	case len(rest) >= 4 && strings.EqualFold(rest[:4], `UNC\`):
		return `\\` + rest[4:]
	case filepath.VolumeName(rest) != "":
		return rest
	}
	return path
}

const (
	// sensitivityLifetime is how long it is cached whether a folder distinguishes spellings:
	// another folder may be mounted in its place.
	sensitivityLifetime = 30 * time.Second
	// settling is how old a change of a folder must be, so that the next change has a different
	// modification time: FAT has a resolution of two seconds.
	settling = 2 * time.Second
	// maxFolders limits the folders whose sensitivity is cached, maxNames the names in all cached listings.
	maxFolders = 4096
	maxNames   = 100_000
)

// sensitivity says which spellings of a name a folder distinguishes.
type sensitivity uint8

const (
	distinguishesCase sensitivity = 1 << iota // names that differ in case are different files
	distinguishesForm                         // names that differ in normal form are different files
	foldsNames                                // the folder ignores case or form; excludes the other two
)

// memory caches what was learned about folders, by path.
type memory struct {
	now func() time.Time

	mu            sync.Mutex
	sensitivities map[string]cachedSensitivity
	listings      map[string]listing
	names         int // number of names in all listings
}

// cachedSensitivity is the sensitivity of a folder and when it was first tested.
type cachedSensitivity struct {
	sensitivity
	at time.Time
}

// listing has the names in a folder and the modification time of the folder.
type listing struct {
	modified time.Time
	names    map[string]struct{}
}

// distinguishesAll reports whether every folder on the path is known to distinguish its name in the path
// from all other spellings, so that the path is as stored on the disk.
func (m *memory) distinguishesAll(path string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	folder := ""
	rest := path
	for rest != "" {
		segment, more, _ := strings.Cut(rest, "/")
		if !m.isDistinct(folder, segment, now) {
			return false
		}
		folder = path[:len(path)-len(rest)+len(segment)]
		rest = more
	}
	return true
}

// distinguishes reports whether a folder is known to distinguish segment from all its other spellings.
func (m *memory) distinguishes(folder, segment string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isDistinct(folder, segment, m.now())
}

// isDistinct is distinguishes at a given time. The caller holds m.mu.
func (m *memory) isDistinct(folder, segment string, now time.Time) bool {
	// The name may be a short name, or end with characters that some file systems ignore.
	isOdd := strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " ") || strings.Contains(segment, "~")
	// Letters have another case, and characters beyond ASCII may have another normal form.
	mayVary := strings.ContainsFunc(
		segment,
		func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= utf8.RuneSelf },
	)
	if !isOdd && !mayVary && runtime.GOOS != "windows" { // on Windows, it could be a short name
		return true // it has no other spelling
	}
	l, ok := m.sensitivities[folder]
	isTrusted := ok && now.Sub(l.at) <= sensitivityLifetime && l.sensitivity&distinguishesCase != 0
	if !isTrusted || isOdd {
		return false
	}
	return l.sensitivity&distinguishesForm != 0 || otherForm(segment) == segment
}

// folds reports whether a folder is known to ignore case or normal form.
func (m *memory) folds(folder string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.sensitivities[folder]
	return ok && l.sensitivity == foldsNames && m.now().Sub(l.at) <= sensitivityLifetime
}

// record caches whether a folder distinguishes names that differ in kind: distinguishesCase or distinguishesForm.
func (m *memory) record(folder string, kind sensitivity, isDifferent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.sensitivities[folder]
	if now := m.now(); now.Sub(l.at) > sensitivityLifetime {
		l = cachedSensitivity{at: now}
	}
	switch {
	case !isDifferent:
		l.sensitivity = foldsNames
	case l.sensitivity != foldsNames:
		l.sensitivity |= kind
	}
	if len(m.sensitivities) >= maxFolders {
		clear(m.sensitivities)
	}
	m.sensitivities[strings.Clone(folder)] = l
}

// hasListed reports whether the cached listing of a folder contains name and is up to date.
func (m *memory) hasListed(folder string, modified time.Time, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.listings[folder]
	_, listed := l.names[name]
	isUnchanged := !modified.IsZero() && l.modified.Equal(modified)
	return ok && listed && isUnchanged
}

// store caches the names in a folder. It does nothing if the folder was changed so shortly before
// begun that the next change could have the same modification time.
func (m *memory) store(folder string, modified, begun time.Time, names []string) {
	if modified.IsZero() || modified.Add(settling).After(begun) || len(names) > maxNames {
		return
	}
	l := listing{modified, make(map[string]struct{}, len(names))}
	for _, name := range names {
		l.names[name] = struct{}{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names += len(names) - len(m.listings[folder].names)
	if m.names > maxNames {
		clear(m.listings)
		m.names = len(names)
	}
	m.listings[strings.Clone(folder)] = l
}

// otherCase returns a name with the case of every letter changed.
func otherCase(name string) string {
	return strings.Map(func(r rune) rune {
		if lower := unicode.ToLower(r); lower != r {
			return lower
		}
		return unicode.ToUpper(r)
	}, name)
}

// otherForm returns a name in another Unicode normal form; the name itself if all forms are the same.
func otherForm(name string) string {
	if isASCII(name) {
		return name
	}
	if composed := norm.NFC.String(name); composed != name {
		return composed
	}
	return norm.NFD.String(name)
}

// Same reports whether two names are equal, ignoring case and normal form.
func Same(a, b string) bool { return fold(a) == fold(b) }

// fold returns a text that is the same for all cases and normal forms of a name.
func fold(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

func isASCII(name string) bool {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// level is an open folder.
type level interface {
	lstat(name string) (fs.FileInfo, error)
	lstatOnDisk(name string) (fs.FileInfo, error) // like lstat, but differs in a Level
	list() ([]string, error)
	enter(name string) (level, error)
	info() (fs.FileInfo, error)
	close()
}

// rooted is a folder that names cannot lead out of.
type rooted struct{ dir *os.Root }

func (r rooted) lstat(name string) (fs.FileInfo, error)       { return r.dir.Lstat(name) }
func (r rooted) lstatOnDisk(name string) (fs.FileInfo, error) { return r.lstat(name) }
func (r rooted) list() ([]string, error)                      { return namesIn(r.dir.Open(".")) }
func (r rooted) info() (fs.FileInfo, error)                   { return r.dir.Stat(".") }
func (r rooted) close()                                       { r.dir.Close() }

func (r rooted) enter(name string) (level, error) {
	sub, err := r.dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return rooted{sub}, nil
}

// plain is a folder given by its path. Unlike other levels, it need not be readable.
type plain string

func (p plain) lstat(name string) (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(string(p), name))
}
func (p plain) lstatOnDisk(name string) (fs.FileInfo, error) { return p.lstat(name) }
func (p plain) list() ([]string, error)                      { return namesIn(os.Open(string(p))) }
func (p plain) info() (fs.FileInfo, error)                   { return os.Stat(string(p)) }
func (p plain) enter(name string) (level, error)             { return plain(filepath.Join(string(p), name)), nil }
func (p plain) close()                                       {}

func namesIn(folder *os.File, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return folder.Readdirnames(-1)
}
