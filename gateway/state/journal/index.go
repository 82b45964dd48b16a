package journal

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"vaultwicket/gateway/state/journal/object"
)

// index is where records are in one segment.
type index struct {
	number  uint64
	read    int64 // how far the segment was read
	torn    bool  // there is no newline at the end
	newer   bool  // a newer program began it
	born    time.Time
	objects map[string]location
	latest  map[string]string // the hash of the last version, by note
	entries map[string]int    // how many steps, by id
	states  map[string]State  // by id, of entries that may lie in other segments
	spent   ledger            // by callers, lately
}

// location is where an object is.
type location struct {
	at     int64
	length int64 // with the newline
	size   int64 // of the object
	depth  int
	file   bool
}

// isWhole reports whether the object is a file that has all of it.
func (s location) isWhole() bool { return s.file && s.depth == 0 }

func newIndex(number uint64) *index {
	return &index{
		number: number, objects: map[string]location{}, latest: map[string]string{},
		entries: map[string]int{}, states: map[string]State{}, spent: ledger{},
	}
}

// fill reads on, up to size. What is damaged is not found; it is reported where
// entries are read.
func (ix *index) fill(file io.ReaderAt, size int64) error {
	lines := newLineReader(io.NewSectionReader(file, ix.read, size-ix.read), ix.read)
	var buf []byte
	for {
		var line rawLine
		var err error
		line, buf, err = lines.next(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		ix.read, ix.torn = line.at+line.length, line.torn
		if record, ok := unwrap(line.text); ok {
			ix.add(record, line.at, line.length)
		}
	}
}

func (ix *index) add(record []byte, at, length int64) {
	switch {
	case hasKey(record, object.Key):
		if hash, note, spot, ok := objectHead(record); ok {
			spot.at, spot.length = at, length
			ix.objects[hash], ix.latest[note] = spot, hash
		}
	case hasKey(record, entryKey):
		if id, rest, ok := cutID(record[len(entryKey):]); ok {
			if count, rest, ok := cutInt(rest, `","count":`); ok {
				ix.entries[id] = int(count)
				ix.charge(id, rest)
			}
		}
	case hasKey(record, outcomeKey):
		if id, rest, ok := cutID(record[len(outcomeKey):]); ok {
			if state, rest, ok := cutState(rest); ok {
				ix.states[id] = state
				ix.charge(id, rest)
			}
		}
	case hasKey(record, segmentKey):
		if s, ok := parseSegment(record); ok {
			ix.born, ix.newer = s.Time, s.Version > formatVersion
			ix.spent.load(s.Spent)
		}
	}
}

// objectHead returns what an index needs of an object's record. Its first keys
// are at fixed places, as those of entries and outcomes do, because a segment
// may hold thousands and each process reads them before it writes.
func objectHead(record []byte) (hash, note string, s location, ok bool) {
	rest := record[len(object.Key):]
	if len(rest) < object.HashLength {
		return "", "", location{}, false
	}
	hash, rest = string(rest[:object.HashLength]), rest[object.HashLength:]
	rest, ok = bytes.CutPrefix(rest, []byte(object.NoteKey))
	if !ok || len(rest) < object.NoteLength {
		return "", "", location{}, false
	}
	note, rest = string(rest[:object.NoteLength]), rest[object.NoteLength:]
	depth, rest, ok := cutInt(rest, `","depth":`)
	if !ok {
		return "", "", location{}, false
	}
	size, rest, ok := cutInt(rest, `,"size":`)
	if !ok || !object.IsHash(hash) || !object.IsHex(note) {
		return "", "", location{}, false
	}
	file := bytes.HasSuffix(rest, []byte(`,"file":true}`))
	return hash, note, location{size: size, depth: int(depth), file: file}, true
}

func cutID(text []byte) (id string, rest []byte, ok bool) {
	if len(text) < idLength {
		return "", nil, false
	}
	return string(text[:idLength]), text[idLength:], true
}

func cutState(text []byte) (s State, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(`","state":"`))
	name, rest, ended := bytes.Cut(text, []byte(`"`))
	state, err := ParseState(string(name))
	return state, rest, ok && ended && err == nil
}

func cutInt(text []byte, key string) (n int64, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(key))
	end := 0
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(text[:end]), 10, 64)
	return n, text[end:], ok && err == nil
}

// cutText returns the text behind a key, up to the next quotation mark.
func cutText(text []byte, key string) (value string, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(key))
	name, rest, ended := bytes.Cut(text, []byte(`"`))
	return string(name), rest, ok && ended
}
