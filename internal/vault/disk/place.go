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

// place is an open folder in which files are looked up and read. Every name passed to it is a single segment
// that a [Path] may have, so none leads out of the folder. Its errors are those of [Folder.Open]. There are two
// implementations, wrapped in a [steady] one: rooted works everywhere, and Linux has a cheaper one.
type place interface {
	// list returns the visible files and folders. It may be called again only after an error.
	list() ([]listed, error)
	// step opens the subfolder name, never through a link.
	step(name string) (place, error)
	// lookAtFolder returns information about the subfolder name without opening it, never through a link.
	lookAtFolder(name string) (fs.FileInfo, error)
	info(name string) (fs.FileInfo, error)
	stamp(name string) (system.Stamp, error)
	// read is [Entry.ReadInto]. The file is known to be a regular one.
	read(name string, buf []byte) ([]byte, system.Stamp, error)
	close()
}

// listed is the name of a file or folder in a folder.
type listed struct {
	name   string
	folder bool // otherwise it is a file
}

// place opens the folder at the segments. The caller must close it.
func (f *Folder) place(segments []string) (place, error) {
	if f.overlay != nil {
		return f.overlay.place(f, segments)
	}
	return f.placeOnDisk(segments)
}

func (f *Folder) placeOnDisk(segments []string) (place, error) {
	opened := steady{ask: f.ask}
	name := "."
	if len(segments) > 0 {
		name = segments[len(segments)-1]
	}
	err := opened.try("step", name, func() error {
		dir, err := f.enter(segments)
		if err != nil {
			return err
		}
		opened.place, err = native(f.rooted(dir))
		return err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// rooted is a place that uses an os.Root.
type rooted struct {
	dir          *os.Root
	refusesLinks bool // refuse files with several names, see [IsHardLinked]
}

// rooted returns an open folder of f as a place.
func (f *Folder) rooted(dir *os.Root) rooted { return rooted{dir, f.view != nil} }

func (r rooted) close() { r.dir.Close() }

func (r rooted) list() ([]listed, error) {
	handle, err := system.OpenFolder(r.dir)
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	entries, err := handle.ReadDir(-1)
	return pick(entries, r.isFile), err
}

// pick returns the files and folders among the entries of a folder.
func pick(entries []fs.DirEntry, isFile func(name string, mode fs.FileMode) bool) []listed {
	picked := make([]listed, 0, len(entries))
	for _, entry := range entries {
		if entry.IsDir() || isFile(entry.Name(), entry.Type()) {
			picked = append(picked, listed{entry.Name(), entry.IsDir()})
		}
	}
	return picked
}

// isFile reports whether an entry is a file with content, even if its content is managed by a sync program.
func (r rooted) isFile(name string, mode fs.FileMode) bool {
	return filenames.IsFile(r.dir, name, mode)
}

func (r rooted) step(name string) (place, error) {
	sub, err := step(r.dir, name)
	if err != nil {
		return nil, err
	}
	return rooted{sub, r.refusesLinks}, nil
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

// info returns information about the regular file name.
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
	if r.refusesLinks {
		links, err := linksIn(r.dir, name, info)
		if err = checkSingle(name, links, err); err != nil {
			return nil, err
		}
	}
	return info, nil
}

// maxReplaced limits the attempts to open a file that an editor keeps replacing. Such a path always has a file.
const maxReplaced = 16

// errReplaced is returned if another file got the name. It is not a [Refusal], because there is a file.
var errReplaced = errors.New("was replaced while it was opened")

// open opens the regular file name.
func (r rooted) open(name string) (file *File, err error) {
	file, err = openOnce(r.dir, name)
	for i := 0; i < maxReplaced && errors.Is(err, errReplaced); i++ {
		file, err = openOnce(r.dir, name)
	}
	if err != nil || !r.refusesLinks {
		return file, err
	}
	links, err := file.links()
	if err = checkSingle(name, links, err); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// openOnce checks the file before it opens it, so that no device is opened, and again afterwards, in case
// another file got the name in between.
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

// readAll reads the file name unless it exceeds the limit in bytes.
func (r rooted) readAll(name string, limit int64) ([]byte, error) {
	file, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, limit)
}

// irregular describes a file that is not a regular one; it returns "" for a regular file.
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

// checkSingle returns an error for a file that has several names, or whose names could not be counted.
func checkSingle(name string, links uint64, err error) error {
	if err == nil && links > 1 {
		return &Refusal{Path: name, Reason: hardLinked}
	}
	return err
}

// Judge decides by the text of a note whether the note is closed to the caller. It is safe for concurrent use.
type Judge struct {
	covers   func(p Path) bool
	closes   func(text []byte) bool
	suspects func(text io.Reader) bool
	mu       sync.Mutex
	verdicts map[Path]verdict
}

// verdict is the decision about a note whose state was settled.
type verdict struct {
	stamp    system.Stamp
	isClosed bool
}

// NewJudge returns a judge for the notes that covers accepts. closes reports whether a text closes its note. A
// long text is passed to closes only if suspects, which reads all of it, returns true.
func NewJudge(covers func(p Path) bool, closes func(text []byte) bool, suspects func(text io.Reader) bool) *Judge {
	return &Judge{covers: covers, closes: closes, suspects: suspects, verdicts: map[Path]verdict{}}
}

// Judging returns the same open folder. The notes that j closes do not exist in it, as if a [View] did not show
// them.
func (f *Folder) Judging(j *Judge) *Folder {
	g := *f
	g.judge = j
	return &g
}

// Judges reports whether a note may be closed by its text.
func (f *Folder) Judges() bool { return f.judge != nil }

// IsClosed reports whether there is a note at p that is closed by its text.
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

func (j *Judge) judges(p Path) bool { return j != nil && IsNote(p) && j.covers(p) }

// IsNote reports whether a file is a note by its extension, in any case. A [Judge] only examines such files.
func IsNote(p Path) bool { return strings.EqualFold(p.Ext(), "md") }

// refuse returns an error if the note is closed by its text: that of a missing note. An unreadable note is not
// refused, because the caller cannot read it either.
func (j *Judge) refuse(at place, p Path) error {
	if isClosed, _ := j.decide(at, p); isClosed {
		return missing(p)
	}
	return nil
}

// decide reports whether the text of a note closes it. It reads the text unless the note was judged in the same
// state before. A note that is only in the cloud counts as closed, because it is not fetched to be judged. It
// returns an error if the text cannot be read.
func (j *Judge) decide(at place, p Path) (isClosed bool, err error) {
	if !j.judges(p) {
		return false, nil
	}
	now := time.Now()
	stamp, err := at.stamp(p.Base())
	if err != nil {
		return false, err
	}
	j.mu.Lock()
	cached, ok := j.verdicts[p]
	j.mu.Unlock()
	if ok && cached.stamp == stamp {
		return cached.isClosed, nil
	}
	if isElsewhere(at, p.Base()) {
		return true, nil
	}
	text, read, err := at.read(p.Base(), nil)
	if err != nil {
		return false, err
	}
	cached = verdict{read, j.closes(text)}
	if read.Settled(now) {
		j.mu.Lock()
		j.verdicts[p] = cached
		j.mu.Unlock()
	}
	return cached.isClosed, nil
}

// longNote is the size in bytes up to which a note is read into memory at once to be judged.
const longNote = 1 << 20

// deliver returns the text of a file that was read, with its secrets replaced. For a closed note, it returns
// the error of a missing file.
func (f *Folder) deliver(p Path, text []byte, stamp system.Stamp, err error) ([]byte, system.Stamp, error) {
	switch {
	case err != nil:
	case f.judge.judges(p) && f.judge.closes(text):
		return nil, stamp, missing(p)
	case f.redact != nil:
		text, err = f.redact(p, text)
	}
	return text, stamp, err
}
