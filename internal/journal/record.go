package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"
)

// The records other than those of objects. The first key tells the kind, and the fields of an index
// have fixed places.

const (
	segmentKey = `{"segment":`
	entryKey   = `{"entry":"`
	stepsKey   = `{"steps":"`
	afterKey   = `{"after":"`
	outcomeKey = `{"outcome":"`
	repairKey  = `{"repair":`

	formatVersion = 1
)

// segmentRecord begins a segment.
type segmentRecord struct {
	Segment uint64    `json:"segment"`
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	// Spent is what callers have written lately, so that the newest segment has all of it.
	Spent []spentRecord `json:"spent,omitempty"`
}

// entryRecord is the last record of a new entry. It has the steps if they are few; otherwise
// they are in records before it.
type entryRecord struct {
	ID    string `json:"entry"`
	Count int    `json:"count"`
	Bytes int64  `json:"bytes,omitempty"` // that the entry and its objects take
	Payer string `json:"payer,omitempty"` // the digest of the caller, see ledger
	Entry
	Steps json.RawMessage `json:"list,omitempty"`
}

// outcomeRecord is the record of the end of an entry.
type outcomeRecord struct {
	ID    string `json:"outcome"`
	State string `json:"state"`
	Bytes int64  `json:"bytes,omitempty"` // that were stored next to the entry since it began
	Payer string `json:"payer,omitempty"`
	Home  uint64 `json:"home"` // the segment of the entry
	Count int    `json:"count"`
	Note  string `json:"note,omitempty"`
	By    string `json:"by,omitempty"`
	// Was are the images before the steps with these numbers, where another program had changed the file by then.
	Was   map[int]Image   `json:"was,omitempty"`
	After json.RawMessage `json:"list,omitempty"`
}

// chunk is how long a part of a list may become before it is written.
const chunk = 64 << 10

// list returns the items of a list about an entry, as JSON. Of a long list it writes records with
// parts of bounded length, and returns nil.
func (b *batch) list(key, id string, count int, item func(i int) any) (whole json.RawMessage, err error) {
	list := []byte{'['}
	first := 0
	total := 0
	for i := range count {
		data, err := json.Marshal(item(i))
		if err != nil {
			return nil, err
		}
		if total += len(data); total > maxListing {
			return nil, &TooLarge{"the list of steps", maxListing}
		}
		if i > first && len(list)+len(data) > chunk {
			if err := b.line(listRecord(key, id, first, append(list, ']'))); err != nil {
				return nil, err
			}
			list = list[:1]
			first = i
		}
		if i > first {
			list = append(list, ',')
		}
		list = append(list, data...)
	}
	list = append(list, ']')
	if first > 0 {
		return nil, b.line(listRecord(key, id, first, list))
	}
	return list, nil
}

// listRecord returns the record of a part of a list.
func listRecord(key, id string, first int, list []byte) []byte {
	return fmt.Appendf(nil, `%s%s","first":%d,"list":%s}`, key, id, first, list)
}

// maxWas bounds the images in an outcome, whose record is one line.
const maxWas = 1000

// outcome is how an entry ended, as it is read.
type outcome struct {
	outcomeRecord
	state State
	after []Image
}

func isID(text string) bool {
	_, err := ParseID(text)
	return err == nil
}

// hasKey reports whether a record is of the kind that begins with key.
func hasKey(record []byte, key string) bool { return bytes.HasPrefix(record, []byte(key)) }

// A line is the checksum of its JSON as eight hexadecimal digits, a space, the JSON and a newline.
// The checksum detects accidents (a torn or altered line), not intent.
const (
	sumLength = 8
	lineHead  = sumLength + len(" ")
	maxLine   = 1 << 20 // four times what is kept of a note in one
)

// appendLine appends the line with this JSON, which has no newline.
func appendLine(buf, record []byte) []byte {
	buf = fmt.Appendf(buf, "%08x ", crc32.ChecksumIEEE(record))
	return append(append(buf, record...), '\n')
}

// unwrap returns the JSON of a line without its newline.
func unwrap(line []byte) (record []byte, ok bool) {
	if len(line) < lineHead || line[sumLength] != ' ' {
		return nil, false
	}
	record = line[lineHead:]
	var sum [sumLength]byte
	return record, bytes.Equal(line[:sumLength], fmt.Appendf(sum[:0], "%08x", crc32.ChecksumIEEE(record)))
}

// maxSalvage is how often something in a damaged line is tried.
const maxSalvage = 64

// salvage passes valid lines within an invalid one to sound: without its newline a line becomes
// one with the next.
func salvage(text []byte, sound func(record []byte)) {
	tried := 0
	for at := 1; at+lineHead < len(text) && tried < maxSalvage; at++ {
		if text[at+sumLength] != ' ' || text[at+lineHead] != '{' || !isHex(string(text[at:at+sumLength])) {
			continue // no line begins here
		}
		tried++
		// In place of the newline may be another byte, or none.
		found := false
		for _, end := range []int{at - 1, at} {
			if record, ok := unwrap(text[:end]); ok && !found {
				sound(record)
				found = true
			}
		}
		if record, ok := unwrap(text[at:]); ok {
			sound(record)
			found = true
		}
		if found {
			return
		}
	}
}
