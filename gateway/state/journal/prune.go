package journal

import (
	"errors"
	"io/fs"
	"time"
)

// Prune removes what is beyond the limits, the oldest first. Begin does the same
// now and then. What was written last stays until something else is written.
func (j *Journal) Prune() error {
	there, err := j.folder.exists()
	if err != nil || !there {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	unlock, err := j.folder.lockAppend()
	if err != nil {
		return err
	}
	defer unlock()
	seen, err := j.folder.list()
	if err != nil {
		return err
	}
	return j.removeOld(seen, 0, j.now())
}

// removeOld removes old segments and what processes left behind that came to an
// early end. It may be called only under the lock.
//
// By size the newest two segments are kept in any case, by age the newest: the
// entry that is being written is in it, or will be. A segment with an entry that
// is younger than a day stays, whatever the size: nobody can push the record of
// what was done just now out of the journal by doing more. need is how much is
// about to be written.
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
	for i, s := range seen.segments {
		left := len(seen.segments) - i
		age := now.Sub(s.last)
		isOld := age > j.limits.MaxAge && left > 1
		if !isOld && (total <= j.limits.MaxBytes || left <= 2 || age < protected) {
			return nil
		}
		if err := j.removeSegment(s); err != nil {
			return err
		}
		total -= s.size + s.objects
	}
	return nil
}

// removeSegment removes the objects last: without its lines a segment is
// nothing, and what is left of it goes the next time.
func (j *Journal) removeSegment(s segment) error {
	if err := j.remove(segmentName(s.number)); err != nil {
		return err
	}
	for _, name := range s.files {
		if err := j.remove(name); err != nil {
			return err
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
