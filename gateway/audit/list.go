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

// Filter says which lines are wanted. The zero Filter wants all. A name that is
// "" is ignored; others are compared with what the log keeps.
type Filter struct {
	Since time.Time // not before
	Until time.Time // before
	// Limit is how many are wanted, of those that the rest wants the newest; 0 is all of them.
	Limit int

	Kind, Command, Decision, Vault, Session, Code, Agent string
}

func (f Filter) wants(line Line) bool {
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

// List returns the lines of the log in the folder dir, the oldest first, as it is
// at the moment when one begins to read. A line that cannot be read comes as a
// *[Damaged], and the others after it; what is left of lines that were never
// finished is skipped. An *[Unusable], a *[Busy], or the error of ctx once that has ended, ends the list. The chain is
// not checked: that is [Verify].
func List(ctx context.Context, dir string, f Filter) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		s, err := folder{dir}.takeSnapshot(0)
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
			for _, it := range part {
				if !yield(it.line, it.err) {
					return
				}
			}
		}
	}
}

// item is an element of a list.
type item struct {
	line Line
	err  error
}

// newestOf returns the last elements of a list, at most limit.
func newestOf(list iter.Seq2[Line, error], limit int) (last []item) {
	for line, err := range list {
		if last = append(last, item{line, err}); len(last) >= 2*limit+64 {
			last = slices.Delete(last, 0, len(last)-limit)
		}
	}
	return last[max(0, len(last)-limit):]
}

// partSize is how many bytes of a file are read at once from its end, but for the rest of a line.
const partSize = 256 << 10

// newest returns the newest wanted lines, as many as the filter's limit, in parts of which the last is the oldest. The log
// is read from its end, and no more of it than it takes.
func (s *snapshot) newest(ctx context.Context, f Filter) (parts [][]item) {
	left := f.Limit
	for i, file := range slices.Backward(s.files) {
		for to := file.size; to > 0 && left > 0; {
			from, err := partBefore(ctx, file, to)
			if err != nil {
				return append(parts, []item{{err: unreadable(file.name, err)}})
			}
			part := newestOf(s.lines(ctx, i, from, to, f), left)
			left -= len(part)
			parts = append(parts, part)
			to = from
		}
	}
	return parts
}

// partBefore returns where a part of a file begins that ends at to: with a line that explains nothing before it.
func partBefore(ctx context.Context, file snapshotFile, to int64) (from int64, err error) {
	for size := int64(partSize); to > size; size *= 2 {
		isFirst := true // the rest of a line
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

// lineAt returns the number of the line of a file that begins at an offset.
func (f snapshotFile) lineAt(ctx context.Context, at int64) int {
	number := 1
	for range linesIn(ctx, f.file, 0, at) {
		number++
	}
	return number
}

// lines yields the lines of one file between two offsets that are wanted.
func (s *snapshot) lines(ctx context.Context, i int, from, to int64, f Filter) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		file := s.files[i]
		damaged := func(l ownerfiles.Line) error { return &Damaged{file.name, file.lineAt(ctx, l.At)} }
		var loose []ownerfiles.Line // that a gap may explain
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
			if f.wants(line) && !yield(line, nil) {
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

// snapshot is the log at one moment. Up to their sizes the files are immutable.
type snapshot struct {
	content content
	head    head
	why     string // why there is no head, "" if there is one
	files   []snapshotFile
}

type snapshotFile struct {
	name   string
	number uint64 // 0 for the present file
	file   *os.File
	size   int64
}

// takeSnapshot opens the files of a log from a number on, the oldest first, or none if the folder is
// missing. A log that has no such file began anew, and all of its files are opened.
func (p folder) takeSnapshot(from uint64) (s *snapshot, err error) {
	if err := unusable(p.dir, ownerfiles.CheckFolder(p.dir)); errors.Is(err, fs.ErrNotExist) {
		return &snapshot{why: headMissing}, nil
	} else if err != nil {
		return nil, err
	}
	// The lock of writers. On a read-only file system there is none, and it succeeds without.
	unlock, err := ownerfiles.LockToRead(p.file(lockFile), patience)
	if err != nil {
		return nil, store.Locked(p.file(lockFile), err)
	}
	defer unlock()
	s = &snapshot{}
	defer func(made *snapshot) {
		if err != nil {
			made.close()
		}
	}(s)
	if s.content, err = p.list(); err != nil {
		return nil, err
	}
	if s.head, s.why, err = p.readHead(); err != nil {
		return nil, err
	}
	if from > s.content.next() {
		from = 0
	}
	if s.why == "" {
		from = max(from, s.head.first) // one below the first was to be removed
	}
	for _, number := range s.content.rotated {
		if number < from {
			continue
		}
		if err := s.open(p, rotatedName(number), number); err != nil {
			return nil, err
		}
	}
	if s.content.current {
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

// merge yields the lines of two logs in the order of their times, for equal times those of a
// first. Each log keeps its own order, and errors their place in it.
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
