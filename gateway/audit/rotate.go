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

// rotate renames the current file and begins another. The head follows with the next line; until
// then the files show that it did not. A file that cannot be renamed, such as one that another
// process has open on Windows, is still written to.
func (l *Log) rotate(t *tail) (*tail, error) {
	if _, err := os.Lstat(l.folder.file(rotatedName(t.head.number))); err == nil {
		// Another program has put something there: finding the end again records it.
		if err := l.closeTail(); err != nil {
			return nil, err
		}
		return l.openTail()
	}
	if t.head.number-t.head.first+1 >= uint64(l.limits.MaxFiles) {
		if young, err := l.isYoung(t); err != nil {
			return nil, err
		} else if young {
			return nil, &Unusable{Store: store, Path: l.folder.dir, Reason: fmt.Sprintf(
				"is full: there are %d files of %d bytes, and the oldest has lines that are younger than %d days",
				l.limits.MaxFiles, l.limits.FileSize, l.limits.MinAge/(24*time.Hour))}
		}
	}
	return t, l.rotateFile(t)
}

// isYoung reports whether a line of the oldest file has to be kept for its age. A missing file has
// none: that is recorded as a break when it is dropped.
func (l *Log) isYoung(t *tail) (bool, error) {
	if l.limits.MinAge <= 0 {
		return false, nil
	}
	if t.head.first == t.head.number {
		return true, nil
	}
	var last time.Time // of its last lines the latest: clocks are set back by seconds, not by files
	for r, err := range l.folder.linesOf(rotatedName(t.head.first), 2*maxLine) {
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
	name := l.current
	aside := l.folder.file(rotatedName(t.head.number))
	if err := l.sys.Rename(name, aside); err != nil {
		t.file, t.fileInfo, err = opened(l.sys.Open(name, os.O_RDWR|os.O_APPEND))
		return err
	}
	file, info, err := opened(l.sys.Create(name))
	if err != nil {
		return err
	}
	t.file = file
	t.fileInfo = info
	if err := l.sys.SyncFolder(l.folder.dir); err != nil {
		return err
	}
	t.head.number++
	t.head.size = 0
	t.head.last = 0
	t.head.synced = t.end.seq
	t.size = 0
	t.last = 0
	return l.dropOldest(t)
}

// dropOldest has the head begin after the oldest files that are too many, unless their lines are too young. Each is
// verified before: damage would be forgotten with it.
func (l *Log) dropOldest(t *tail) error {
	for t.head.number-t.head.first >= uint64(l.limits.Files) {
		if young, err := l.isYoung(t); young || err != nil {
			return err
		}
		w := walker{at: t.head.start, mark: -1}
		err := l.folder.walkRotated(&w, t.head.first)
		isNewBreak := w.broke != nil && t.head.broken == 0
		isDamaged := err == nil && (w.loose >= 0 || isNewBreak)
		if isDamaged || errors.Is(err, fs.ErrNotExist) {
			if len(t.repairs) == 0 {
				t.repairs = []Line{{Kind: kindBreak, Repair: &Repair{Why: droppedBroken}}}
			}
		} else if err != nil {
			return err
		}
		next := w.at
		if w.loose >= 0 || err != nil {
			// The next file tells where it begins, if there is one that can be read.
			next = t.end
			if t.head.first+1 < t.head.number {
				if first, _, err := l.folder.ends(rotatedName(t.head.first + 1)); err == nil && first.seq > 0 {
					next = point{first.seq - 1, first.prev}
				}
			}
		}
		t.head.first++
		t.head.start = next
		t.dropped = true
	}
	return nil
}

func opened(h ownerfiles.File, err error) (ownerfiles.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := h.Stat()
	return h, info, err
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

// open opens a file of the log to read what is in it now.
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

// clear removes the files before the first that the durable head counts. A file that cannot be
// removed stays until the next time.
func (l *Log) clear(t *tail) {
	if t.record.Sync() != nil {
		return
	}
	there, err := l.folder.list()
	if err != nil {
		return
	}
	for _, number := range there.rotated {
		if number < t.head.first {
			_ = l.sys.Remove(l.folder.file(rotatedName(number)))
		}
	}
}

const (
	currentFile     = "audit.jsonl" // the one that is written to
	headFile        = "head.json"
	lockFile        = "audit.lock"
	temporarySuffix = ".new" // of a file that is not yet what it will be
)

// rotatedName is the name of a rotated file, counted from 1.
func rotatedName(number uint64) string { return fmt.Sprintf("audit-%06d.jsonl", number) }

// content is the list of files in the folder.
type content struct {
	rotated []uint64 // the numbers of the rotated files, rising
	current bool
}

func (s content) isEmpty() bool { return !s.current && len(s.rotated) == 0 }

// next returns the number that the current file gets when it is rotated.
func (s content) next() uint64 {
	if n := len(s.rotated); n > 0 {
		return s.rotated[n-1] + 1
	}
	return 1
}

func (p folder) list() (content, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return content{}, unusable(p.dir, err)
	}
	var s content
	for _, entry := range entries {
		digits := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), "audit-"), ".jsonl")
		if number, err := strconv.ParseUint(digits, 10, 63); err == nil && number > 0 &&
			rotatedName(number) == entry.Name() {
			s.rotated = append(s.rotated, number)
		}
		s.current = s.current || entry.Name() == currentFile
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
