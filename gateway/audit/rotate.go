package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// rotate renames the current file and creates another. The next write updates the head; until then
// the names of the files show that it is outdated. A file that cannot be renamed, such as one that
// another process has open on Windows, is kept as the current file.
func (l *Log) rotate(t *tail) (*tail, error) {
	if _, err := os.Lstat(l.folder.file(rotatedName(t.head.fileNumber))); err == nil {
		// Another program has created this file. Reading the state again records it as a break.
		if err := l.closeTail(); err != nil {
			return nil, err
		}
		return l.openTail()
	}
	if t.head.fileNumber-t.head.firstFile+1 >= uint64(l.limits.MaxFiles) {
		isYoung, err := l.mustKeepOldest(t)
		if err != nil {
			return nil, err
		}
		if isYoung {
			return nil, &Unusable{Store: store, Path: l.folder.dir, Reason: fmt.Sprintf(
				"is full: there are %d files of %d bytes, and the oldest has lines that are younger than %d days",
				l.limits.MaxFiles, l.limits.FileSize, l.limits.MinAge/(24*time.Hour))}
		}
	}
	return t, l.rotateFile(t)
}

// mustKeepOldest reports whether MinAge requires that the oldest file be kept. A missing file need not
// be; dropping it records a break.
func (l *Log) mustKeepOldest(t *tail) (bool, error) {
	if l.limits.MinAge <= 0 {
		return false, nil
	}
	if t.head.firstFile == t.head.fileNumber {
		return true, nil
	}
	var last time.Time // the latest of the last lines: clocks are set back by seconds, not by whole files
	for r, err := range l.folder.linesOf(rotatedName(t.head.firstFile), 2*maxLine) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		}
		if line, ok := parse(r.Text); ok && line.Time.After(last) {
			last = line.Time
		}
	}
	return l.now().Sub(last) < l.limits.MinAge, nil
}

func (l *Log) rotateFile(t *tail) error {
	if err := t.file.Sync(); err != nil {
		return err
	}
	if err := t.file.Close(); err != nil {
		return err
	}
	t.file = nil
	current := l.current
	rotated := l.folder.file(rotatedName(t.head.fileNumber))
	if err := l.sys.Rename(current, rotated); err != nil {
		t.file, t.fileInfo, err = withInfo(l.sys.Open(current, os.O_RDWR|os.O_APPEND))
		return err
	}
	file, info, err := withInfo(l.sys.Create(current))
	if err != nil {
		return err
	}
	t.file = file
	t.fileInfo = info
	if err := l.sys.SyncFolder(l.folder.dir); err != nil {
		return err
	}
	t.head.fileNumber++
	t.head.size = 0
	t.head.lastOffset = 0
	t.head.synced = t.end.seq
	t.size = 0
	t.lastOffset = 0
	return l.dropOldest(t)
}

// dropOldest advances the start in the head past surplus files, oldest first, up to the first with
// lines younger than MinAge. It verifies each file before, because its damage would otherwise be
// forgotten.
func (l *Log) dropOldest(t *tail) error {
	for t.head.fileNumber-t.head.firstFile >= uint64(l.limits.Files) {
		if isYoung, err := l.mustKeepOldest(t); isYoung || err != nil {
			return err
		}
		w := walker{at: t.head.start, markOffset: -1}
		err := l.folder.walkRotated(&w, t.head.firstFile)
		isNewBreak := w.firstBreak != nil && t.head.firstBreak == 0
		isDamaged := err == nil && (w.looseOffset >= 0 || isNewBreak)
		if isDamaged || errors.Is(err, fs.ErrNotExist) {
			if len(t.repairs) == 0 {
				t.repairs = []Line{{Kind: kindBreak, Repair: &Repair{Why: droppedBroken}}}
			}
		} else if err != nil {
			return err
		}
		next := w.at
		if w.looseOffset >= 0 || err != nil {
			// The first line of the next file links to the dropped part, if that file can be read.
			next = t.end
			if t.head.firstFile+1 < t.head.fileNumber {
				if first, _, err := l.folder.firstAndLast(rotatedName(t.head.firstFile + 1)); err == nil && first.seq > 0 {
					next = point{first.seq - 1, first.prev}
				}
			}
		}
		t.head.firstFile++
		t.head.start = next
		t.hasDropped = true
	}
	return nil
}

func withInfo(file ownerfiles.File, err error) (ownerfiles.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	return file, info, err
}

func (p folder) walkRotated(w *walker, number uint64) error {
	name := rotatedName(number)
	file, size, err := p.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return w.walk(context.Background(), name, file, 0, size)
}

// linesOf yields the lines in the last bytes of a file, at most limit of them.
func (p folder) linesOf(name string, limit int64) iter.Seq2[ownerfiles.Line, error] {
	return func(yield func(ownerfiles.Line, error) bool) {
		file, size, err := p.open(name)
		if err != nil {
			yield(ownerfiles.Line{}, err)
			return
		}
		defer file.Close()
		linesIn(context.Background(), file, max(0, size-limit), size)(yield)
	}
}

// open opens a file of the log for reading, and returns its current size.
func (p folder) open(name string) (file *os.File, size int64, err error) {
	if file, err = ownerfiles.Open(p.file(name), os.O_RDONLY); err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// removeDropped makes the head durable and then removes the files before the first one in it. A file that
// cannot be removed is left for the next time.
func (l *Log) removeDropped(t *tail) {
	if t.record.Sync() != nil {
		return
	}
	listing, err := l.folder.list()
	if err != nil {
		return
	}
	for _, number := range listing.rotated {
		if number < t.head.firstFile {
			_ = l.sys.Remove(l.folder.file(rotatedName(number)))
		}
	}
}

const (
	currentFile     = "audit.jsonl" // the file that is appended to
	headFile        = "head.json"
	lockFile        = "audit.lock"
	temporarySuffix = ".new" // of a file that is being replaced
)

// rotatedName returns the name of a rotated file. Numbers start at 1.
func rotatedName(number uint64) string { return fmt.Sprintf("audit-%06d.jsonl", number) }

// folderContent lists the files of a log in its folder.
type folderContent struct {
	rotated    []uint64 // numbers of the rotated files, ascending
	hasCurrent bool
}

func (s folderContent) isEmpty() bool { return !s.hasCurrent && len(s.rotated) == 0 }

// nextNumber returns the number that the current file will get when it is rotated.
func (s folderContent) nextNumber() uint64 {
	if n := len(s.rotated); n > 0 {
		return s.rotated[n-1] + 1
	}
	return 1
}

func (p folder) list() (folderContent, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return folderContent{}, unusable(p.dir, err)
	}
	var s folderContent
	for _, entry := range entries {
		digits := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), "audit-"), ".jsonl")
		if number, err := strconv.ParseUint(digits, 10, 63); err == nil && number > 0 &&
			rotatedName(number) == entry.Name() {
			s.rotated = append(s.rotated, number)
		}
		s.hasCurrent = s.hasCurrent || entry.Name() == currentFile
	}
	slices.Sort(s.rotated)
	return s, nil
}

// prepare creates the folder if it is missing, and returns an error unless it
// belongs to this user alone.
func (l *Log) prepare() error {
	return unusable(l.folder.dir, ownerfiles.MakeFolder(l.sys, l.folder.dir))
}

// replace writes a small file atomically.
func (l *Log) replace(name string, text []byte) error {
	_, err := ownerfiles.Replace(l.sys, l.folder.file(name+temporarySuffix), l.folder.file(name), text, time.Time{})
	return err
}
