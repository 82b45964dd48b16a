package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

// batch collects records and writes them atomically: all of them are kept, or none.
type batch struct {
	*Journal
	tail         *tail
	name         string
	out          ownerfiles.File
	isNew        bool // the segment did not exist
	start        int64
	at           int64 // offset of the next line
	buf          []byte
	stored       int64    // bytes in files next to the segment
	createdFiles []string // paths
	now          time.Time
	// The bytes of a bounded batch count for payer and are limited. Outcomes are not bounded: they are never
	// refused.
	isBounded bool
	payer     string
	// payerBytes is what the payer has written within [protected], when nothing can be removed to make room;
	// allBytes is what all callers have written.
	payerBytes, allBytes int64
}

// flushAt is the number of buffered bytes from which they are written to the file.
const flushAt = 256 << 10

// durability tells whether a write must be on the disk when the writer returns.
type durability bool

const (
	durable durability = true
	lazy    durability = false
)

// write calls fill with a batch and commits it. After an error, nothing was written.
func (j *Journal) write(how durability, fill func(*batch) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	if err := j.prepare(); err != nil {
		return err
	}
	unlock, err := j.folder.lockAppend()
	if err != nil {
		return err
	}
	defer unlock()
	t, err := j.openTail(now)
	if err != nil {
		return err
	}
	b, err := j.beginBatch(t, now)
	if err != nil {
		return err
	}
	if err = fill(b); err == nil {
		err = b.commit(how)
	}
	if err == nil {
		return nil
	}
	b.undo()
	if contentErr, ok := errors.AsType[*contentError](err); ok {
		return contentErr.cause
	}
	return unusable(j.folder.dir, err)
}

// beginBatch opens the segment of a tail. It writes the first record of a new segment, and repairs the end of a
// torn one. After an error, nothing was written.
func (j *Journal) beginBatch(t *tail, now time.Time) (*batch, error) {
	b := &batch{Journal: j, tail: t, name: j.folder.file(segmentName(t.number)), start: t.read, at: t.read, now: now}
	var err error
	b.out, err = j.sys.Open(b.name, os.O_WRONLY|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		b.isNew = true
		b.out, err = j.sys.Create(b.name)
	}
	// Only an empty segment may have a name that is not durable yet.
	if err == nil && b.start == 0 {
		err = j.sys.SyncFolder(j.folder.dir)
	}
	switch {
	case err != nil:
	case b.start == 0:
		err = b.writeRecord(segmentRecord{t.number, formatVersion, now.UTC(), t.spent.records(now)})
	case t.isTorn:
		b.buf = append(b.buf, '\n')
		b.at++
		err = b.writeLine([]byte(repairKey + `"the line before was cut short"}`))
	}
	if err != nil {
		if b.out != nil {
			b.undo()
		}
		return nil, unusable(b.name, err)
	}
	return b, nil
}

// writeRecord writes the line of a record.
func (b *batch) writeRecord(v any) error {
	record, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.writeLine(record)
}

// writeLine writes the line of an encoded record.
func (b *batch) writeLine(record []byte) error {
	if lineHead+len(record)+1 > maxLine {
		return &TooLarge{"a record", maxLine}
	}
	b.buf = appendLine(b.buf, record)
	return b.added(record)
}

// writePacked writes a line that was made by [appendLine] before.
func (b *batch) writePacked(line []byte) error {
	if len(line) > maxLine {
		return &TooLarge{"a record", maxLine}
	}
	b.buf = append(b.buf, line...)
	return b.added(line[lineHead : len(line)-1])
}

// added takes note of a record whose line is at the end of the buffer.
func (b *batch) added(record []byte) error {
	length := int64(lineHead + len(record) + 1)
	b.tail.add(record, b.at, length)
	b.at += length
	if err := b.checkSize(); err != nil {
		return err
	}
	if len(b.buf) >= flushAt {
		return b.flush()
	}
	return nil
}

// charge sets the limits of the batch for its payer. unrecorded is the number of bytes of the payer that no
// record has yet.
func (b *batch) charge(unrecorded int64) {
	spent := b.tail.spent
	b.payerBytes = spent.by(b.payer, b.now, protected) + unrecorded
	b.allBytes = spent.total(b.now, protected) + unrecorded
}

// written returns the number of bytes that the batch has written so far.
func (b *batch) written() int64 { return b.at - b.start + b.stored }

// checkSize returns an error if the batch exceeds the limit of an entry, the share of its payer, or the space
// that is left.
func (b *batch) checkSize() error {
	maxEntry := b.limits.MaxBytes / entriesAtLeast
	switch {
	case b.written() > b.limits.MaxBytes, b.isBounded && b.written() > maxEntry:
		return &TooLarge{"what an entry has to keep", maxEntry}
	case !b.isBounded:
		return nil
	case !shares.Half.Allows(b.limits.MaxBytes, b.allBytes, b.payerBytes, b.written()):
		return &Full{
			fmt.Sprintf(
				"one caller can write up to a half of what others leave of %d bytes a day, and this one has written %d",
				b.limits.MaxBytes,
				b.payerBytes,
			),
		}
	case b.isWithinLimit():
		return nil
	}
	// Remove old segments. If that does not free enough, the batch is refused.
	seen, err := b.folder.list()
	if err != nil {
		return err
	}
	// Temporary files, including those of this batch, are not removed here.
	seen.temporary = nil
	if err := b.removeOld(seen, b.written(), b.now); err != nil {
		return err
	}
	if b.older, err = b.sizeBefore(b.tail.number); err != nil {
		return err
	}
	if b.isWithinLimit() {
		return nil
	}
	return &Full{fmt.Sprintf("limit of %d bytes reached by entries younger than %v", b.limits.MaxBytes, protected)}
}

// isWithinLimit reports whether the journal, including the batch, is within its limit.
func (b *batch) isWithinLimit() bool {
	return b.older+b.start+b.tail.objects+b.written() <= b.limits.MaxBytes
}

func (b *batch) flush() error {
	if len(b.buf) == 0 {
		return nil
	}
	_, err := b.out.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}

// commit writes the batch and, unless it is lazy, makes it durable. An entry counts only after commit returns,
// so its objects and its record can be synced together.
func (b *batch) commit(how durability) error {
	err := b.flush()
	if err == nil && how == durable {
		err = b.out.Sync()
	}
	if err == nil && (b.tail.mayBeUnsynced || len(b.createdFiles) > 0) {
		err = b.sys.SyncFolder(b.folder.dir)
	}
	if err != nil {
		return err
	}
	b.tail.read = b.at
	b.tail.isTorn = false
	b.tail.mayBeUnsynced = false
	b.tail.objects += b.stored
	err = b.out.Close()
	b.out = nil
	return err
}

// undo restores the segment. If the disk refuses that, records without an entry or a torn line remain.
func (b *batch) undo() {
	if b.out != nil {
		_ = b.out.Close()
	}
	if b.isNew {
		_ = b.sys.Remove(b.name)
	} else {
		_ = b.sys.Truncate(b.name, b.start)
	}
	for _, name := range b.createdFiles {
		_ = b.sys.Remove(name)
	}
	b.Journal.tail = nil
	b.Journal.recent = recent{}
}

// ledger has the number of bytes that callers have written recently, by caller and time. Each entry records its
// size, and the first record of a segment repeats the earlier sums, so the newest segment is enough to know all
// of them.
//
// A caller is identified by a digest: names may be long, and there may be thousands.
type ledger map[period]int64

// period is one caller in one part of an hour, see [spentPart].
type period struct {
	payer string
	at    int64 // number of the part since the epoch
}

// spentRecord is one row of a ledger, as it is encoded.
type spentRecord struct {
	Payer string `json:"payer"`
	At    int64  `json:"at"`
	Bytes int64  `json:"bytes"`
}

const (
	spentPart = 10 * time.Minute
	// maxSpent limits the rows in the first record of a segment, which is one line.
	maxSpent = 4096
)

// unrecorded is what was stored for a caller and is not in a record yet: the next outcome will include it.
type unrecorded struct {
	payer string
	bytes int64
}

// payerOf returns the digest of the agent to which a caller's bytes are charged, in all of its sessions.
func payerOf(caller string) string {
	sum := sha256.Sum256([]byte(shares.Agent(caller)))
	return hex.EncodeToString(sum[:shortDigestLength/2])
}

func partOf(t time.Time) int64 { return t.Unix() / int64(spentPart/time.Second) }

// isWithin reports whether a row is at most as old as within. After the clock was set back, rows in the future
// count for as long.
func (p period) isWithin(now time.Time, within time.Duration) bool {
	distance := partOf(now) - p.at
	return max(distance, -distance) <= int64(within/spentPart)
}

// by returns how many bytes a payer has written recently.
func (l ledger) by(payer string, now time.Time, within time.Duration) (total int64) {
	for p, bytes := range l {
		if p.payer == payer && p.isWithin(now, within) {
			total += bytes
		}
	}
	return total
}

// total returns how many bytes all payers have written recently.
func (l ledger) total(now time.Time, within time.Duration) (sum int64) {
	for p, bytes := range l {
		if p.isWithin(now, within) {
			sum += bytes
		}
	}
	return sum
}

// records returns the rows of the last day, summed by hour; if there are too many, only the largest.
func (l ledger) records(now time.Time) (rows []spentRecord) {
	const hour = int64(time.Hour / spentPart)
	hourly := ledger{}
	for p, bytes := range l {
		if p.isWithin(now, protected) {
			hourly[period{p.payer, p.at - p.at%hour}] += bytes
		}
	}
	for p, bytes := range hourly {
		rows = append(rows, spentRecord{p.payer, p.at, bytes})
	}
	slices.SortFunc(rows, func(a, b spentRecord) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Payer, b.Payer), cmp.Compare(a.At, b.At))
	})
	return rows[:min(len(rows), maxSpent)]
}

func (l ledger) load(rows []spentRecord) {
	for _, row := range rows {
		if row.Bytes > 0 && isShortDigest(row.Payer) {
			l[period{row.Payer, row.At}] = max(l[period{row.Payer, row.At}], row.Bytes)
		}
	}
}

// charge adds the size of an entry, or of a later record about it, to the ledger at the time of the entry.
func (ix *index) charge(id string, record []byte) {
	bytes, rest, ok := cutInt(record, `,"bytes":`)
	payer, _, isPaid := cutText(rest, `,"payer":"`)
	at, err := ParseID(id)
	isPaid = isPaid && isShortDigest(payer)
	if isPaid && err == nil && ok && bytes > 0 {
		ix.spent[period{payer, partOf(at)}] += bytes
	}
}
