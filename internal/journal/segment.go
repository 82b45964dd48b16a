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

// Suffixes of names, which begin with the number of the segment in ten digits. The name of an
// object also has its hash.
const (
	segmentSuffix   = ".lines"
	objectSuffix    = ".object"
	indexSuffix     = ".index" // the summary of a segment, which can be made again
	temporarySuffix = ".half"  // what is being written

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

// segment is one segment as it is on the disk.
type segment struct {
	number  uint64
	size    int64 // of the lines
	objects int64 // of the files next to it, with the index
	files   []string
	last    time.Time   // when it was last written to
	info    fs.FileInfo // of the lines, nil if there are none
}

// content is the list of files in the folder.
type content struct {
	segments  []segment // by number
	temporary []string
}

// list looks at the folder. Names that this package does not make are ignored.
func (p folder) list() (content, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return content{}, unusable(p.dir, err)
	}
	var s content
	byNumber := map[uint64]int{}
	indexes := map[uint64]fs.FileInfo{}
	for _, e := range entries { // sorted: a segment's own file comes after its objects
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
		if end == indexSuffix { // it may be made long after the segment was last written to
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
			s.temporary = append(s.temporary, index.Name()) // its segment was removed by an older program
		}
	}
	slices.SortFunc(s.segments, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return s, nil
}

// parseName returns the number in a name of this package, and what its end says it is.
func parseName(name string) (number uint64, end string, ok bool) {
	if len(name) < numberDigits {
		return 0, "", false
	}
	number, err := strconv.ParseUint(name[:numberDigits], 10, 64)
	if err != nil {
		return 0, "", false
	}
	for _, end := range []string{segmentSuffix, indexSuffix, objectSuffix, temporarySuffix} {
		rest, has := strings.CutSuffix(name[numberDigits:], end)
		ofSegment := end == segmentSuffix || end == indexSuffix
		if has && (rest == "") == ofSegment {
			return number, end, end != objectSuffix || isHash(strings.TrimPrefix(rest, "-"))
		}
	}
	return 0, "", false
}

// tail is the segment that is written to.
type tail struct {
	*index
	objects int64 // the length of the files next to it
	// unsure says that the names of those files may not be durable: their writer may have been
	// killed before.
	unsure bool
}

// openTail finds the current segment and reads its new part. The caller has the lock.
func (j *Journal) openTail(now time.Time) (*tail, error) {
	isTended := now.Sub(j.cleaned).Abs() <= cleanEvery
	if isTended && j.isCurrent() && !j.isFull(now) {
		return j.tail, nil
	}
	seen, err := j.folder.list()
	if err != nil {
		return nil, err
	}
	newest := segment{number: 1}
	if n := len(seen.segments); n > 0 {
		newest = seen.segments[n-1]
	}
	// Make the tail that of the newest segment.
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
		// Begin another segment, which is made when it is written to. What was put into the one before
		// without an entry is made durable first.
		name := j.folder.file(segmentName(j.tail.number))
		file, err := j.sys.Open(name, os.O_WRONLY|os.O_APPEND)
		if err == nil {
			err = errors.Join(file.Sync(), file.Close())
		}
		if err != nil {
			return nil, unusable(name, err)
		}
		// It is written to no more. Without its index whoever asks first makes it.
		_, _ = j.headOf(context.Background(), newest)
		next := newIndex(j.tail.number + 1)
		next.spent.load(j.tail.spent.records(now))
		j.tail = &tail{index: next}
		seen.segments = append(seen.segments, segment{number: j.tail.number, last: now})
		isTended = false
	}
	j.older = seen.before(j.tail.number)
	if !isTended {
		j.cleaned = now
		// A file that cannot be removed, such as one that is open on Windows, is no reason to
		// refuse a write. It is tried again.
		_ = j.removeOld(seen, 0, now)
		if older, err := j.sizeBefore(j.tail.number); err == nil {
			j.older = older
		}
	}
	return j.tail, nil
}

// sizeBefore returns what the segments before one take.
func (j *Journal) sizeBefore(number uint64) (int64, error) {
	seen, err := j.folder.list()
	return seen.before(number), err
}

// before returns what the segments before one take.
func (s content) before(number uint64) (total int64) {
	for _, seg := range s.segments {
		if seg.number < number {
			total += seg.size + seg.objects
		}
	}
	return total
}

// cleanEvery is the interval at which a process looks for old segments.
const cleanEvery = time.Hour

// isCurrent reports whether no other process has written since this one did.
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

// read fills an index up to size. It skips damage, which is reported where entries are read.
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
		ix.torn = !line.Whole
		if record, ok := unwrap(line.Text); ok {
			ix.add(record, line.At, line.End-line.At)
		}
	}
	return nil
}

// isFull reports whether the next entry belongs in another segment.
func (j *Journal) isFull(now time.Time) bool {
	t := j.tail
	if t.read == 0 {
		return false
	}
	lines := min(j.lines, j.limits.MaxBytes/16)
	tooOld := !t.born.IsZero() && now.Sub(t.born) > j.limits.MaxAge/8
	tooLarge := t.read >= lines || t.read+t.objects >= j.limits.MaxBytes/8
	return t.newer || tooOld || tooLarge
}

// removeOld removes old segments and temporary files of killed processes. The caller has the lock.
//
// By size all but the newest two segments can be removed, by age all but the newest, which has or
// gets the entry that is being written. A segment with an entry younger than a day stays, so that
// no caller can push out the record of a change. need is the number of bytes about to be written.
func (j *Journal) removeOld(seen content, need int64, now time.Time) error {
	for _, name := range seen.temporary {
		if err := j.remove(name); err != nil {
			return err
		}
	}
	total := need
	for _, s := range seen.segments {
		total += s.size + s.objects
	}
	removed := 0
	for i, s := range seen.segments {
		left := len(seen.segments) - i
		age := now.Sub(s.last)
		isOld := age > j.limits.MaxAge && left > 1
		isSurplus := total > j.limits.MaxBytes && left > 2 && age >= protected
		if !isOld && !isSurplus {
			break
		}
		total -= s.size + s.objects
		removed++
	}
	if removed == 0 {
		return nil
	}
	if err := j.outlive(seen.segments[:removed]); err != nil {
		return err
	}
	for _, s := range seen.segments[:removed] {
		// Remove the objects last: without its lines a segment does not exist, and remaining objects are
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
