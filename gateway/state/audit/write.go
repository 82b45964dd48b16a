package audit

import (
	"errors"
	"fmt"
	"io"
)

// Write appends a line. If it is to be durable, no crash can lose it once Write
// has returned nil: that is for what is written before and after a change.
//
// An error means that the line is not in the log: an *[Unusable], such as with
// a full disk, a *[Busy] or an *[Invalid]. The exception is a disk that takes
// nothing at all any more, not even the line back: then a line may be there
// that nobody was promised.
func (l *Log) Write(line Line, durable bool) error {
	line, err := line.prepared(l.now())
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	t, err := l.openTail()
	if err == nil {
		err = l.append(t, line, durable)
	}
	if err != nil {
		_ = l.closeTail()
		return unusable(l.current, err)
	}
	if !l.keepOpen {
		_ = l.closeTail() // the line is there, and durable if it is to be
	}
	return nil
}

func (l *Log) append(t *tail, line Line, durable bool) error {
	next, err := l.compose(t, line)
	if err != nil {
		return err
	}
	if t.size > 0 && t.isClean() && t.size+int64(len(next.text)) > l.limits.FileSize {
		if t, err = l.rotate(t); err != nil {
			return err
		}
		if next, err = l.compose(t, line); err != nil {
			return err
		}
	}
	return l.commit(t, next, durable)
}

// addition is what is written at once: a line, and before it what repairs the
// end of the file.
type addition struct {
	text   []byte
	end    point
	last   int64  // where the last line begins
	broken uint64 // the first line that records a break, 0 if there is none
}

func (l *Log) compose(t *tail, line Line) (a addition, err error) {
	a = addition{text: l.buf[:0], end: t.end}
	if t.unclosed {
		a.text = append(a.text, '\n')
	}
	for _, repair := range t.repairs {
		repair.Time = line.Time
		if a.text, a.end, err = a.end.encode(a.text, repair); err != nil {
			return a, err
		}
		if repair.Kind == kindBreak && a.broken == 0 {
			a.broken = a.end.seq
		}
	}
	a.last = t.size + int64(len(a.text))
	a.text, a.end, err = a.end.encode(a.text, line)
	l.buf = a.text
	return a, err
}

// commit writes an addition and the head that goes with it.
func (l *Log) commit(t *tail, a addition, durable bool) error {
	n, err := t.file.Write(a.text)
	if err == nil && n < len(a.text) {
		err = io.ErrShortWrite
	}
	if err == nil && durable {
		err = t.file.Sync()
	}
	h := t.head
	h.size, h.last, h.end = t.size+int64(len(a.text)), a.last, a.end
	if durable {
		h.synced = a.end.seq
	}
	if h.broken == 0 {
		h.broken = a.broken
	}
	text := h.encode()
	if err == nil {
		_, err = t.record.WriteAt(text[:], 0)
	}
	if err != nil {
		return l.rollBack(t, err)
	}
	t.head, t.text = h, text
	t.size, t.last, t.end = h.size, h.last, h.end
	t.unclosed, t.repairs = false, nil
	l.seen = t.end
	if t.dropped {
		t.dropped = false
		l.clear(t)
	}
	return nil
}

// rollBack leaves things as they were. If the disk does not let it, the next
// write repairs them.
func (l *Log) rollBack(t *tail, cause error) error {
	_, err := t.record.WriteAt(t.text[:], 0)
	if err2 := l.sys.Truncate(l.current, t.size); err2 != nil {
		err = errors.Join(err, fmt.Errorf("what was written could not be taken back: %w", err2))
	}
	return errors.Join(cause, err)
}
