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
	objects int64 // the length of the files beside it
	// unsure says that the names of those files may not be durable: whoever made
	// them may have come to an end before.
	unsure bool
}

// reach finds the segment to write to, and reads of it what is not known yet. It
// may be called only under the lock.
func (j *Journal) reach(now time.Time) (*tail, error) {
	isTended := now.Sub(j.tended).Abs() <= tendEvery
	if isTended && j.isUnmoved() && !j.isFull(j.tail, now) {
		return j.tail, nil
	}
	seen, err := j.place.survey()
	if err != nil {
		return nil, err
	}
	newest := segment{number: 1}
	if n := len(seen.segments); n > 0 {
		newest = seen.segments[n-1]
	}
	if err := j.follow(newest); err != nil {
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
		j.tended = now
		// What cannot be removed, such as a file that somebody reads on a system
		// that minds, is no reason to refuse a write. It is tried again.
		_ = j.clear(seen, 0, now)
		if older, err := j.weigh(j.tail.number); err == nil {
			j.older = older
		}
	}
	return j.tail, nil
}

// weigh returns what the segments before one take.
func (j *Journal) weigh(number uint64) (int64, error) {
	seen, err := j.place.survey()
	return seen.before(number), err
}

// before returns what the segments before one take.
func (s survey) before(number uint64) (total int64) {
	for _, seg := range s.segments {
		if seg.number < number {
			total += seg.size + seg.objects
		}
	}
	return total
}

// tendEvery is how often a process that runs for long looks for what is too old.
const tendEvery = time.Hour

// isUnmoved reports whether nobody else has written since this process did.
func (j *Journal) isUnmoved() bool {
	if j.tail == nil {
		return false
	}
	info, err := os.Lstat(j.place.file(segmentName(j.tail.number)))
	if err != nil || info.Size() != j.tail.read || private.CheckFile("", info) != nil {
		return false
	}
	_, err = os.Lstat(j.place.file(segmentName(j.tail.number + 1)))
	return errors.Is(err, fs.ErrNotExist)
}

// follow makes the tail that of the newest segment.
func (j *Journal) follow(newest segment) error {
	ix := newIndex(newest.number)
	if j.tail != nil && j.tail.number == newest.number && j.tail.read <= newest.size {
		ix = j.tail.index
	}
	j.tail = nil
	if newest.size > ix.read {
		if err := j.place.read(ix, newest.size); err != nil {
			return err
		}
	}
	j.tail = &tail{ix, newest.objects, newest.objects > 0}
	return nil
}

// read fills an index up to size.
func (p place) read(ix *index, size int64) error {
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

// rotate turns to a new segment, which is made when it is written to. What was
// put into the one before without an entry is made durable first.
func (j *Journal) rotate(now time.Time) error {
	name := j.place.file(segmentName(j.tail.number))
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
