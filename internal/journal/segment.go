package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Suffixes of file names. A name begins with the number of the segment in ten digits; the name of an object
// also has its hash.
const (
	segmentSuffix   = ".lines"
	objectSuffix    = ".object"
	indexSuffix     = ".index" // summary of a segment, which can be rebuilt
	temporarySuffix = ".half"  // file that is being written

	numberDigits = 10
)

func segmentName(number uint64) string {
	return fmt.Sprintf("%0*d%s", numberDigits, number, segmentSuffix)
}

func indexName(number uint64) string {
	return fmt.Sprintf("%0*d%s", numberDigits, number, indexSuffix)
}

func objectName(number uint64, hash string) string {
	return fmt.Sprintf("%0*d-%s%s", numberDigits, number, hash, objectSuffix)
}

// segment is the state of one segment on the disk.
type segment struct {
	number  uint64
	size    int64 // of the lines
	objects int64 // of the files next to it, including the index
	files   []string
	last    time.Time   // time of the last write
	info    fs.FileInfo // of the file with the lines; nil if there is none
}

// maxIndexedByWriter is the size in bytes of the longest segment whose index is built by the next writer. A change
// of thousands of files makes a segment of up to hundreds of MiB. Building its index takes seconds, during which
// nobody could write, so that is left to the call with the change ([Journal.IndexLong]).
const maxIndexedByWriter = 4 * maxSegment

// isLong reports whether the index of a complete segment is not built by the next writer.
func (s segment) isLong() bool { return s.size > maxIndexedByWriter }

// content is the list of the files in the folder.
type content struct {
	segments  []segment // sorted by number
	temporary []string
}

// list reads the folder. It ignores files with names that this package does not generate.
func (p folder) list() (content, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return content{}, unusable(p.dir, err)
	}
	var s content
	byNumber := map[uint64]int{}
	indexes := map[uint64]fs.FileInfo{}
	for _, e := range entries { // sorted, so a segment's own file follows its objects
		number, end, ok := parseName(e.Name())
		if !ok {
			continue
		}
		if end == temporarySuffix {
			s.temporary = append(s.temporary, e.Name())
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = ownerfiles.CheckFile(p.file(e.Name()), info)
		}
		if err != nil {
			return content{}, unusable(p.file(e.Name()), err)
		}
		if end == indexSuffix { // its time is not that of the last write to the segment
			indexes[number] = info
			continue
		}
		at, known := byNumber[number]
		if !known {
			at = len(s.segments)
			byNumber[number] = at
			s.segments = append(s.segments, segment{number: number})
		}
		seg := &s.segments[at]
		seg.files = append(seg.files, e.Name())
		if end == objectSuffix {
			seg.objects += info.Size()
		} else {
			seg.size = info.Size()
			seg.info = info
		}
		if info.ModTime().After(seg.last) {
			seg.last = info.ModTime()
		}
	}
	for number, index := range indexes {
		if at, known := byNumber[number]; known {
			s.segments[at].files = append(s.segments[at].files, index.Name())
			s.segments[at].objects += index.Size()
		} else {
			s.temporary = append(s.temporary, index.Name()) // an older version of this program removed the segment
		}
	}
	slices.SortFunc(s.segments, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return s, nil
}

// parseName returns the segment number and the suffix of a file name of this package.
func parseName(name string) (number uint64, suffix string, ok bool) {
	if len(name) < numberDigits {
		return 0, "", false
	}
	number, err := strconv.ParseUint(name[:numberDigits], 10, 64)
	if err != nil {
		return 0, "", false
	}
	for _, suffix := range []string{segmentSuffix, indexSuffix, objectSuffix, temporarySuffix} {
		rest, ok := strings.CutSuffix(name[numberDigits:], suffix)
		isOfSegment := suffix == segmentSuffix || suffix == indexSuffix
		if ok && (rest == "") == isOfSegment {
			return number, suffix, suffix != objectSuffix || isHash(strings.TrimPrefix(rest, "-"))
		}
	}
	return 0, "", false
}

// tail is the segment that is written to.
type tail struct {
	*index
	objects int64 // total size of the files next to it
	// mayBeUnsynced is set if the names of those files may not be durable, because their writer may have been
	// killed.
	mayBeUnsynced bool
}

// openTail finds the newest segment and reads its new part, or begins another segment. The caller must hold the
// lock.
func (j *Journal) openTail(now time.Time) (*tail, error) {
	isClean := now.Sub(j.cleaned).Abs() <= cleanEvery
	if isClean && j.isCurrent() && !j.isFull(now) {
		return j.tail, nil
	}
	listed, err := j.folder.list()
	if err != nil {
		return nil, err
	}
	newest := segment{number: 1}
	if n := len(listed.segments); n > 0 {
		newest = listed.segments[n-1]
	}
	// Reuse the cached index if it is of the newest segment.
	ix := newIndex(newest.number)
	if j.tail != nil && j.tail.number == newest.number && j.tail.read <= newest.size {
		ix = j.tail.index
	}
	j.tail = nil
	if newest.size > ix.read {
		if err := j.folder.read(ix, newest.size); err != nil {
			return nil, err
		}
	}
	j.tail = &tail{ix, newest.objects, newest.objects > 0}
	if j.isFull(now) {
		// Begin another segment; its file is created by the first write. Objects in the previous segment
		// without an entry are made durable first.
		name := j.folder.file(segmentName(j.tail.number))
		file, err := j.sys.Open(name, os.O_WRONLY|os.O_APPEND)
		if err == nil {
			err = errors.Join(file.Sync(), file.Close())
		}
		if err != nil {
			return nil, unusable(name, err)
		}
		// The previous segment is complete. If its index is not written, the next query builds it.
		if !newest.isLong() {
			_, _ = j.headOf(context.Background(), newest)
		}
		next := newIndex(j.tail.number + 1)
		next.spent.load(j.tail.spent.records(now))
		j.tail = &tail{index: next}
		listed.segments = append(listed.segments, segment{number: j.tail.number, last: now})
		isClean = false
	}
	j.older = listed.before(j.tail.number)
	if !isClean {
		j.cleaned = now
		// A file that cannot be removed, such as an open one on Windows, is no reason to refuse a write. The
		// next cleaning tries again.
		_ = j.removeOld(listed, 0, now)
		if older, err := j.sizeBefore(j.tail.number); err == nil {
			j.older = older
		}
	}
	return j.tail, nil
}

// sizeBefore returns the current total size of the segments before a number.
func (j *Journal) sizeBefore(number uint64) (int64, error) {
	listed, err := j.folder.list()
	return listed.before(number), err
}

// before returns the total size of the segments before a number.
func (s content) before(number uint64) (total int64) {
	for _, seg := range s.segments {
		if seg.number < number {
			total += seg.size + seg.objects
		}
	}
	return total
}

// cleanEvery is the interval at which a process removes old segments.
const cleanEvery = time.Hour

// isCurrent reports whether no other process has written to the journal since this one read the tail.
func (j *Journal) isCurrent() bool {
	if j.tail == nil {
		return false
	}
	info, err := os.Lstat(j.folder.file(segmentName(j.tail.number)))
	if err != nil || info.Size() != j.tail.read || ownerfiles.CheckFile("", info) != nil {
		return false
	}
	_, err = os.Lstat(j.folder.file(segmentName(j.tail.number + 1)))
	return errors.Is(err, fs.ErrNotExist)
}

// read extends an index up to size. It skips damaged lines; those are reported when entries are read.
func (p folder) read(ix *index, size int64) error {
	name := p.file(segmentName(ix.number))
	file, err := ownerfiles.Open(name, os.O_RDONLY)
	if err != nil {
		return unusable(name, err)
	}
	defer file.Close()
	for line, err := range ownerfiles.Lines(file, ix.read, size, maxLine) {
		if err != nil {
			return unusable(name, err)
		}
		ix.read = line.End
		ix.isTorn = !line.Whole
		if record, ok := unwrap(line.Text); ok {
			ix.add(record, line.At, line.End-line.At)
		}
	}
	return nil
}

// isFull reports whether the next entry must go to another segment.
func (j *Journal) isFull(now time.Time) bool {
	t := j.tail
	if t.read == 0 {
		return false
	}
	lines := min(j.lines, j.limits.MaxBytes/16)
	isTooOld := !t.born.IsZero() && now.Sub(t.born) > j.limits.MaxAge/8
	isTooLarge := t.read >= lines || t.read+t.objects >= j.limits.MaxBytes/8
	return t.isNewerFormat || isTooOld || isTooLarge
}

// removeOld removes old segments, and temporary files of killed processes. The caller must hold the lock.
//
// All but the newest two segments can be removed to save space, and all but the newest one because of age. The
// newest one has, or will get, the entry that is being written. A segment with an entry younger than a day is
// not removed to save space, so that no caller can push out the record of a change. need is the number of bytes
// about to be written.
func (j *Journal) removeOld(listed content, need int64, now time.Time) error {
	for _, name := range listed.temporary {
		if err := j.remove(name); err != nil {
			return err
		}
	}
	total := need
	for _, s := range listed.segments {
		total += s.size + s.objects
	}
	removed := 0
	for i, s := range listed.segments {
		remaining := len(listed.segments) - i
		age := now.Sub(s.last)
		isOld := age > j.limits.MaxAge && remaining > 1
		isSurplus := total > j.limits.MaxBytes && remaining > 2 && age >= protected
		if !isOld && !isSurplus {
			break
		}
		total -= s.size + s.objects
		removed++
	}
	if removed == 0 {
		return nil
	}
	if err := j.keepLineage(listed.segments[:removed]); err != nil {
		return err
	}
	for _, s := range listed.segments[:removed] {
		// Remove the objects last: without its lines, a segment does not exist, and remaining objects are
		// removed the next time.
		if err := j.remove(segmentName(s.number)); err != nil {
			return err
		}
		for _, name := range s.files {
			if err := j.remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *Journal) remove(name string) error {
	err := j.sys.Remove(j.folder.file(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(j.folder.file(name), err)
	}
	return nil
}
