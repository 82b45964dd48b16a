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

// batch is written atomically: all of it is kept, or nothing.
type batch struct {
	*Journal
	tail   *tail
	name   string
	out    ownerfiles.File
	fresh  bool // the segment was not there
	start  int64
	at     int64 // where the next line begins
	buf    []byte
	stored int64    // in files
	made   []string // files
	now    time.Time
	// A bounded batch counts for payer. Outcomes are not bounded: they are never refused.
	bounded bool
	payer   string
	// ofDay is what the payer has written within [protected], which cannot be removed to make room, and ofAll what all have.
	ofDay, ofAll int64
}

// flushAt is how much is collected before it is written.
const flushAt = 256 << 10

// durability says whether what is written is on the disk when the writer returns.
type durability bool

const (
	durable durability = true
	lazy    durability = false
)

// write passes a batch to fill and writes it. After an error nothing was written.
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
	if theirs, ok := errors.AsType[*contentError](err); ok {
		return theirs.cause
	}
	return unusable(j.folder.dir, err)
}

// beginBatch opens the segment that ends with a tail, and begins it, or repairs its end, where that is needed. With an
// error nothing was written.
func (j *Journal) beginBatch(t *tail, now time.Time) (*batch, error) {
	b := &batch{Journal: j, tail: t, name: j.folder.file(segmentName(t.number)), start: t.read, at: t.read, now: now}
	var err error
	b.out, err = j.sys.Open(b.name, os.O_WRONLY|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		b.fresh = true
		b.out, err = j.sys.Create(b.name)
	}
	// A segment that is not empty has a name that is durable.
	if err == nil && b.start == 0 {
		err = j.sys.SyncFolder(j.folder.dir)
	}
	switch {
	case err != nil:
	case b.start == 0:
		err = b.value(segmentRecord{t.number, formatVersion, now.UTC(), t.spent.records(now)})
	case t.torn:
		b.buf = append(b.buf, '\n')
		b.at++
		err = b.line([]byte(repairKey + `"the line before was cut short"}`))
	}
	if err != nil {
		if b.out != nil {
			b.undo()
		}
		return nil, unusable(b.name, err)
	}
	return b, nil
}

// value writes a record.
func (b *batch) value(v any) error {
	record, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.line(record)
}

// line writes a record's line.
func (b *batch) line(record []byte) error {
	length := int64(lineHead + len(record) + 1)
	if length > maxLine {
		return &TooLarge{"a record", maxLine}
	}
	b.buf = appendLine(b.buf, record)
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

// charge has the batch count for its payer, who has written some bytes that are in no record yet.
func (b *batch) charge(unrecorded int64) {
	spent := b.tail.spent
	b.ofDay = spent.of(b.payer, b.now, protected) + unrecorded
	b.ofAll = spent.all(b.now, protected) + unrecorded
}

// written is how much the batch takes so far.
func (b *batch) written() int64 { return b.at - b.start + b.stored }

// checkSize returns an error if the batch exceeds the limit of an entry, the share of its caller, or the room that is
// left.
func (b *batch) checkSize() error {
	most := b.limits.MaxBytes / entriesAtLeast
	switch {
	case b.written() > b.limits.MaxBytes, b.bounded && b.written() > most:
		return &TooLarge{"what an entry has to keep", most}
	case !b.bounded:
		return nil
	case !shares.Half.Allows(b.limits.MaxBytes, b.ofAll, b.ofDay, b.written()):
		return &Full{
			fmt.Sprintf(
				"one caller can write up to a half of what others leave of %d bytes a day, and this one has written %d",
				b.limits.MaxBytes,
				b.ofDay,
			),
		}
	case b.fits():
		return nil
	}
	// Remove segments that are old enough. If that is not enough, the batch is refused.
	seen, err := b.folder.list()
	if err != nil {
		return err
	}
	// What is being written is a half or the tail, neither of which is removed here.
	seen.temporary = nil
	if err := b.removeOld(seen, b.written(), b.now); err != nil {
		return err
	}
	if b.older, err = b.sizeBefore(b.tail.number); err != nil {
		return err
	}
	if b.fits() {
		return nil
	}
	return &Full{fmt.Sprintf("limit of %d bytes reached by entries younger than %v", b.limits.MaxBytes, protected)}
}

// fits reports whether the journal is within its limit with the batch.
func (b *batch) fits() bool {
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

// commit makes everything durable, unless it is lazy. Nothing counts before it returns, so objects and the record
// that needs them are synced together.
func (b *batch) commit(how durability) error {
	err := b.flush()
	if err == nil && how == durable {
		err = b.out.Sync()
	}
	if err == nil && (b.tail.unsure || len(b.made) > 0) {
		err = b.sys.SyncFolder(b.folder.dir)
	}
	if err != nil {
		return err
	}
	b.tail.read = b.at
	b.tail.torn = false
	b.tail.unsure = false
	b.tail.objects += b.stored
	err = b.out.Close()
	b.out = nil
	return err
}

// undo restores the segment. If the disk refuses, records without an entry or a torn line remain.
func (b *batch) undo() {
	if b.out != nil {
		_ = b.out.Close()
	}
	if b.fresh {
		_ = b.sys.Remove(b.name)
	} else {
		_ = b.sys.Truncate(b.name, b.start)
	}
	for _, name := range b.made {
		_ = b.sys.Remove(name)
	}
	b.Journal.tail = nil
	b.Journal.recent = recent{}
}

// ledger is how many bytes callers have written lately, by caller and time. Each entry records its
// size, and the first record of a segment repeats the sums before it, so the newest segment has
// all of it.
//
// A caller is known by a digest: names may be long, and there may be thousands.
type ledger map[period]int64

// period is one caller in one part of an hour.
type period struct {
	payer string
	at    int64 // the number of the part, since the epoch
}

// spentRecord is one row of a ledger.
type spentRecord struct {
	Payer string `json:"payer"`
	At    int64  `json:"at"`
	Bytes int64  `json:"bytes"`
}

const (
	spentPart = 10 * time.Minute
	// maxSpent bounds the rows in the head of a segment, which is one line.
	maxSpent = 4096
)

// unrecorded is what was stored for a caller and is in no record yet: the next outcome has it.
type unrecorded struct {
	payer string
	bytes int64
}

// payerOf returns the digest of who pays for what a caller writes: its agent, over all sessions.
func payerOf(caller string) string {
	sum := sha256.Sum256([]byte(shares.Agent(caller)))
	return hex.EncodeToString(sum[:noteLength/2])
}

func partOf(t time.Time) int64 { return t.Unix() / int64(spentPart/time.Second) }

// counts reports whether a row is of the time within which something counts. After the clock was set back, rows of the
// future count for as long.
func (p period) counts(now time.Time, within time.Duration) bool {
	away := partOf(now) - p.at
	return max(away, -away) <= int64(within/spentPart)
}

// of returns how much a caller has written within some time.
func (l ledger) of(payer string, now time.Time, within time.Duration) (total int64) {
	for p, bytes := range l {
		if p.payer == payer && p.counts(now, within) {
			total += bytes
		}
	}
	return total
}

// all returns how much all callers have written within some time.
func (l ledger) all(now time.Time, within time.Duration) (total int64) {
	for p, bytes := range l {
		if p.counts(now, within) {
			total += bytes
		}
	}
	return total
}

// records returns the rows of the last day, one an hour, the largest if they are too many.
func (l ledger) records(now time.Time) (rows []spentRecord) {
	const hour = int64(time.Hour / spentPart)
	hourly := ledger{}
	for p, bytes := range l {
		if p.counts(now, protected) {
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

// charge adds the size of an entry, or of a later record about it, at the time of the entry.
func (ix *index) charge(id string, record []byte) {
	bytes, rest, ok := cutInt(record, `,"bytes":`)
	payer, _, isPaid := cutText(rest, `,"payer":"`)
	at, err := ParseID(id)
	isPaid = isPaid && isShortDigest(payer)
	if isPaid && err == nil && ok && bytes > 0 {
		ix.spent[period{payer, partOf(at)}] += bytes
	}
}
