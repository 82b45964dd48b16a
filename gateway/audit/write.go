package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Durability selects what a written line survives.
type Durability bool

const (
	// Buffered lines survive the end of this process, but not always a crash of the system.
	Buffered Durability = false
	// Durable lines survive any crash. It is meant for the lines before and after a change.
	Durable Durability = true
)

// Write appends a line.
//
// An error means that the line is not in the log; it is an *[Unusable], a *[Busy] or an *[Invalid].
// The exception is a disk that fails so badly that a partly written line cannot be removed again.
func (l *Log) Write(line Line, durability Durability) error { return l.WriteAll(durability, line) }

// WriteAll is like Write for several consecutive lines. After an error, some of the first lines may
// be in the log.
//
// Lines of callers that wait at the same time are written together.
func (l *Log) WriteAll(durability Durability, lines ...Line) error {
	w := &pendingWrite{lines: make([]Line, 0, len(lines)), durability: durability}
	for _, line := range lines {
		line, err := line.prepare(l.now())
		if err != nil {
			return err
		}
		w.lines = append(w.lines, line)
	}
	l.queueMu.Lock()
	l.queue = append(l.queue, w)
	l.queueMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.done {
		l.writeQueued()
	}
	return w.err
}

// pendingWrite holds the lines of one call of [Log.WriteAll] until they are written.
type pendingWrite struct {
	lines      []Line
	durability Durability
	isLate     bool  // lines that an earlier write failed to append, see [Log.lateLines]
	done       bool  // finished: written, or failed with err
	err        error // the reason why a line is not in the log
}

// writeQueued writes all queued lines. The caller holds mu.
func (l *Log) writeQueued() {
	l.queueMu.Lock()
	writes := l.queue
	l.queue = nil
	l.queueMu.Unlock()
	recordMissed := l.countMissed
	unlock, err := l.lock()
	if err == nil {
		defer unlock()
		recordMissed = l.reserveMissed
		writes, err = l.appendQueued(writes)
	}
	if len(writes) > 0 && writes[0].isLate && writes[0].done {
		l.clearReserve()
	}
	if err != nil {
		recordMissed(writes)
	}
	for _, w := range writes {
		if !w.done {
			w.done = true
			w.err = err
		}
	}
}

// appendQueued appends queued writes, after the late lines of earlier ones, if there are any. It returns
// the writes including the late lines. The caller holds the lock.
func (l *Log) appendQueued(writes []*pendingWrite) ([]*pendingWrite, error) {
	t, err := l.openTail()
	if err == nil {
		if late := l.lateLines(); late != nil {
			writes = slices.Insert(writes, 0, late)
		}
		err = l.append(t, writes)
	}
	if err != nil || !l.keepOpen {
		_ = l.closeTail() // without an error the lines are written by now, and synced if they have to be
	}
	return writes, unusable(l.current, err)
}

// append writes lines, as many together as fit into a file, and rotates the file in between.
func (l *Log) append(t *tail, writes []*pendingWrite) error {
	var lines []Line
	durability := Buffered
	for _, w := range writes {
		lines = append(lines, w.lines...)
		durability = durability || w.durability
	}
	done := 0
	rotated := false // the last step was a rotation
	for done < len(lines) {
		next, count, err := l.compose(t, lines[done:], rotated)
		if err != nil {
			return err
		}
		if count == 0 {
			if t, err = l.rotate(t); err != nil {
				return err
			}
			rotated = true
			continue
		}
		rotated = false
		if err := l.commit(t, next, durability); err != nil {
			return err
		}
		done += count
		markDone(writes, done)
	}
	return nil
}

// markDone marks the writes whose lines are all among the first n lines.
func markDone(writes []*pendingWrite, n int) {
	for _, w := range writes {
		if n < len(w.lines) {
			return
		}
		n -= len(w.lines)
		w.done = true
	}
}

// addition is the text that one write appends: lines, preceded by the repair of the end of the
// file if it needs one.
type addition struct {
	text       []byte
	end        point
	lastOffset int64  // offset of the last line
	firstBreak uint64 // number of the first line that records a break, 0 if there is none
}

// compose encodes as many lines as fit into the file, and returns their count: 0 if the file must
// be rotated first. If the file is empty, was just rotated (or could not be), or needs a repair,
// the first line is included even if it is too long.
func (l *Log) compose(t *tail, lines []Line, rotated bool) (a addition, count int, err error) {
	a = addition{text: l.buf[:0], end: t.end}
	if t.isUnclosed {
		a.text = append(a.text, '\n')
	}
	for _, repair := range t.repairs {
		repair.Time = lines[0].Time
		if a.text, a.end, err = a.end.encode(a.text, &repair); err != nil {
			return a, 0, err
		}
		if repair.Kind == kindBreak && a.firstBreak == 0 {
			a.firstBreak = a.end.seq
		}
	}
	needsLine := rotated || t.size == 0 || !t.isClean() // even if it does not fit
	for i := range lines {
		text, end, err := a.end.encode(a.text, &lines[i])
		if err != nil {
			return a, 0, err
		}
		fits := t.size+int64(len(text)) <= l.limits.FileSize
		isRequired := needsLine && count == 0
		if !fits && !isRequired {
			break
		}
		a.lastOffset = t.size + int64(len(a.text))
		a.text = text
		a.end = end
		count++
	}
	l.buf = a.text
	return a, count, nil
}

// commit appends an addition to the file and updates the head. After an error it restores both.
func (l *Log) commit(t *tail, a addition, durability Durability) error {
	n, err := t.file.Write(a.text)
	if err == nil && n < len(a.text) {
		err = io.ErrShortWrite
	}
	if err == nil && durability == Durable {
		err = t.file.Sync()
	}
	h := t.head
	h.size = t.size + int64(len(a.text))
	h.lastOffset = a.lastOffset
	h.end = a.end
	if durability == Durable {
		h.synced = a.end.seq
	}
	if h.firstBreak == 0 {
		h.firstBreak = a.firstBreak
	}
	t.next = h.encode()
	if err == nil {
		_, err = t.record.WriteAt(t.next[:], 0)
	}
	if err != nil {
		// Restore both files. If that fails too, the next write repairs them.
		_, restoreErr := t.record.WriteAt(t.text[:], 0)
		if err := l.sys.Truncate(l.current, t.size); err != nil {
			restoreErr = errors.Join(restoreErr, fmt.Errorf("what was written could not be taken back: %w", err))
		}
		return errors.Join(err, restoreErr)
	}
	t.head = h
	t.text = t.next
	t.size = h.size
	t.lastOffset = h.lastOffset
	t.end = h.end
	t.isUnclosed = false
	t.repairs = nil
	l.seen = t.end
	if t.hasDropped {
		t.hasDropped = false
		l.removeDropped(t)
	}
	return nil
}

// lockTimeout is how long to wait for the lock. A writer holds it while it writes its queued lines,
// and a little longer for a rotation.
const lockTimeout = 10 * time.Second

// lock acquires the lock that all writers share, and creates the folder if it is missing.
func (l *Log) lock() (unlock func(), err error) {
	path := l.folder.file(lockFile)
	if l.prepared.Load() {
		unlock, err = ownerfiles.Lock(context.Background(), path, lockTimeout)
		wasRemoved := errors.Is(err, fs.ErrNotExist) // the folder, since it was prepared
		if !wasRemoved {
			return unlock, store.Locked(path, err)
		}
	}
	if err := l.prepare(); err != nil {
		return nil, err
	}
	l.prepared.Store(true)
	unlock, err = ownerfiles.Lock(context.Background(), path, lockTimeout)
	return unlock, store.Locked(path, err)
}
