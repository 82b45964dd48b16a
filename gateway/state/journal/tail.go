package journal

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"vaultwicket/gateway/state/private"
)

// tail is the segment that is written to.
type tail struct {
	*index
	objects int64 // the length of the files next to it
	// unsure says that the names of those files may not be durable: whoever made
	// them may have come to an end before.
	unsure bool
}

// openTail finds the segment to write to, and reads of it what is not known yet. It
// may be called only under the lock.
func (j *Journal) openTail(now time.Time) (*tail, error) {
	isTended := now.Sub(j.cleaned).Abs() <= cleanEvery
	if isTended && j.isCurrent() && !j.isFull(j.tail, now) {
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
	if err := j.readTail(newest); err != nil {
		return nil, err
	}
	if j.isFull(j.tail, now) {
		if err := j.rotate(now); err != nil {
			return nil, err
		}
		seen.segments = append(seen.segments, segment{number: j.tail.number, last: now})
		isTended = false
	}
	j.older = seen.before(j.tail.number)
	if !isTended {
		j.cleaned = now
		// What cannot be removed, such as a file that somebody reads on a system
		// that forbids that, is no reason to refuse a write. It is tried again.
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

// cleanEvery is how often a process that runs for long looks for what is too old.
const cleanEvery = time.Hour

// isCurrent reports whether nobody else has written since this process did.
func (j *Journal) isCurrent() bool {
	if j.tail == nil {
		return false
	}
	info, err := os.Lstat(j.folder.file(segmentName(j.tail.number)))
	if err != nil || info.Size() != j.tail.read || private.CheckFile("", info) != nil {
		return false
	}
	_, err = os.Lstat(j.folder.file(segmentName(j.tail.number + 1)))
	return errors.Is(err, fs.ErrNotExist)
}

// readTail makes the tail that of the newest segment.
func (j *Journal) readTail(newest segment) error {
	ix := newIndex(newest.number)
	if j.tail != nil && j.tail.number == newest.number && j.tail.read <= newest.size {
		ix = j.tail.index
	}
	j.tail = nil
	if newest.size > ix.read {
		if err := j.folder.read(ix, newest.size); err != nil {
			return err
		}
	}
	j.tail = &tail{ix, newest.objects, newest.objects > 0}
	return nil
}

// read fills an index up to size.
func (p folder) read(ix *index, size int64) error {
	name := p.file(segmentName(ix.number))
	file, err := private.Open(name, os.O_RDONLY)
	if err != nil {
		return unusable(name, err)
	}
	defer file.Close()
	return unusable(name, ix.fill(file, size))
}

// isFull reports whether the next entry belongs in another segment.
func (j *Journal) isFull(t *tail, now time.Time) bool {
	if t.read == 0 {
		return false
	}
	lines := min(maxSegment, j.limits.MaxBytes/16)
	tooOld := !t.born.IsZero() && now.Sub(t.born) > j.limits.MaxAge/8
	return t.newer || tooOld || t.read >= lines || t.read+t.objects >= j.limits.MaxBytes/8
}

// rotate begins another segment, which is made when it is written to. What was
// put into the one before without an entry is made durable first.
func (j *Journal) rotate(now time.Time) error {
	name := j.folder.file(segmentName(j.tail.number))
	file, err := j.sys.Open(name, os.O_WRONLY|os.O_APPEND)
	if err == nil {
		err = errors.Join(file.Sync(), file.Close())
	}
	if err != nil {
		return unusable(name, err)
	}
	next := newIndex(j.tail.number + 1)
	next.spent.load(j.tail.spent.records(now))
	j.tail = &tail{index: next}
	return nil
}
