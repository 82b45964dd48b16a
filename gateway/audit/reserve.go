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

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// The reserve of a log is a file of fixed length. It is created while there is room and then only
// overwritten in place, which also works on a full disk. If lines cannot be written, it stores their
// count, and the lines of refusals themselves, as many as fit. Once there is room, the log continues
// with a gap that contains the count, followed by the refusals.
const (
	reserveFile = "audit.reserve"
	reserveHead = 256
	reserveSize = reserveHead + 128<<10 // some three hundred refusals
)

// reserve is the header of that file. [Log.unreserved] has only its counts.
type reserve struct {
	Version int       `json:"version"`
	Missed  uint64    `json:"missed"`          // lines that could not be written, without the refusals below
	Since   time.Time `json:"since,omitzero"`  // when the first line could not be written
	Bytes   int64     `json:"bytes,omitempty"` // length of the refusals after the header
	Sum     string    `json:"sum"`             // SHA-256 of the refusals, shortened
}

const reserveVersion = 1

func (r reserve) isEmpty() bool { return r.Missed == 0 && r.Bytes == 0 }

// encode returns the header for the given refusals, padded to reserveHead bytes.
func (r reserve) encode(refusals []byte) []byte {
	sum := sha256.Sum256(refusals)
	r.Version = reserveVersion
	r.Bytes = int64(len(refusals))
	r.Sum = hex.EncodeToString(sum[:digestLength/2])
	text, _ := json.Marshal(r) // cannot fail for these field types
	head := bytes.Repeat([]byte{' '}, reserveHead)
	copy(head, text)
	head[reserveHead-1] = '\n'
	return head
}

// readReserve reads the reserve. The result is empty if its header is invalid. If only the refusals do
// not match the header, the count is still returned. The error is [errNoReserve] or one of the system.
func (p folder) readReserve(sys ownerfiles.System) (r reserve, refusals []byte, err error) {
	file, err := sys.Open(p.file(reserveFile), os.O_RDONLY)
	if _, isUnsafe := errors.AsType[*ownerfiles.Unsafe](err); isUnsafe || errors.Is(err, fs.ErrNotExist) {
		return reserve{}, nil, errNoReserve
	}
	if err != nil {
		return reserve{}, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return reserve{}, nil, err
	}
	if info.Size() != reserveSize {
		return reserve{}, nil, errNoReserve
	}
	head := make([]byte, reserveHead)
	if _, err := file.ReadAt(head, 0); err != nil {
		return reserve{}, nil, err
	}
	if json.Unmarshal(bytes.TrimRight(head, " \n\x00"), &r) != nil || r.Bytes < 0 || r.Bytes > reserveSize-reserveHead {
		return reserve{}, nil, nil
	}
	refusals = make([]byte, r.Bytes)
	if _, err := file.ReadAt(refusals, reserveHead); err != nil {
		return reserve{}, nil, err
	}
	if !bytes.Equal(r.encode(refusals), head) { // the refusals are incomplete, or another version wrote them
		return reserve{Missed: r.Missed, Since: r.Since}, nil, nil
	}
	return r, refusals, nil
}

// errNoReserve means that there is no file of this user with the length of a reserve, so that it can be
// created. Any other error may pass, and then the reserve may have refusals.
var errNoReserve = errors.New("no reserve")

// makeReserve creates the reserve if it is missing, and notes whether it has lines of an earlier
// process. The caller holds the lock. If that fails, the process counts in memory.
func (l *Log) makeReserve() {
	r, _, err := l.folder.readReserve(l.sys)
	l.hasLate = l.hasLate || !r.isEmpty()
	if !errors.Is(err, errNoReserve) || !l.hasReserve {
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
		err = file.Sync() // allocates the space
	}
	if errors.Join(err, file.Close()) != nil {
		_ = l.sys.Remove(name)
	}
}

// ensureReserve is makeReserve for a log that is not written to yet. If the reserve exists, it only looks at it.
func (l *Log) ensureReserve() {
	if _, _, err := l.folder.readReserve(l.sys); !errors.Is(err, errNoReserve) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.lock()
	if err != nil {
		return // a line will tell
	}
	defer unlock()
	l.makeReserve()
}

// writeReserve replaces the content of the reserve. The caller holds the lock.
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

// unwrittenLines returns the lines that could not be written, nil if the log has no reserve. It records
// that there are such lines, and since when.
func (l *Log) unwrittenLines(writes []*pendingWrite) []Line {
	var lines []Line
	for _, w := range writes {
		if !w.done && !w.isLate {
			lines = append(lines, w.lines...)
		}
	}
	if len(lines) == 0 || !l.hasReserve {
		return nil
	}
	l.hasLate = true
	if l.unreserved.Since.IsZero() {
		l.unreserved.Since = lines[0].Time
	}
	return lines
}

// countMissed counts in memory the lines that could not be written because the lock was not free. They
// are reported by a later write that has it.
func (l *Log) countMissed(writes []*pendingWrite) {
	n := uint64(len(l.unwrittenLines(writes)))
	l.unreserved.Missed += n
	l.missed.Add(n)
}

// reserveMissed counts in the reserve the lines that could not be written, and stores those of refusals
// there. The caller holds the lock.
func (l *Log) reserveMissed(writes []*pendingWrite) {
	lines := l.unwrittenLines(writes)
	if len(lines) == 0 {
		return
	}
	r, refusals, err := l.folder.readReserve(l.sys)
	exists := err == nil
	unstored := uint64(0)
	for _, line := range lines {
		text, err := json.Marshal(line)
		fits := len(refusals)+len(text)+1 <= reserveSize-reserveHead
		isRefusal := err == nil && line.Decision == "deny"
		if !exists || !isRefusal || !fits {
			unstored++
			continue
		}
		refusals = append(append(refusals, text...), '\n')
	}
	if r.Since.IsZero() {
		r.Since = l.unreserved.Since
	}
	r.Missed += l.unreserved.Missed + unstored
	if !exists || l.writeReserve(r, refusals) != nil {
		l.unreserved.Missed += uint64(len(lines))
		l.missed.Add(uint64(len(lines)))
		return
	}
	l.unreserved = reserve{}
	l.missed.Add(unstored)
}

// lateLines returns the lines to write before all others, after earlier writes failed: a gap with
// the number of missing lines, and the stored refusals. It is nil, and hasLate becomes false, if there
// are none. The caller holds the lock.
func (l *Log) lateLines() *pendingWrite {
	if !l.hasLate {
		return nil
	}
	r, refusals, _ := l.folder.readReserve(l.sys)
	missed := r.Missed + l.unreserved.Missed
	since := r.Since
	if since.IsZero() || !l.unreserved.Since.IsZero() && l.unreserved.Since.Before(since) {
		since = l.unreserved.Since
	}
	w := &pendingWrite{durability: Durable, isLate: true}
	for text := range bytes.Lines(refusals) {
		var line Line
		err := json.Unmarshal(text, &line)
		isInternal := line.Kind == kindGap || line.Kind == kindBreak // only the log itself writes these
		if err != nil || isInternal || !isKind(line.Kind) {
			missed++
			continue
		}
		w.lines = append(w.lines, line)
	}
	if missed > 0 {
		now := l.now().UTC()
		gap := Line{Kind: kindGap, Time: now, Repair: &Repair{Lost: missed, Why: reasonNotWritten}}
		if !since.IsZero() {
			gap.DurationMs = max(0, now.Sub(since).Milliseconds())
		}
		w.lines = slices.Insert(w.lines, 0, gap)
	}
	if len(w.lines) == 0 {
		l.hasLate = false
		return nil
	}
	return w
}

// clearReserve empties the reserve after its lines were written to the log.
func (l *Log) clearReserve() {
	if _, _, err := l.folder.readReserve(l.sys); err == nil && l.writeReserve(reserve{}, nil) != nil {
		return // they will be written a second time, which is better than never
	}
	l.hasLate = false
	l.unreserved = reserve{}
}

// Missed returns how many lines this process could not write, not counting the refusals in the
// reserve.
func (l *Log) Missed() uint64 { return l.missed.Load() }

// reasonNotWritten is the reason in a gap for lines that could not be written.
const reasonNotWritten = "lines could not be written: the disk was full or refused them"
