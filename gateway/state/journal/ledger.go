package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"vaultwicket/gateway/state/journal/object"
)

// ledger is how much callers have written lately, by caller and time. It lies in
// the records of the newest segment: each entry says how much it took, and the
// first record of a segment repeats what was written before. So a process that begins to
// write knows it from what it reads anyway.
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
	spentWithin = time.Hour
	spentPart   = 10 * time.Minute
	// maxSpent bounds the rows in the head of a segment, which is one line.
	maxSpent = 4096
)

// unrecorded is what was stored next to the entries for a caller, which no record says yet: the
// next outcome does.
type unrecorded struct {
	payer string
	bytes int64
}

func payerOf(caller string) string {
	sum := sha256.Sum256([]byte(caller))
	return hex.EncodeToString(sum[:object.NoteLength/2])
}

func partOf(t time.Time) int64 { return t.Unix() / int64(spentPart/time.Second) }

// counts reports whether a row is of the last hour. With a clock that was put
// back, what lies in the future counts for as long.
func (p period) counts(now time.Time) bool {
	away := partOf(now) - p.at
	return max(away, -away) <= int64(spentWithin/spentPart)
}

func (l ledger) add(payer string, at time.Time, bytes int64) { l[period{payer, partOf(at)}] += bytes }

// of returns how much a caller has written within the last hour.
func (l ledger) of(payer string, now time.Time) (total int64) {
	for p, bytes := range l {
		if p.payer == payer && p.counts(now) {
			total += bytes
		}
	}
	return total
}

// records returns the rows of the last hour, the largest if they are too many.
func (l ledger) records(now time.Time) (rows []spentRecord) {
	for p, bytes := range l {
		if p.counts(now) {
			rows = append(rows, spentRecord{p.payer, p.at, bytes})
		}
	}
	slices.SortFunc(rows, func(a, b spentRecord) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Payer, b.Payer), cmp.Compare(a.At, b.At))
	})
	return rows[:min(len(rows), maxSpent)]
}

func (l ledger) load(rows []spentRecord) {
	for _, row := range rows {
		if row.Bytes > 0 && len(row.Payer) == object.NoteLength && object.IsHex(row.Payer) {
			l[period{row.Payer, row.At}] = max(l[period{row.Payer, row.At}], row.Bytes)
		}
	}
}

// charge takes what an entry, or what is said of one later, has taken. The time is
// that of the entry.
func (ix *index) charge(id string, record []byte) {
	bytes, rest, ok := cutInt(record, `,"bytes":`)
	payer, _, isPaid := cutText(rest, `,"payer":"`)
	at, err := ParseID(id)
	if ok && isPaid && err == nil && bytes > 0 && len(payer) == object.NoteLength && object.IsHex(payer) {
		ix.spent.add(payer, at, bytes)
	}
}
