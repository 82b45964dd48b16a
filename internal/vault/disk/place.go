package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// place is an open folder in which files are looked at and read. Every name it is given is
// one segment that a [Path] may have, so none leads out of it. Its errors are those of
// [Folder.Open]. There are two, behind a [steady] one: rooted works everywhere, and Linux has one that costs less.
type place interface {
	// list returns the visible files and folders. It may be called again only after an error.
	list() ([]listed, error)
	// step opens the sub-folder name, never through a link.
	step(name string) (place, error)
	// lookAtFolder looks at the sub-folder name without entering it, never through a link.
	lookAtFolder(name string) (fs.FileInfo, error)
	info(name string) (fs.FileInfo, error)
	stamp(name string) (system.Stamp, error)
	// read is [Entry.ReadInto]. The file was seen to be a regular one.
	read(name string, buf []byte) ([]byte, system.Stamp, error)
	close()
}

// listed is a name in a folder.
type listed struct {
	name   string
	folder bool // otherwise a file
}

// place opens the folder that the segments lead to. The caller closes it.
func (f *Folder) place(segments []string) (place, error) {
	if f.over != nil {
		return f.over.place(f, segments)
	}
	return f.placeOnDisk(segments)
}

func (f *Folder) placeOnDisk(segments []string) (place, error) {
	found := steady{ask: f.ask}
	name := "."
	if len(segments) > 0 {
		name = segments[len(segments)-1]
	}
	err := found.try("step", name, func() error {
		dir, err := f.enter(segments)
		if err != nil {
			return err
		}
		found.place, err = native(f.in(dir))
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// rooted is a place that goes through an os.Root.
type rooted struct {
	dir    *os.Root
	single bool // a file with further names is refused, see [IsHardLinked]
}

// in returns an open folder of f as a place.
func (f *Folder) in(dir *os.Root) rooted { return rooted{dir, f.view != nil} }

func (r rooted) close() { r.dir.Close() }

func (r rooted) list() ([]listed, error) {
	handle, err := r.dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	entries, err := handle.ReadDir(-1)
	return pick(entries, r.isFile), err
}

// pick returns the files and folders among the entries of a folder.
func pick(entries []fs.DirEntry, isFile func(name string, mode fs.FileMode) bool) []listed {
	found := make([]listed, 0, len(entries))
	for _, entry := range entries {
		if entry.IsDir() || isFile(entry.Name(), entry.Type()) {
			found = append(found, listed{entry.Name(), entry.IsDir()})
		}
	}
	return found
}

// isFile reports whether an entry is a file with content, also if a program for synchronisation keeps it in step.
func (r rooted) isFile(name string, mode fs.FileMode) bool {
	return filenames.IsFile(r.dir, name, mode)
}

func (r rooted) step(name string) (place, error) {
	sub, err := step(r.dir, name)
	if err != nil {
		return nil, err
	}
	return rooted{sub, r.single}, nil
}

func (r rooted) lookAtFolder(name string) (fs.FileInfo, error) {
	info, err := r.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &Refusal{Path: name, Reason: "is not a folder"}
	}
	return info, nil
}

// info looks at the regular file name.
func (r rooted) info(name string) (info fs.FileInfo, err error) {
	err = system.Patient.Repeat(name, func() (err error) {
		info, err = r.dir.Lstat(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if reason := irregular(info.Mode()); reason != "" && !r.isFile(name, info.Mode()) {
		return nil, &Refusal{Path: name, Reason: reason}
	}
	if r.single {
		links, err := linksIn(r.dir, name, info)
		if err = isSingle(name, links, err); err != nil {
			return nil, err
		}
	}
	return info, nil
}

// replacedOften is how often a file is opened again that an editor replaced while it was
// opened: its path was never without a file.
const replacedOften = 16

// errReplaced says that a name was given to another file. It is no [Refusal], for there is
// a file.
var errReplaced = errors.New("was replaced while it was opened")

// open opens the regular file name.
func (r rooted) open(name string) (file *File, err error) {
	file, err = openOnce(r.dir, name)
	for n := 0; n < replacedOften && errors.Is(err, errReplaced); n++ {
		file, err = openOnce(r.dir, name)
	}
	if err != nil || !r.single {
		return file, err
	}
	links, err := file.links()
	if err = isSingle(name, links, err); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// openOnce looks before it opens, so that no device is touched, and again afterwards, in
// case the name was given to another file in between.
func openOnce(dir *os.Root, name string) (*File, error) {
	seen, err := rooted{dir: dir}.info(name)
	if err != nil {
		return nil, err
	}
	var file *os.File
	err = system.Patient.Repeat(name, func() (err error) {
		file, err = dir.OpenFile(name, os.O_RDONLY|system.NonBlocking, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = fmt.Errorf("%q %w", name, errReplaced)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &File{content: file, Info: info}, nil
}

func (r rooted) stamp(name string) (system.Stamp, error) {
	info, err := r.info(name)
	if err != nil {
		return system.Stamp{}, err
	}
	return system.StampOf(info), nil
}

func (r rooted) read(name string, buf []byte) ([]byte, system.Stamp, error) {
	file, err := r.open(name)
	if err != nil {
		return nil, system.Stamp{}, err
	}
	defer file.Close()
	return readStamped(file, name, buf, MaxNote)
}

// readAll reads the file name, if it is not larger than the limit in bytes.
func (r rooted) readAll(name string, limit int64) ([]byte, error) {
	file, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, limit)
}

// irregular says what a file is if it is not a regular one.
func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "is a folder"
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link"
	}
	return "is not a regular file"
}

// isSingle refuses a file that has further names, or whose names cannot be counted.
func isSingle(name string, links uint64, err error) error {
	if err == nil && links > 1 {
		return &Refusal{Path: name, Reason: hardLinked}
	}
	return err
}

// Judge decides about notes by their text. It is safe for concurrent use.
type Judge struct {
	of       func(p Path) bool
	closes   func(text []byte) bool
	suspects func(text io.Reader) bool
	mu       sync.Mutex
	known    map[Path]judged
}

// judged is what was decided about a note in a settled state.
type judged struct {
	stamp  system.Stamp
	closed bool
}

// NewJudge returns the judge of some notes, by a test whether a text closes its note. A long text is only
// tested if suspects, which reads all of it, says so.
func NewJudge(of func(p Path) bool, closes func(text []byte) bool, suspects func(text io.Reader) bool) *Judge {
	return &Judge{of: of, closes: closes, suspects: suspects, known: map[Path]judged{}}
}

// Judging returns the same open folder, of which the notes that j closes do not exist, as if a
// [View] did not see them.
func (f *Folder) Judging(j *Judge) *Folder {
	g := *f
	g.judge = j
	return &g
}

// Judges reports whether a note may be closed by its text.
func (f *Folder) Judges() bool { return f.judge != nil }

// IsClosed reports whether there is a note at p that its text closes.
func (f *Folder) IsClosed(p Path) bool {
	if !f.judge.judges(p) {
		return false
	}
	at, err := f.place(p.parents())
	if err != nil {
		return false
	}
	defer at.close()
	return f.judge.refuse(at, p) != nil
}

func (j *Judge) judges(p Path) bool { return j != nil && IsNote(p) && j.of(p) }

// IsNote reports whether a file is a note by its extension, in any case: one that a [Judge] looks at.
func IsNote(p Path) bool { return strings.EqualFold(p.Ext(), "md") }

// refuse returns the error of a note that its text closes, which is that of a missing one. One that cannot be read
// is not refused: a caller that names it cannot read it either.
func (j *Judge) refuse(at place, p Path) error {
	if closed, _ := j.decide(at, p); closed {
		return missing(p)
	}
	return nil
}

// decide reports whether the text of a note closes it. The text is read unless the note was judged in the same state
// before. One that is not on the disk counts as closed: it is not fetched to be judged. The error is that of a text that
// cannot be read.
func (j *Judge) decide(at place, p Path) (closed bool, err error) {
	if !j.judges(p) {
		return false, nil
	}
	now := time.Now()
	stamp, err := at.stamp(p.Base())
	if err != nil {
		return false, err
	}
	j.mu.Lock()
	known, ok := j.known[p]
	j.mu.Unlock()
	if ok && known.stamp == stamp {
		return known.closed, nil
	}
	if isElsewhere(at, p.Base()) {
		return true, nil
	}
	text, read, err := at.read(p.Base(), nil)
	if err != nil {
		return false, err
	}
	known = judged{read, j.closes(text)}
	if read.Settled(now) {
		j.mu.Lock()
		j.known[p] = known
		j.mu.Unlock()
	}
	return known.closed, nil
}

// longNote is the size in bytes up to which a text that is judged is read into memory at once.
const longNote = 1 << 20

// passes returns the text of a file that was read, with its secrets replaced, and instead of that
// of a closed note the error that it is missing.
func (f *Folder) passes(p Path, text []byte, stamp system.Stamp, err error) ([]byte, system.Stamp, error) {
	switch {
	case err != nil:
	case f.judge.judges(p) && f.judge.closes(text):
		return nil, stamp, missing(p)
	case f.redact != nil:
		text, err = f.redact(p, text)
	}
	return text, stamp, err
}
