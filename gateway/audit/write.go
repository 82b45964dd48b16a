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

// Durability says what a line survives once it is written.
type Durability bool

const (
	// Buffered lines survive the end of this process.
	Buffered Durability = false
	// Durable lines survive any crash: for the lines before and after a change.
	Durable Durability = true
)

// Write appends a line.
//
// An error, an *[Unusable], a *[Busy] or an *[Invalid], means that the line is not in the log. Only if the disk fails
// so badly that the line cannot be removed again may it be there all the same.
func (l *Log) Write(line Line, how Durability) error { return l.WriteAll(how, line) }

// WriteAll is Write for several consecutive lines. With an error the first of them may be in the
// log.
//
// Lines of several callers that wait for each other are written at once.
func (l *Log) WriteAll(how Durability, lines ...Line) error {
	w := &waiting{lines: make([]Line, 0, len(lines)), durability: how}
	for _, line := range lines {
		line, err := line.prepared(l.now())
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
	if !w.written {
		l.writeWaiting()
	}
	return w.err
}

// waiting are the lines of a call of [Log.WriteAll].
type waiting struct {
	lines      []Line
	durability Durability
	isLate     bool  // it could not be written before
	written    bool  // or failed
	err        error // of a line that is not in the log
}

// writeWaiting writes all lines that wait. The caller has mu.
func (l *Log) writeWaiting() {
	l.queueMu.Lock()
	all := l.queue
	l.queue = nil
	l.queueMu.Unlock()
	unlock, err := l.lock()
	miss := l.countMissed
	if err == nil {
		defer unlock()
		miss = l.keepMissed
		var t *tail
		if t, err = l.openTail(); err == nil {
			if late := l.lateLines(); late != nil {
				all = slices.Insert(all, 0, late)
			}
			err = l.append(t, all)
		}
		if err != nil || !l.keepOpen {
			_ = l.closeTail() // without an error the lines are there, and durable if they are to be
		}
		err = unusable(l.current, err)
	}
	if len(all) > 0 && all[0].isLate && all[0].written {
		l.wroteLate()
	}
	if err != nil {
		miss(all)
	}
	for _, w := range all {
		if !w.written {
			w.written = true
			w.err = err
		}
	}
}

// append writes lines, as many at once as fit into a file.
func (l *Log) append(t *tail, all []*waiting) error {
	lines := slices.Clip(all[0].lines)
	how := all[0].durability
	for _, w := range all[1:] {
		lines = append(lines, w.lines...)
		how = how || w.durability
	}
	for done, rotated := 0, false; done < len(lines); {
		next, count, err := l.compose(t, lines[done:], rotated)
		if err != nil {
			return err
		}
		if rotated = count == 0; rotated {
			if t, err = l.rotate(t); err != nil {
				return err
			}
			continue
		}
		if err := l.commit(t, next, how); err != nil {
			return err
		}
		done += count
		left := done
		for _, w := range all { // those whose lines are all written
			if left -= len(w.lines); left < 0 {
				break
			}
			w.written = true
		}
	}
	return nil
}

// addition is written at once: a line, preceded by the repair of the end of the file.
type addition struct {
	text   []byte
	end    point
	last   int64  // where the last line begins
	broken uint64 // the first line that records a break, 0 if there is none
}

// compose encodes as many lines as fit into the file, and returns their number: 0 if the file has
// to be rotated first. An empty file takes any line, and so does one that could not be rotated.
func (l *Log) compose(t *tail, lines []Line, rotated bool) (a addition, count int, err error) {
	a = addition{text: l.buf[:0], end: t.end}
	if t.unclosed {
		a.text = append(a.text, '\n')
	}
	for _, repair := range t.repairs {
		repair.Time = lines[0].Time
		if a.text, a.end, err = a.end.encode(a.text, &repair); err != nil {
			return a, 0, err
		}
		if repair.Kind == kindBreak && a.broken == 0 {
			a.broken = a.end.seq
		}
	}
	for i := range lines {
		text, end, err := a.end.encode(a.text, &lines[i])
		if err != nil {
			return a, 0, err
		}
		isNewFile := rotated || t.size == 0
		isFirst := count == 0 && (isNewFile || !t.isClean())
		if !isFirst && t.size+int64(len(text)) > l.limits.FileSize {
			break
		}
		a.last = t.size + int64(len(a.text))
		a.text = text
		a.end = end
		count++
	}
	l.buf = a.text
	return a, count, nil
}

// commit writes an addition and its head.
func (l *Log) commit(t *tail, a addition, how Durability) error {
	n, err := t.file.Write(a.text)
	if err == nil && n < len(a.text) {
		err = io.ErrShortWrite
	}
	if err == nil && how == Durable {
		err = t.file.Sync()
	}
	h := t.head
	h.size = t.size + int64(len(a.text))
	h.last = a.last
	h.end = a.end
	if how == Durable {
		h.synced = a.end.seq
	}
	if h.broken == 0 {
		h.broken = a.broken
	}
	t.next = h.encode()
	if err == nil {
		_, err = t.record.WriteAt(t.next[:], 0)
	}
	if err != nil {
		// Restore the files. If the disk does not permit that, the next write repairs them.
		_, failed := t.record.WriteAt(t.text[:], 0)
		if err := l.sys.Truncate(l.current, t.size); err != nil {
			failed = errors.Join(failed, fmt.Errorf("what was written could not be taken back: %w", err))
		}
		return errors.Join(err, failed)
	}
	t.head = h
	t.text = t.next
	t.size = h.size
	t.last = h.last
	t.end = h.end
	t.unclosed = false
	t.repairs = nil
	l.seen = t.end
	if t.dropped {
		t.dropped = false
		l.clear(t)
	}
	return nil
}

// patience is how long the lock is waited for. It is held for one line, and a moment longer for a
// rotation.
const patience = 10 * time.Second

// lock takes the lock of writers, and makes the folder if need be.
func (l *Log) lock() (unlock func(), err error) {
	path := l.folder.file(lockFile)
	if l.prepared.Load() {
		if unlock, err = ownerfiles.Lock(context.Background(), path, patience); !errors.Is(err, fs.ErrNotExist) {
			return unlock, store.Locked(path, err)
		} // the folder went away in between
	}
	if err := l.prepare(); err != nil {
		return nil, err
	}
	l.prepared.Store(true)
	unlock, err = ownerfiles.Lock(context.Background(), path, patience)
	return unlock, store.Locked(path, err)
}
