package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// Overlay is what is planned for the files of a vault and not on the disk: the difference between the vault as it is and as
// it will be. A [Folder] over it is read as the vault will be (copy-on-write). Every read of a Folder goes through it;
// what changes the disk does not. It is safe for concurrent use.
type Overlay struct {
	mu      sync.RWMutex
	files   map[Path]*plannedFile // nil for one that is gone
	folders map[Path]bool         // those that are made; false for those that are removed
	// differing are the names in each folder that files or folders are about.
	differing map[Path]map[string]bool
	changed   []string // paths, in the order in which they were planned
	written   uint64   // how many texts
	names     *filenames.Folder
	spelled   sync.Once
}

// plannedFile is a file of an overlay.
type plannedFile struct {
	// from is where its bytes are on the disk, the zero Path for text.
	from Path
	text []byte
	info plannedInfo
	// stamp is one that no file on a disk has, and is never settled.
	stamp system.Stamp
}

// NewOverlay returns an overlay in which nothing differs from the disk.
func NewOverlay() *Overlay {
	return &Overlay{files: map[Path]*plannedFile{}, folders: map[Path]bool{}, differing: map[Path]map[string]bool{}}
}

// Over returns the same open folder, which is read as it will be when what is planned is on the disk. The names of an
// overlay are those of one vault.
func (f *Folder) Over(o *Overlay) *Folder {
	o.spelled.Do(func() {
		root := *f
		root.over = o
		o.names = filenames.Over(func() (filenames.Level, error) { return root.levelOf(Path{}) })
	})
	g := *f
	g.over = o
	g.names = o.names
	return &g
}

// Write plans a text for the file at p, with the permission bits and the time of modification that it will have.
func (o *Overlay) Write(p Path, text []byte, mode fs.FileMode, modified time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written++
	o.put(p, &plannedFile{
		text:  text,
		info:  plannedInfo{p.Base(), int64(len(text)), mode, modified},
		stamp: system.Stamp{Size: int64(len(text)), Modified: modified.UnixNano(), Changed: math.MaxInt64, Inode: o.written},
	})
}

// Place plans for the file at p the bytes that the file at from has on the disk.
func (o *Overlay) Place(p, from Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p == from { // it is where it was
		delete(o.files, p)
		o.note(p)
		return
	}
	o.put(p, &plannedFile{from: from})
}

// Remove plans that there is no file at p.
func (o *Overlay) Remove(p Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(p, nil)
}

// MakeFolder plans a folder with those above it.
func (o *Overlay) MakeFolder(p Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.makeFolder(p)
}

// RemoveFolder plans that there is no folder at p, of which nothing is left.
func (o *Overlay) RemoveFolder(p Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.folders[p] = false
	o.note(p)
}

// Source returns where the bytes of the file at p are on the disk, and its text if they are on none.
func (o *Overlay) Source(p Path) (from Path, text []byte) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	file := o.files[p]
	switch {
	case file == nil:
		return p, nil
	case file.from != (Path{}):
		return file.from, nil
	}
	return Path{}, file.text
}

// Folders returns the folders that are made, the highest first.
func (o *Overlay) Folders() (made []Path) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for p, isMade := range o.folders {
		if isMade && !o.hides(p) {
			made = append(made, p)
		}
	}
	slices.SortFunc(made, func(a, b Path) int { return strings.Compare(a.text, b.text) })
	return made
}

// Changed returns the paths that were planned, without the first so many of them.
func (o *Overlay) Changed(known int) []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.changed[known:len(o.changed):len(o.changed)]
}

// The functions below are called under the lock.

func (o *Overlay) put(p Path, file *plannedFile) {
	o.files[p] = file
	o.note(p)
	if file != nil {
		o.makeFolder(Path{p.Folder()})
	}
}

func (o *Overlay) makeFolder(p Path) {
	for ; p != (Path{}); p = (Path{p.Folder()}) {
		if isMade, known := o.folders[p]; !known || !isMade {
			o.folders[p] = true
			o.note(p)
		}
	}
}

func (o *Overlay) note(p Path) {
	in := Path{p.Folder()}
	if o.differing[in] == nil {
		o.differing[in] = map[string]bool{}
	}
	o.differing[in][p.Base()] = true
	o.changed = append(o.changed, p.text)
}

// hides reports whether a folder that is removed leads to p, or is at p.
func (o *Overlay) hides(p Path) bool {
	for ; p != (Path{}); p = (Path{p.Folder()}) {
		if isMade, known := o.folders[p]; known && !isMade {
			return true
		}
	}
	return false
}

// find returns what is planned for a file. isPlanned is false for one that is as on the disk.
func (o *Overlay) find(p Path) (file *plannedFile, isPlanned bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	file, isPlanned = o.files[p]
	if !isPlanned && o.hides(p) {
		return nil, true
	}
	return file, isPlanned
}

// differs reports whether something else is planned for a path than there is on the disk.
func (o *Overlay) differs(p Path) bool {
	_, isPlanned := o.find(p)
	return isPlanned
}

// text returns the text that is planned for a file.
func (o *Overlay) text(p Path) (text []byte, isPlanned bool) {
	file, _ := o.find(p)
	if file == nil || file.from != (Path{}) {
		return nil, false
	}
	return file.text, true
}

// folder says what is planned for the folder at p.
func (o *Overlay) folder(p Path) (isMade, isRemoved bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.folders[p], o.hides(p)
}

// namesIn returns the names in a folder for which something is planned.
func (o *Overlay) namesIn(p Path) (names []string) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for name := range o.differing[p] {
		names = append(names, name)
	}
	return names
}

// MayMake returns why no file can be made at p: its path is one that not every system and link can carry, or that may not be
// seen.
func (f *Folder) MayMake(p Path) error {
	if p == Bookmarks() {
		return nil
	}
	if err := f.admitNew(p); err != nil {
		return err
	}
	for _, folder := range f.MissingFolders(p) {
		if reason := unportable(folder.Base()); reason != "" {
			return &Refusal{Path: folder.Base(), Reason: reason}
		}
	}
	if reason := unportable(p.Base()); reason != "" {
		return &Refusal{Path: p.Base(), Reason: reason}
	}
	return nil
}

// open opens a file whose text is planned. For another one it returns where the bytes are on the disk.
func (o *Overlay) open(f *Folder, p Path) (file *File, from Path, err error) {
	known, isPlanned := o.find(p)
	switch {
	case isPlanned && known == nil:
		return nil, p, missing(p)
	case !isPlanned:
		return nil, p, nil
	case known.from != (Path{}):
		return nil, known.from, nil
	}
	return &File{content: &plannedText{bytes.NewReader(known.text), known.info}, Info: known.info}, p, nil
}

// plannedText is an open file of an overlay.
type plannedText struct {
	*bytes.Reader
	info plannedInfo
}

func (t *plannedText) Close() error               { return nil }
func (t *plannedText) Stat() (fs.FileInfo, error) { return t.info, nil }

// plannedInfo is what is known about a file or a folder of an overlay.
type plannedInfo struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func (i plannedInfo) Name() string       { return i.name }
func (i plannedInfo) Size() int64        { return i.size }
func (i plannedInfo) Mode() fs.FileMode  { return i.mode }
func (i plannedInfo) ModTime() time.Time { return i.modified }
func (i plannedInfo) IsDir() bool        { return i.mode.IsDir() }
func (i plannedInfo) Sys() any           { return nil }

// renamed is what is known about a file that has another name on the disk.
type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }

// folderInfo returns what is known about the folder at p, which may be seen.
func (o *Overlay) folderInfo(f *Folder, p Path) (fs.FileInfo, error) {
	at, err := o.place(f, p.segments())
	if err != nil {
		return nil, err
	}
	at.close()
	dir, err := f.enter(p.segments())
	if err != nil {
		return plannedInfo{name: p.Base(), mode: fs.ModeDir | 0o755, modified: time.Now()}, nil
	}
	defer dir.Close()
	return dir.Stat(".")
}

// count returns how many names there are in a folder.
func (o *Overlay) count(f *Folder, p Path) (int, error) {
	if _, isRemoved := o.folder(p); isRemoved {
		return 0, missing(p)
	}
	names, err := f.namesOnDisk(p)
	isMade, _ := o.folder(p)
	if err != nil && !isMade {
		return 0, err
	}
	for _, name := range o.namesIn(p) {
		if o.isThere(f, Path{p.text}.join(name), names[name]) {
			names[name] = true
		} else {
			delete(names, name)
		}
	}
	return len(names), nil
}

// isThere reports whether a file or a folder is at p. onDisk says whether there is one on the disk.
func (o *Overlay) isThere(f *Folder, p Path, onDisk bool) bool {
	file, isPlanned := o.find(p)
	isMade, isRemoved := o.folder(p)
	isPlannedToBe := file != nil || isMade
	isGone := isPlanned || isRemoved
	return isPlannedToBe || onDisk && !isGone
}

// join returns the path of a name in the folder p, which may be hidden.
func (p Path) join(name string) Path {
	if p.text == "" {
		return Path{text: name}
	}
	return Path{text: p.text + "/" + name}
}

// namesOnDisk returns all names in a folder on the disk.
func (f *Folder) namesOnDisk(p Path) (map[string]bool, error) {
	names := map[string]bool{}
	dir, err := f.enter(p.segments())
	if err != nil {
		return names, err
	}
	defer dir.Close()
	all, err := fs.ReadDir(dir.FS(), ".")
	for _, one := range all {
		names[one.Name()] = true
	}
	return names, err
}

// plannedPlace is a folder of an overlay.
type plannedPlace struct {
	over *Overlay
	in   *Folder
	path Path
	disk place // the same folder on the disk, nil if it is not there
}

// place opens a folder as it will be.
func (o *Overlay) place(f *Folder, segments []string) (place, error) {
	path := Path{text: strings.Join(segments, "/")}
	file, isPlanned := o.find(path)
	isMade, isRemoved := o.folder(path)
	switch {
	case isRemoved:
		return nil, missing(path)
	case isPlanned && file != nil:
		return nil, &Refusal{Path: path.Base(), Reason: "is not a folder"}
	}
	at, err := f.placeOnDisk(segments)
	switch {
	case err == nil:
		return plannedPlace{o, f, path, at}, nil
	case isMade:
		return plannedPlace{o, f, path, nil}, nil
	}
	return nil, err
}

func (p plannedPlace) close() {
	if p.disk != nil {
		p.disk.close()
	}
}

func (p plannedPlace) step(name string) (place, error) {
	return p.over.place(p.in, p.path.join(name).segments())
}

// lookAtFolder looks at a folder of the disk alone: what is planned is nowhere else.
func (p plannedPlace) lookAtFolder(name string) (fs.FileInfo, error) {
	isMade, isRemoved := p.over.folder(p.path.join(name))
	if isMade || isRemoved || p.disk == nil {
		return nil, missing(p.path.join(name))
	}
	return p.disk.lookAtFolder(name)
}

func (p plannedPlace) list() ([]listed, error) {
	var found []listed
	if p.disk != nil {
		var err error
		if found, err = p.disk.list(); err != nil {
			return found, err
		}
	}
	differing := map[string]bool{}
	for _, name := range p.over.namesIn(p.path) {
		differing[name] = true
	}
	kept := found[:0]
	for _, one := range found {
		at := p.path.join(one.name)
		_, isPlanned := p.over.find(at)
		isMade, isRemoved := p.over.folder(at)
		isAsItWas := !isPlanned && !isMade && !isRemoved
		if !differing[one.name] || isAsItWas {
			kept = append(kept, one)
			delete(differing, one.name)
		}
	}
	for name := range differing {
		at := p.path.join(name)
		file, isPlanned := p.over.find(at)
		isMade, isRemoved := p.over.folder(at)
		switch {
		case isPlanned && file != nil:
			kept = append(kept, listed{name, false})
		case isMade && !isRemoved:
			kept = append(kept, listed{name, true})
		}
	}
	return kept, nil
}

// source returns the open folder on the disk that has the bytes of a file, and their name there. text is the planned file in
// place of that. The caller calls leave.
func (p plannedPlace) source(name string) (at place, as string, text *plannedFile, leave func(), err error) {
	leave = func() {}
	file, isPlanned := p.over.find(p.path.join(name))
	switch {
	case isPlanned && file == nil, !isPlanned && p.disk == nil:
		return nil, "", nil, leave, missing(p.path.join(name))
	case !isPlanned:
		return p.disk, name, nil, leave, nil
	case file.from == (Path{}):
		return nil, "", file, leave, nil
	}
	at, err = p.in.placeOnDisk(file.from.parents())
	if err != nil {
		return nil, "", nil, leave, err
	}
	return at, file.from.Base(), nil, at.close, nil
}

func (p plannedPlace) info(name string) (fs.FileInfo, error) {
	at, as, text, leave, err := p.source(name)
	defer leave()
	switch {
	case err != nil:
		return nil, err
	case text != nil:
		return text.info, nil
	}
	info, err := at.info(as)
	if err != nil || as == name {
		return info, err
	}
	return renamed{info, name}, nil
}

func (p plannedPlace) stamp(name string) (system.Stamp, error) {
	at, as, text, leave, err := p.source(name)
	defer leave()
	switch {
	case err != nil:
		return system.Stamp{}, err
	case text != nil:
		return text.stamp, nil
	}
	return at.stamp(as)
}

func (p plannedPlace) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	at, as, text, leave, err := p.source(name)
	defer leave()
	switch {
	case err != nil:
		return nil, system.Stamp{}, err
	case text != nil:
		return append(buf[:0], text.text...), text.stamp, nil
	}
	return at.read(as, buf)
}

// plannedLevel is a folder of an overlay for the search of names.
type plannedLevel struct {
	over *Overlay
	in   *Folder
	path Path
	dir  *os.Root // nil if it is not on the disk
}

func (f *Folder) levelOf(p Path) (filenames.Level, error) {
	isMade, isRemoved := f.over.folder(p)
	if isRemoved {
		return nil, missing(p)
	}
	dir, err := f.enter(p.segments())
	if err != nil && !isMade {
		return nil, err
	}
	return plannedLevel{f.over, f, p, dir}, nil
}

func (l plannedLevel) Close() {
	if l.dir != nil {
		l.dir.Close()
	}
}

func (l plannedLevel) Enter(name string) (filenames.Level, error) {
	return l.in.levelOf(l.path.join(name))
}

func (l plannedLevel) Lstat(name string) (fs.FileInfo, error) {
	at := l.path.join(name)
	file, isPlanned := l.over.find(at)
	isMade, isRemoved := l.over.folder(at)
	switch {
	case isPlanned && file != nil: // only its name matters
		return plannedInfo{name: name, mode: newNote}, nil
	case isPlanned && !isMade, isRemoved:
		return nil, missing(at)
	}
	if l.dir != nil {
		info, err := l.dir.Lstat(name)
		if err == nil || !isMade || !errors.Is(err, fs.ErrNotExist) {
			return info, err
		}
	}
	if !isMade {
		return nil, missing(at)
	}
	return plannedInfo{name: name, mode: fs.ModeDir | 0o755}, nil
}

func (l plannedLevel) List() ([]string, error) {
	names, err := l.in.namesOnDisk(l.path)
	if err != nil && l.dir != nil {
		return nil, err
	}
	for _, name := range l.over.namesIn(l.path) {
		if l.over.isThere(l.in, l.path.join(name), names[name]) {
			names[name] = true
		} else {
			delete(names, name)
		}
	}
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	return all, nil
}
