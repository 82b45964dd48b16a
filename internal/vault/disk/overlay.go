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

// Overlay is a set of planned changes to the files of a vault that are not on the disk. A [Folder] with an
// overlay is read as the vault will be after them (copy-on-write). All reads of a Folder use its overlay;
// methods that change the disk ignore it. It is safe for concurrent use.
type Overlay struct {
	mu      sync.RWMutex
	files   map[Path]*plannedFile // nil for a removed file
	folders map[Path]bool         // true for a created folder, false for a removed one
	// differing has, for each folder, the names of its planned files and folders.
	differing map[Path]map[string]bool
	changed   []string          // paths, in the order of planning
	written   uint64            // number of planned texts
	names     *filenames.Folder // of the vault with the changes; set once by namesOnce, not guarded by mu
	namesOnce sync.Once
}

// plannedFile is a planned file of an overlay.
type plannedFile struct {
	// from is the file on the disk with the bytes; the zero Path if text has them.
	from Path
	text []byte
	info plannedInfo
	// stamp is unlike that of any file on a disk, and is never settled.
	stamp system.Stamp
}

// NewOverlay returns an overlay without changes.
func NewOverlay() *Overlay {
	return &Overlay{files: map[Path]*plannedFile{}, folders: map[Path]bool{}, differing: map[Path]map[string]bool{}}
}

// Over returns the same open folder as it will be once the planned changes are on the disk. An overlay can only
// be used with one vault.
func (f *Folder) Over(o *Overlay) *Folder {
	o.namesOnce.Do(func() {
		root := *f
		root.overlay = o
		o.names = filenames.Over(func() (filenames.Level, error) { return root.levelOf(Path{}) })
	})
	g := *f
	g.overlay = o
	g.names = o.names
	return &g
}

// Write plans a file at p with a text, permission bits and a modification time.
func (o *Overlay) Write(p Path, text []byte, mode fs.FileMode, modified time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written++
	o.put(p, &plannedFile{
		text: text,
		info: plannedInfo{p.Base(), int64(len(text)), mode, modified},
		stamp: system.Stamp{
			Size:     int64(len(text)),
			Modified: modified.UnixNano(),
			Changed:  math.MaxInt64,
			Inode:    o.written,
		},
	})
}

// Place plans a file at p with the bytes that the file at from has on the disk.
func (o *Overlay) Place(p, from Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p == from { // it is back in its original place
		delete(o.files, p)
		o.recordName(p)
		o.makeFolder(Path{p.Folder()}) // it may have been removed meanwhile
		return
	}
	o.put(p, &plannedFile{from: from})
}

// Remove plans the removal of the file at p.
func (o *Overlay) Remove(p Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(p, nil)
}

// MakeFolder plans that the folder at p and all folders above it exist.
func (o *Overlay) MakeFolder(p Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.makeFolder(p)
}

// RemoveFolder plans the removal of the empty folder at p.
func (o *Overlay) RemoveFolder(p Path) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.folders[p] = false
	o.recordName(p)
}

// Source returns the file on the disk that has the bytes of the file at p, or its text if they are not on the
// disk.
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

// Folders returns the folders that must exist once the changes are made, also those that the disk has, each after
// the folder above it.
func (o *Overlay) Folders() (created []Path) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for p, isMade := range o.folders {
		if isMade && !o.hides(p) {
			created = append(created, p)
		}
	}
	slices.SortFunc(created, func(a, b Path) int { return strings.Compare(a.text, b.text) })
	return created
}

// Changed returns the planned paths of files, and those of folders below which files may differ, in order and without the
// first known ones.
func (o *Overlay) Changed(known int) []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.changed[known:len(o.changed):len(o.changed)]
}

// put plans a file at p, or its removal if file is nil. The caller holds o.mu.
func (o *Overlay) put(p Path, file *plannedFile) {
	o.files[p] = file
	o.recordName(p)
	if file != nil {
		o.makeFolder(Path{p.Folder()})
	}
}

// makeFolder is MakeFolder for a caller that holds o.mu.
func (o *Overlay) makeFolder(p Path) {
	for ; p != (Path{}); p = (Path{p.Folder()}) {
		isMade, known := o.folders[p]
		if isMade {
			continue
		}
		o.folders[p] = true
		o.nameDiffers(p)
		if known { // it was removed, and the files on the disk below it with it
			o.changed = append(o.changed, p.text)
		}
	}
}

// recordName notes that p, or a file below it, may differ from the disk. The caller holds o.mu.
func (o *Overlay) recordName(p Path) {
	o.nameDiffers(p)
	o.changed = append(o.changed, p.text)
}

// nameDiffers notes that the name of p may differ in the listing of its folder. The caller holds o.mu.
func (o *Overlay) nameDiffers(p Path) {
	folder := Path{p.Folder()}
	if o.differing[folder] == nil {
		o.differing[folder] = map[string]bool{}
	}
	o.differing[folder][p.Base()] = true
}

// hides reports whether the folder at p, or one above it, is removed. The caller holds o.mu.
func (o *Overlay) hides(p Path) bool {
	for ; p != (Path{}); p = (Path{p.Folder()}) {
		if isMade, known := o.folders[p]; known && !isMade {
			return true
		}
	}
	return false
}

// find returns the planned file at p, which is nil if its removal or that of a folder above it is planned. isPlanned is
// false if the file is as on the disk.
func (o *Overlay) find(p Path) (file *plannedFile, isPlanned bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	file, isPlanned = o.files[p]
	if !isPlanned && o.hides(p) {
		return nil, true
	}
	return file, isPlanned
}

// differs reports whether the planned file at a path differs from the disk.
func (o *Overlay) differs(p Path) bool {
	_, isPlanned := o.find(p)
	return isPlanned
}

// text returns the planned text of a file.
func (o *Overlay) text(p Path) (text []byte, isPlanned bool) {
	file, _ := o.find(p)
	if file == nil || file.from != (Path{}) {
		return nil, false
	}
	return file.text, true
}

// folder reports whether the folder at p is planned or removed.
func (o *Overlay) folder(p Path) (isMade, isRemoved bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.folders[p], o.hides(p)
}

// namesIn returns the names in a folder for which changes are planned.
func (o *Overlay) namesIn(p Path) (names []string) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for name := range o.differing[p] {
		names = append(names, name)
	}
	return names
}

// MayMake returns an error if a file must not be created at p: its path is invisible, or contains a new name that some
// systems or links do not support. The file with the bookmarks is the app's own and always permitted.
func (f *Folder) MayMake(p Path) error {
	if p == Bookmarks() {
		return nil
	}
	if err := f.admitNew(p); err != nil {
		return err
	}
	folders, err := f.MissingFolders(p)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if reason := unportable(folder.Base()); reason != "" {
			return &Refusal{Path: folder.Base(), Reason: reason}
		}
	}
	if reason := unportable(p.Base()); reason != "" {
		return &Refusal{Path: p.Base(), Reason: reason}
	}
	return nil
}

// open opens a file with a planned text. For any other file, it returns the path on the disk with the bytes.
func (o *Overlay) open(f *Folder, p Path) (file *File, from Path, err error) {
	planned, isPlanned := o.find(p)
	switch {
	case isPlanned && planned == nil:
		return nil, p, missing(p)
	case !isPlanned:
		return nil, p, nil
	case planned.from != (Path{}):
		return nil, planned.from, nil
	}
	return &File{content: &plannedText{bytes.NewReader(planned.text), planned.info}, Info: planned.info}, p, nil
}

// plannedText is an open file with a planned text.
type plannedText struct {
	*bytes.Reader
	info plannedInfo
}

func (t *plannedText) Close() error               { return nil }
func (t *plannedText) Stat() (fs.FileInfo, error) { return t.info, nil }

// plannedInfo describes a planned file or folder.
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

// renamed describes a file that has another name on the disk.
type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }

// folderInfo returns information about the visible folder at p.
func (o *Overlay) folderInfo(f *Folder, p Path) (fs.FileInfo, error) {
	at, err := o.place(f, p.segments())
	if err != nil {
		return nil, err
	}
	at.close()
	dir, err := f.enter(p.segments())
	if IsMissing(err) {
		return plannedInfo{name: p.Base(), mode: fs.ModeDir | 0o755, modified: time.Now()}, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Stat(".")
}

// count returns the number of names in a folder.
func (o *Overlay) count(f *Folder, p Path) (int, error) {
	if _, isRemoved := o.folder(p); isRemoved {
		return 0, missing(p)
	}
	names, err := f.namesOnDisk(p)
	if err := o.exceptMade(p, err); err != nil {
		return 0, err
	}
	for _, name := range o.namesIn(p) {
		if o.exists(f, p.join(name), names[name]) {
			names[name] = true
		} else {
			delete(names, name)
		}
	}
	return len(names), nil
}

// exceptMade returns the error of opening the folder at p on the disk, or nil if it is only missing there and will be
// made. A folder that cannot be read is not one without notes.
func (o *Overlay) exceptMade(p Path, err error) error {
	if isMade, _ := o.folder(p); isMade && IsMissing(err) {
		return nil
	}
	return err
}

// exists reports whether there is a file or folder at p. onDisk tells whether there is one on the disk.
func (o *Overlay) exists(f *Folder, p Path, onDisk bool) bool {
	file, isPlanned := o.find(p)
	isMade, isRemoved := o.folder(p)
	if file != nil || isMade {
		return true
	}
	return onDisk && !isPlanned && !isRemoved
}

// join returns the path of a name, which may be hidden, in the folder p.
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
	entries, err := fs.ReadDir(dir.FS(), ".")
	for _, entry := range entries {
		names[entry.Name()] = true
	}
	return names, err
}

// plannedPlace is a folder with planned changes.
type plannedPlace struct {
	overlay *Overlay
	vault   *Folder
	path    Path
	disk    place // the same folder on the disk; nil if it does not exist there
}

// place opens a folder as it is planned.
func (o *Overlay) place(f *Folder, segments []string) (place, error) {
	path := Path{text: strings.Join(segments, "/")}
	file, isPlanned := o.find(path)
	_, isRemoved := o.folder(path)
	switch {
	case isRemoved:
		return nil, missing(path)
	case isPlanned && file != nil:
		return nil, &Refusal{Path: path.Base(), Reason: "is not a folder"}
	}
	at, err := f.placeOnDisk(segments)
	if err := o.exceptMade(path, err); err != nil {
		return nil, err
	}
	return plannedPlace{o, f, path, at}, nil
}

func (p plannedPlace) close() {
	if p.disk != nil {
		p.disk.close()
	}
}

func (p plannedPlace) step(name string) (place, error) {
	return p.overlay.place(p.vault, p.path.join(name).segments())
}

// lookAtFolder returns information about a folder on the disk in which nothing is planned. It is used to see whether
// listing the folder would fetch its names from a cloud: a change in the folder does so anyway.
func (p plannedPlace) lookAtFolder(name string) (fs.FileInfo, error) {
	isMade, isRemoved := p.overlay.folder(p.path.join(name))
	if isMade || isRemoved || p.disk == nil {
		return nil, missing(p.path.join(name))
	}
	return p.disk.lookAtFolder(name)
}

// list returns the entries on the disk for which nothing is planned, then those that are planned.
func (p plannedPlace) list() ([]listed, error) {
	var entries []listed
	if p.disk != nil {
		var err error
		if entries, err = p.disk.list(); err != nil {
			return entries, err
		}
	}
	differing := map[string]bool{}
	for _, name := range p.overlay.namesIn(p.path) {
		differing[name] = true
	}
	result := entries[:0]
	for _, entry := range entries {
		at := p.path.join(entry.name)
		_, isPlanned := p.overlay.find(at)
		isMade, isRemoved := p.overlay.folder(at)
		isAsOnDisk := !isPlanned && !isMade && !isRemoved
		if !differing[entry.name] || isAsOnDisk {
			result = append(result, entry)
			delete(differing, entry.name)
		}
	}
	// For the names that remain in differing, only the plan counts.
	for name := range differing {
		at := p.path.join(name)
		file, isPlanned := p.overlay.find(at)
		isMade, isRemoved := p.overlay.folder(at)
		switch {
		case isPlanned && file != nil:
			result = append(result, listed{name, false})
		case isMade && !isRemoved:
			result = append(result, listed{name, true})
		}
	}
	return result, nil
}

// source returns the open folder on the disk with the bytes of a file, and their name there; or, instead of
// these, the planned file with its text. The caller must call leave.
func (p plannedPlace) source(name string) (at place, nameThere string, planned *plannedFile, leave func(), err error) {
	leave = func() {}
	file, isPlanned := p.overlay.find(p.path.join(name))
	switch {
	case isPlanned && file == nil, !isPlanned && p.disk == nil:
		return nil, "", nil, leave, missing(p.path.join(name))
	case !isPlanned:
		return p.disk, name, nil, leave, nil
	case file.from == (Path{}):
		return nil, "", file, leave, nil
	}
	at, err = p.vault.placeOnDisk(file.from.parents())
	if err != nil {
		return nil, "", nil, leave, err
	}
	return at, file.from.Base(), nil, at.close, nil
}

func (p plannedPlace) info(name string) (fs.FileInfo, error) {
	at, nameThere, planned, leave, err := p.source(name)
	defer leave()
	switch {
	case err != nil:
		return nil, err
	case planned != nil:
		return planned.info, nil
	}
	info, err := at.info(nameThere)
	if err != nil || nameThere == name {
		return info, err
	}
	return renamed{info, name}, nil
}

func (p plannedPlace) stamp(name string) (system.Stamp, error) {
	at, nameThere, planned, leave, err := p.source(name)
	defer leave()
	switch {
	case err != nil:
		return system.Stamp{}, err
	case planned != nil:
		return planned.stamp, nil
	}
	return at.stamp(nameThere)
}

func (p plannedPlace) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	at, nameThere, planned, leave, err := p.source(name)
	defer leave()
	switch {
	case err != nil:
		return nil, system.Stamp{}, err
	case planned != nil:
		return append(buf[:0], planned.text...), planned.stamp, nil
	}
	return at.read(nameThere, buf)
}

// plannedLevel is a folder with planned changes, for looking up the spelling of names.
type plannedLevel struct {
	overlay *Overlay
	vault   *Folder
	path    Path
	dir     *os.Root // nil if it is not on the disk
}

func (f *Folder) levelOf(p Path) (filenames.Level, error) {
	_, isRemoved := f.overlay.folder(p)
	if isRemoved {
		return nil, missing(p)
	}
	dir, err := f.enter(p.segments())
	if err := f.overlay.exceptMade(p, err); err != nil {
		return nil, err
	}
	return plannedLevel{f.overlay, f, p, dir}, nil
}

func (l plannedLevel) Close() {
	if l.dir != nil {
		l.dir.Close()
	}
}

func (l plannedLevel) Enter(name string) (filenames.Level, error) {
	return l.vault.levelOf(l.path.join(name))
}

func (l plannedLevel) Lstat(name string) (fs.FileInfo, error) {
	at := l.path.join(name)
	file, isPlanned := l.overlay.find(at)
	isMade, isRemoved := l.overlay.folder(at)
	switch {
	case isPlanned && file != nil: // only the name matters
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

func (l plannedLevel) LstatOnDisk(name string) (fs.FileInfo, error) {
	if l.dir == nil {
		return nil, missing(l.path.join(name))
	}
	return l.dir.Lstat(name)
}

func (l plannedLevel) List() ([]string, error) {
	names, err := l.vault.namesOnDisk(l.path)
	if err := l.overlay.exceptMade(l.path, err); err != nil {
		return nil, err
	}
	for _, name := range l.overlay.namesIn(l.path) {
		if l.overlay.exists(l.vault, l.path.join(name), names[name]) {
			names[name] = true
		} else {
			delete(names, name)
		}
	}
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	return list, nil
}
