package audit

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Filter selects lines. The zero Filter selects all. Names that are "" are ignored; the others are
// compared in the form in which the log stores them, see [Name].
type Filter struct {
	Since time.Time // inclusive; zero for no limit
	Until time.Time // exclusive; zero for no limit
	// Limit is the maximum number of lines: the newest that match the other fields. 0 is no limit.
	Limit int

	Kind, Command, Decision, Vault, Session, Code, Agent string
}

func (f Filter) matches(line Line) bool {
	isBefore := !f.Since.IsZero() && line.Time.Before(f.Since)
	isAfter := !f.Until.IsZero() && !line.Time.Before(f.Until)
	if isBefore || isAfter {
		return false
	}
	for _, pair := range [][2]string{{f.Kind, line.Kind}, {f.Command, line.Command}, {f.Decision, line.Decision},
		{f.Vault, line.Vault}, {f.Session, line.Session}, {f.Code, line.Code}, {f.Agent, line.Agent}} {
		if pair[0] != "" && clean(pair[0]) != pair[1] {
			return false
		}
	}
	return true
}

// List returns the lines of the log in the folder dir, the oldest first, as of the moment when the
// iteration begins. A line that cannot be parsed is yielded as a *[Damaged], and the list continues;
// remains of incomplete writes are skipped. An *[Unusable], a *[Busy], or the error of ctx once it
// is done, ends the list. The chain is not checked; see [Verify].
func List(ctx context.Context, dir string, f Filter) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		s, err := folder{dir}.openSnapshot(0)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer s.close()
		if f.Limit <= 0 {
			for i, file := range s.files {
				for line, err := range s.lines(ctx, i, 0, file.size, f) {
					if !yield(line, err) {
						return
					}
				}
			}
			return
		}
		for _, part := range slices.Backward(s.newest(ctx, f)) {
			for _, item := range part {
				if !yield(item.line, item.err) {
					return
				}
			}
		}
	}
}

// listItem is an element of a list.
type listItem struct {
	line Line
	err  error
}

// newestOf returns the last elements of list, at most limit.
func newestOf(list iter.Seq2[Line, error], limit int) (last []listItem) {
	for line, err := range list {
		last = append(last, listItem{line, err})
		if len(last) >= 2*limit+64 {
			last = slices.Delete(last, 0, len(last)-limit)
		}
	}
	return last[max(0, len(last)-limit):]
}

// partSize is how many bytes are read at a time when a file is read from its end. A part is longer
// if no line begins in it.
const partSize = 256 << 10

// newest returns the newest lines that match f, at most f.Limit, in parts of which the last is the
// oldest. It reads the log from its end, and no more of it than necessary.
func (s *snapshot) newest(ctx context.Context, f Filter) (parts [][]listItem) {
	left := f.Limit
	for i, file := range slices.Backward(s.files) {
		for to := file.size; to > 0 && left > 0; {
			from, err := partBefore(ctx, file, to)
			if err != nil {
				return append(parts, []listItem{{err: unreadable(file.name, err)}})
			}
			part := newestOf(s.lines(ctx, i, from, to, f), left)
			left -= len(part)
			parts = append(parts, part)
			to = from
		}
	}
	return parts
}

// partBefore returns the beginning of the part of a file that ends at to. It is the offset of a line
// that is not a gap, because a gap belongs to the text before it.
func partBefore(ctx context.Context, file snapshotFile, to int64) (from int64, err error) {
	for size := int64(partSize); to > size; size *= 2 {
		isFirst := true // the first piece is the rest of a line
		for r, err := range linesIn(ctx, file.file, to-size, to) {
			if err != nil {
				return 0, err
			}
			if l, ok := readLink(r.Text); ok && !isFirst && l.kind != kindGap {
				return r.At, nil
			}
			isFirst = false
		}
	}
	return 0, nil
}

// lineNumberAt returns the number, within the file, of the line that begins at an offset.
func (f snapshotFile) lineNumberAt(ctx context.Context, at int64) int {
	number := 1
	for range linesIn(ctx, f.file, 0, at) {
		number++
	}
	return number
}

// lines yields the lines of the i-th file between two offsets that match f.
func (s *snapshot) lines(ctx context.Context, i int, from, to int64, f Filter) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		file := s.files[i]
		damaged := func(l ownerfiles.Line) error { return &Damaged{file.name, file.lineNumberAt(ctx, l.At)} }
		var loose []ownerfiles.Line // text that is not a line, but that a gap may explain
		for r, err := range linesIn(ctx, file.file, from, to) {
			if err != nil {
				yield(Line{}, unreadable(file.name, err))
				return
			}
			line, ok := parse(r.Text)
			if !ok {
				r.Text = nil
				loose = append(loose, r)
				continue
			}
			for _, l := range loose {
				isExplained := line.Kind == kindGap && line.Repair != nil && line.Repair.Torn >= r.At-l.At
				if !isExplained && !yield(Line{}, damaged(l)) {
					return
				}
			}
			loose = loose[:0]
			if f.matches(line) && !yield(line, nil) {
				return
			}
		}
		for _, l := range loose {
			if l.Whole && !yield(Line{}, damaged(l)) {
				return
			}
		}
	}
}

// snapshot is the state of the log at one moment. The files do not change up to their sizes here.
type snapshot struct {
	content    folderContent
	head       head
	headReason string // headMissing or headUnreadable, "" if there is a head
	files      []snapshotFile
}

type snapshotFile struct {
	name   string
	number uint64 // 0 for the current file
	file   *os.File
	size   int64
}

// openSnapshot opens the files of a log, beginning with the file number from, the oldest first. It
// opens none if the folder is missing, and all if the log has no files of this number or later,
// because it was started again.
func (p folder) openSnapshot(from uint64) (s *snapshot, err error) {
	err = unusable(p.dir, ownerfiles.CheckFolder(p.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return &snapshot{headReason: headMissing}, nil
	}
	if err != nil {
		return nil, err
	}
	// On a read-only file system there are no writers, and this succeeds without a lock.
	unlock, err := ownerfiles.LockToRead(p.file(lockFile), lockTimeout)
	if err != nil {
		return nil, store.Locked(p.file(lockFile), err)
	}
	defer unlock()
	s = &snapshot{}
	defer func(opened *snapshot) {
		if err != nil {
			opened.close()
		}
	}(s)
	if s.content, err = p.list(); err != nil {
		return nil, err
	}
	if s.head, s.headReason, err = p.readHead(); err != nil {
		return nil, err
	}
	if from > s.content.nextNumber() {
		from = 0
	}
	if s.headReason == "" {
		from = max(from, s.head.firstFile) // older files remain only if they could not be removed
	}
	for _, number := range s.content.rotated {
		if number < from {
			continue
		}
		if err := s.open(p, rotatedName(number), number); err != nil {
			return nil, err
		}
	}
	if s.content.hasCurrent {
		if err := s.open(p, currentFile, 0); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *snapshot) open(p folder, name string, number uint64) error {
	file, size, err := p.open(name)
	if err != nil {
		return unusable(p.file(name), err)
	}
	s.files = append(s.files, snapshotFile{name, number, file, size})
	return nil
}

func (s *snapshot) close() {
	for _, f := range s.files {
		_ = f.file.Close()
	}
}

// merge yields the lines of two logs in the order of their times, and those of a first if the times
// are equal. Within each log the order of lines and errors is preserved.
func merge(a, b iter.Seq2[Line, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		lineA, errA, okA := nextA()
		lineB, errB, okB := nextB()
		for okA || okB {
			isDue := errA != nil || errB == nil && !lineB.Time.Before(lineA.Time)
			if okA && (!okB || isDue) {
				if !yield(lineA, errA) {
					return
				}
				lineA, errA, okA = nextA()
				continue
			}
			if !yield(lineB, errB) {
				return
			}
			lineB, errB, okB = nextB()
		}
	}
}
