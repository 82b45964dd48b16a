package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"
)

// The first key of a record identifies its kind. The fields that an index needs have fixed positions.

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
	// Spent is the recent use of space by caller, so that the newest segment has all of it.
	Spent []spentRecord `json:"spent,omitempty"`
}

// entryRecord is the last record of a new entry. It includes the steps if they are short; otherwise they are in
// earlier records.
type entryRecord struct {
	ID    string `json:"entry"`
	Count int    `json:"count"`
	Bytes int64  `json:"bytes,omitempty"` // size of the entry and its objects
	Payer string `json:"payer,omitempty"` // digest of the caller, see [ledger]
	Entry
	Steps json.RawMessage `json:"list,omitempty"`
}

// outcomeRecord is the record of an entry's outcome.
type outcomeRecord struct {
	ID    string `json:"outcome"`
	State string `json:"state"`
	Bytes int64  `json:"bytes,omitempty"` // bytes that were stored next to the entry since it began
	Payer string `json:"payer,omitempty"`
	Home  uint64 `json:"home"` // number of the segment with the entry
	Count int    `json:"count"`
	Note  string `json:"note,omitempty"`
	By    string `json:"by,omitempty"`
	// Was has the images before the steps with these indexes, if another program had changed the file by then.
	Was   map[int]Image   `json:"was,omitempty"`
	After json.RawMessage `json:"list,omitempty"`
}

// chunk is the size in bytes from which a part of a list is written.
const chunk = 64 << 10

// writeList returns a list about an entry as JSON. A long list is written as records of limited length instead,
// and nil is returned.
func (b *batch) writeList(key, id string, count int, item func(i int) any) (inline json.RawMessage, err error) {
	return encodeList(key, id, count, item, b.writeLine)
}

// encodeList returns a list about an entry as JSON. A long list is passed to write as records of limited length
// instead, and nil is returned.
func encodeList(
	key, id string,
	count int,
	item func(i int) any,
	write func(record []byte) error,
) (inline json.RawMessage, err error) {
	list := []byte{'['}
	first := 0
	total := 0
	for i := range count {
		data, err := json.Marshal(item(i))
		if err != nil {
			return nil, err
		}
		total += len(data)
		if total > maxListing {
			return nil, &TooLarge{"the list of steps", maxListing}
		}
		if i > first && len(list)+len(data) > chunk {
			if err := write(listRecord(key, id, first, append(list, ']'))); err != nil {
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
		return nil, write(listRecord(key, id, first, list))
	}
	return list, nil
}

// listRecord returns the record of a part of a list, from the index first on.
func listRecord(key, id string, first int, list []byte) []byte {
	return fmt.Appendf(nil, `%s%s","first":%d,"list":%s}`, key, id, first, list)
}

// maxWas limits the images in Outcome.Was, because its record is a single line.
const maxWas = 1000

// outcome is a decoded outcomeRecord.
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
	maxLine   = 1 << 20 // four times the longest text in a line
)

// appendLine appends a line with the JSON, which must have no newline.
func appendLine(buf, record []byte) []byte {
	buf = fmt.Appendf(buf, "%08x ", crc32.ChecksumIEEE(record))
	return append(append(buf, record...), '\n')
}

// unwrap returns the JSON of a line that has no newline; ok is false if the checksum is wrong.
func unwrap(line []byte) (record []byte, ok bool) {
	if len(line) < lineHead || line[sumLength] != ' ' {
		return nil, false
	}
	record = line[lineHead:]
	var sum [sumLength]byte
	return record, bytes.Equal(line[:sumLength], fmt.Appendf(sum[:0], "%08x", crc32.ChecksumIEEE(record)))
}

// maxSalvage limits the attempts to find a valid line in a damaged one.
const maxSalvage = 64

// salvage calls sound with the valid lines within an invalid one: without its newline, a line merges with the
// next one.
func salvage(text []byte, yield func(record []byte)) {
	attempts := 0
	for at := 1; at+lineHead < len(text) && attempts < maxSalvage; at++ {
		if text[at+sumLength] != ' ' || text[at+lineHead] != '{' || !isHex(string(text[at:at+sumLength])) {
			continue // no line can begin here
		}
		attempts++
		// Instead of the newline, there may be another byte or none.
		isFound := false
		for _, end := range []int{at - 1, at} {
			if record, ok := unwrap(text[:end]); ok && !isFound {
				yield(record)
				isFound = true
			}
		}
		if record, ok := unwrap(text[at:]); ok {
			yield(record)
			isFound = true
		}
		if isFound {
			return
		}
	}
}
