package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// The reserve of a log is a file of fixed length, which is made while there is room and then only written in place, which
// also works on a full disk. When lines cannot be written, it takes how many, and the lines of refusals themselves, as
// many as fit. Once there is room, the count is the next line of the log, as a gap, and the refusals follow.
const (
	reserveFile = "audit.reserve"
	reserveHead = 256
	reserveSize = reserveHead + 128<<10 // some three hundred refusals
)

// reserve is the head of that file.
type reserve struct {
	Version int       `json:"version"`
	Missed  uint64    `json:"missed"`          // lines that could not be written and are not kept
	Since   time.Time `json:"since,omitzero"`  // when the first of the lines could not be written
	Bytes   int64     `json:"bytes,omitempty"` // that the refusals behind the head take
	Sum     string    `json:"sum"`             // of them
}

const reserveVersion = 1

func (r reserve) isEmpty() bool { return r.Missed == 0 && r.Bytes == 0 }

// encode returns the head as it is written.
func (r reserve) encode(refusals []byte) []byte {
	sum := sha256.Sum256(refusals)
	r.Version = reserveVersion
	r.Bytes = int64(len(refusals))
	r.Sum = hex.EncodeToString(sum[:digestLength/2])
	text, _ := json.Marshal(r) // it has numbers and texts
	head := bytes.Repeat([]byte{' '}, reserveHead)
	copy(head, text)
	head[reserveHead-1] = '\n'
	return head
}

// readReserve returns what the reserve of a log has. Without one, or if it was cut off while it was written, it is empty.
// exists says that there is a file of the right length.
func (p folder) readReserve() (r reserve, refusals []byte, exists bool) {
	file, size, err := p.open(reserveFile)
	if err != nil || size != reserveSize {
		if err == nil {
			_ = file.Close()
		}
		return reserve{}, nil, false
	}
	defer file.Close()
	head := make([]byte, reserveHead)
	if _, err := file.ReadAt(head, 0); err != nil {
		return reserve{}, nil, false
	}
	if json.Unmarshal(bytes.TrimRight(head, " \n\x00"), &r) != nil || r.Bytes < 0 || r.Bytes > reserveSize-reserveHead {
		return reserve{}, nil, true
	}
	refusals = make([]byte, r.Bytes)
	if _, err := file.ReadAt(refusals, reserveHead); err != nil {
		return reserve{}, nil, true
	}
	if !bytes.Equal(r.encode(refusals), head) { // only the count is to be believed
		return reserve{Missed: r.Missed, Since: r.Since}, nil, true
	}
	return r, refusals, true
}

// makeReserve makes the reserve if there is none. The caller has the lock. Without one the process counts in memory.
func (l *Log) makeReserve() {
	r, _, exists := l.folder.readReserve()
	l.late = l.late || !r.isEmpty()
	if exists || !l.hasReserve {
		return
	}
	name := l.folder.file(reserveFile)
	if err := l.sys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	file, err := l.sys.Create(name)
	if err != nil {
		return
	}
	_, err = file.Write(slices.Concat(reserve{}.encode(nil), make([]byte, reserveSize-reserveHead)))
	if err == nil {
		err = file.Sync() // so that its room is taken
	}
	if errors.Join(err, file.Close()) != nil {
		_ = l.sys.Remove(name)
	}
}

// writeReserve replaces what the reserve has. The caller has the lock.
func (l *Log) writeReserve(r reserve, refusals []byte) error {
	file, err := l.sys.Open(l.folder.file(reserveFile), os.O_RDWR)
	if err != nil {
		return err
	}
	if len(refusals) > 0 {
		_, err = file.WriteAt(refusals, reserveHead)
	}
	if err == nil {
		_, err = file.WriteAt(r.encode(refusals), 0)
	}
	if err == nil && len(refusals) > 0 {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// missing returns the lines that could not be written, if they are to be counted, and notes since when there are any.
func (l *Log) missing(all []*waiting) []Line {
	var lines []Line
	for _, w := range all {
		if !w.written && !w.isLate {
			lines = append(lines, w.lines...)
		}
	}
	if len(lines) == 0 || !l.hasReserve {
		return nil
	}
	l.late = true
	if l.unkept.Since.IsZero() {
		l.unkept.Since = lines[0].Time
	}
	return lines
}

// countMissed counts lines that could not be written in memory, until the lock of all writers can be had.
func (l *Log) countMissed(all []*waiting) {
	n := uint64(len(l.missing(all)))
	l.unkept.Missed += n
	l.missed.Add(n)
}

// keepMissed counts lines that could not be written, and keeps those of refusals. The caller has the lock of all writers.
func (l *Log) keepMissed(all []*waiting) {
	lines := l.missing(all)
	if len(lines) == 0 {
		return
	}
	r, refusals, exists := l.folder.readReserve()
	missed := uint64(0)
	for _, line := range lines {
		text, err := json.Marshal(line)
		fits := len(refusals)+len(text)+1 <= reserveSize-reserveHead
		isRefusal := err == nil && line.Decision == "deny"
		if exists && isRefusal && fits {
			refusals = append(append(refusals, text...), '\n')
			continue
		}
		missed++
	}
	if r.Since.IsZero() {
		r.Since = l.unkept.Since
	}
	r.Missed += l.unkept.Missed + missed
	if !exists || l.writeReserve(r, refusals) != nil {
		l.unkept.Missed += uint64(len(lines))
		l.missed.Add(uint64(len(lines)))
		return
	}
	l.unkept = reserve{}
	l.missed.Add(missed)
}

// lateLines returns what is to be written first now that there is room: how many lines could not be written, and the
// refusals among them. It is nil if there is nothing. The caller has the lock.
func (l *Log) lateLines() *waiting {
	if !l.late {
		return nil
	}
	r, refusals, _ := l.folder.readReserve()
	missed := r.Missed + l.unkept.Missed
	since := r.Since
	if since.IsZero() || !l.unkept.Since.IsZero() && l.unkept.Since.Before(since) {
		since = l.unkept.Since
	}
	w := &waiting{durability: Durable, isLate: true}
	for text := range bytes.Lines(refusals) {
		var line Line
		err := json.Unmarshal(text, &line)
		isOfLog := line.Kind == kindGap || line.Kind == kindBreak // which the log writes by itself
		if err != nil || isOfLog || !isKind(line.Kind) {
			missed++
			continue
		}
		w.lines = append(w.lines, line)
	}
	if missed > 0 {
		now := l.now().UTC()
		gap := Line{Kind: kindGap, Time: now, Repair: &Repair{Lost: missed, Why: notWritten}}
		if !since.IsZero() {
			gap.DurationMs = max(0, now.Sub(since).Milliseconds())
		}
		w.lines = slices.Insert(w.lines, 0, gap)
	}
	if len(w.lines) == 0 {
		l.late = false
		return nil
	}
	return w
}

// wroteLate empties the reserve, whose lines are in the log.
func (l *Log) wroteLate() {
	if _, _, exists := l.folder.readReserve(); exists && l.writeReserve(reserve{}, nil) != nil {
		return // they come a second time, which is better than never
	}
	l.late = false
	l.unkept = reserve{}
}

// Missed returns how many lines this process could not write, without the refusals in the reserve.
func (l *Log) Missed() uint64 { return l.missed.Load() }

// notWritten is why a line says that lines are missing.
const notWritten = "lines could not be written: the disk was full or refused them"
