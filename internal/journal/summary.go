package journal

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"hash/fnv"
	"math/bits"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// summary has the positions of the entries, outcomes and objects in a segment. Queries use it to find records,
// and then read only those. It is derived from the segment and is only trusted as a hint: a record is verified
// when it is read.
//
// The summary of a complete segment is stored in a file next to it, see [summary.encode]. Each process reads
// the newest segment itself, once.
type summary struct {
	number  uint64
	size    int64 // offset up to which the segment was read
	entries []entryRow
	ends    []endRow
	objects []objectRow // the first inOrder objects are sorted by key, the others are in order of addition
	inOrder int
	keys    []keyRow // if sorted, by key and then by entry
	damage  []Damage
	sorted  bool
}

// span is the range of some records in a segment, as offsets.
type span struct{ at, end int64 }

// entryRow is an entry in a summary. Its span includes the records with its steps.
type entryRow struct {
	span
	id     string
	time   time.Time
	isUndo bool
	steps  int
}

// endRow is an outcome in a summary. Its span includes the records with the images after the steps.
type endRow struct {
	span
	id    string
	state State
	count int    // of images
	home  uint64 // number of the segment with its entry
}

// objectRow is the position of an object's record.
type objectRow struct {
	key        key
	at, length int64
}

// keyRow maps a key to the index of an entry that has it.
type keyRow struct {
	key   key
	entry int
}

// key is the hash of a value that queries can look up. Different values may have the same key.
type key uint64

// The kinds of values that queries can look up.
const (
	byID      = 'i' // of an entry or an outcome
	byObject  = 'o'
	byPath    = 'p'
	byCaller  = 'c'
	byAgent   = 'a'
	byBatch   = 'b'
	bySession = 's'
	byLineage = 'l' // of all entries that can change the origins of notes
	byGrant   = 'g'
)

// keyOf returns the key of a value. A collision only costs an unnecessary read.
func keyOf(kind byte, value string) key {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte{kind})
	_, _ = hash.Write([]byte(value))
	// Mix the bits, because a filter uses only a few of them.
	mixed := hash.Sum64()
	mixed = (mixed ^ mixed>>30) * 0xbf58476d1ce4e5b9
	mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
	return key(mixed ^ mixed>>31)
}

// addEntry adds the row and the keys of an entry.
func (s *summary) addEntry(e Entry, where span) {
	row := len(s.entries)
	s.entries = append(s.entries, entryRow{where, e.ID, e.Time.UTC(), e.Undoes != "", e.Count})
	add := func(kind byte, value string) {
		if value != "" {
			s.keys = append(s.keys, keyRow{keyOf(kind, value), row})
		}
	}
	add(byCaller, e.Caller)
	add(byAgent, ownerfiles.AgentOf(e.Caller))
	add(byBatch, e.Batch)
	add(bySession, e.Session)
	if e.isOfLineage() {
		s.keys = append(s.keys, keyRow{keyOf(byLineage, ""), row})
	}
	add(byGrant, e.Grant)
	last := ""
	for _, step := range e.Steps {
		for _, path := range []string{step.Path, step.From} {
			if path != last {
				add(byPath, path)
			}
			last = path
		}
	}
}

// rows returns the indexes of the entries that may have the key, in order. The zero key matches all entries.
func (s *summary) rows(wanted key) (rows []int) {
	if wanted == 0 {
		for row := range s.entries {
			rows = append(rows, row)
		}
		return rows
	}
	start := 0
	if s.sorted {
		start, _ = slices.BinarySearchFunc(
			s.keys,
			wanted,
			func(row keyRow, k key) int { return cmp.Compare(row.key, k) },
		)
	}
	for _, row := range s.keys[start:] {
		switch {
		case row.key != wanted && s.sorted:
			return rows
		case row.key == wanted && (len(rows) == 0 || rows[len(rows)-1] != row.entry):
			rows = append(rows, row.entry)
		}
	}
	return rows
}

// rowCount returns how many rows a summary has.
func (s *summary) rowCount() int { return len(s.entries) + len(s.ends) + len(s.objects) + len(s.keys) }

// objectsWith returns the positions of the objects with a key, the newest first.
func (s *summary) objectsWith(wanted key) (rows []objectRow) {
	ordered := s.objects[:s.inOrder]
	start, _ := slices.BinarySearchFunc(
		ordered,
		wanted,
		func(row objectRow, k key) int { return cmp.Compare(row.key, k) },
	)
	for _, row := range ordered[start:] {
		if row.key != wanted {
			break
		}
		rows = slices.Insert(rows, 0, row)
	}
	for _, row := range s.objects[s.inOrder:] {
		if row.key == wanted {
			rows = slices.Insert(rows, 0, row)
		}
	}
	return rows
}

// orderObjects sorts all objects by key, in a copy of the slice.
func (s *summary) orderObjects() {
	s.objects = slices.Clone(s.objects)
	slices.SortStableFunc(s.objects, func(a, b objectRow) int { return cmp.Compare(a.key, b.key) })
	s.inOrder = len(s.objects)
}

// head has the facts about a segment that are known without reading its whole summary.
type head struct {
	number         uint64
	size           int64
	oldest, newest time.Time // range of the times of its entries; zero if it has none
	isDamaged      bool
	filter         filter
}

// head builds the head of a summary.
func (s *summary) head() *head {
	h := &head{number: s.number, size: s.size, isDamaged: len(s.damage) > 0}
	for i, e := range s.entries {
		if i == 0 || e.time.Before(h.oldest) {
			h.oldest = e.time
		}
		if i == 0 || e.time.After(h.newest) {
			h.newest = e.time
		}
	}
	keys := map[key]bool{}
	for _, row := range s.keys {
		keys[row.key] = true
	}
	for _, row := range s.objects {
		keys[row.key] = true
	}
	for _, row := range s.entries {
		keys[keyOf(byID, row.id)] = true
	}
	for _, row := range s.ends {
		keys[keyOf(byID, row.id)] = true
	}
	h.filter = make(filter, (len(keys)*filterBits+7)/8)
	for k := range keys {
		h.filter.add(k)
	}
	return h
}

// filter is a Bloom filter of the keys in a summary. It is wrong for about one in ten thousand absent keys, and
// never for a key that is present.
type filter []byte

const (
	filterBits   = 20 // bits per key
	filterProbes = 10
)

// bit returns the position of the probe-th bit of a key.
func (f filter) bit(k key, probe int) uint64 {
	mixed := uint64(k) + uint64(probe)*(uint64(k)<<32|1)
	place, _ := bits.Mul64(mixed, uint64(len(f))*8) // evenly distributed below the number of bits
	return place
}

func (f filter) add(k key) {
	for probe := range filterProbes {
		bit := f.bit(k, probe)
		f[bit/8] |= 1 << (bit % 8)
	}
}

func (f filter) has(k key) bool {
	if len(f) == 0 {
		return false
	}
	for probe := range filterProbes {
		if bit := f.bit(k, probe); f[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// The file of a summary consists of a head of fixed length, the filter, and the rows. Checksums cover all of
// it. A truncated or altered file is rebuilt, so it need not be synced.
const (
	indexMagic = "vwindex2"

	headLength    = len(indexMagic) + 14*numberLength
	numberLength  = 8
	maxIndexBytes = 256 << 20 // far more than the rows of an entry with the maximum number of steps need
)

// encode returns the content of the file for a sorted summary.
func (s *summary) encode(h *head) []byte {
	var rows packer
	for _, e := range s.entries {
		rows.text(e.id)
		rows.number(e.at, e.end, int64(e.steps))
		rows.moment(e.time)
		rows.flag(e.isUndo)
	}
	for _, o := range s.ends {
		rows.text(o.id)
		rows.number(o.at, o.end, int64(o.state), int64(o.count), int64(o.home))
	}
	for _, o := range s.objects {
		rows.number(int64(o.key), o.at, o.length)
	}
	for _, k := range s.keys {
		rows.number(int64(k.key), int64(k.entry))
	}
	if h.isDamaged {
		damage, _ := json.Marshal(s.damage) // cannot fail for strings and numbers
		rows.text(string(damage))
	}
	var out packer
	out.text(indexMagic)
	out.number(int64(h.number), h.size)
	out.moment(h.oldest)
	out.moment(h.newest)
	out.flag(h.isDamaged)
	for _, length := range []int{len(h.filter), len(rows), len(s.entries), len(s.ends), len(s.objects), len(s.keys)} {
		out.number(int64(length))
	}
	out.number(checksum(out, h.filter, rows)) // covers everything before it
	return slices.Concat([]byte(out), []byte(h.filter), []byte(rows))
}

// checksum returns the checksum of a file's parts. The upper half covers only head and filter, because these
// can be read without the rows.
func checksum(head, filter, rows []byte) int64 {
	upper := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, filter)
	return int64(uint64(upper)<<32 | uint64(crc32.ChecksumIEEE(rows)))
}

// decodeHead decodes the head at the start of a file, without its filter, and the lengths of the other parts.
func decodeHead(data []byte) (h *head, lengths indexLengths, ok bool) {
	in := unpacker{data: data, all: string(data)}
	if in.text(len(indexMagic)) != indexMagic {
		return nil, indexLengths{}, false
	}
	h = &head{
		number:    uint64(in.number()),
		size:      in.number(),
		oldest:    in.moment(),
		newest:    in.moment(),
		isDamaged: in.flag(),
	}
	for _, length := range []*int{&lengths.filter, &lengths.rows, &lengths.entries, &lengths.ends, &lengths.objects, &lengths.keys} {
		n := in.number()
		if n < 0 || n > maxIndexBytes {
			return nil, indexLengths{}, false
		}
		*length = int(n)
	}
	lengths.checksum = in.number()
	return h, lengths, !in.isShort
}

// indexLengths has the lengths of a file's parts, in bytes or rows.
type indexLengths struct {
	filter, rows                 int
	entries, ends, objects, keys int
	checksum                     int64
}

// decodeRows decodes the rows of a file into a summary.
func decodeRows(h *head, lengths indexLengths, rows []byte) (s *summary, ok bool) {
	s = &summary{number: h.number, size: h.size, sorted: true}
	in := unpacker{data: rows, all: string(rows)}
	if max(lengths.entries, lengths.ends, lengths.objects, lengths.keys) > len(rows) {
		return nil, false
	}
	s.entries = make([]entryRow, 0, lengths.entries)
	s.ends = make([]endRow, 0, lengths.ends)
	s.objects = make([]objectRow, 0, lengths.objects)
	s.keys = make([]keyRow, 0, lengths.keys)
	for range lengths.entries {
		e := entryRow{
			id:     in.text(idLength),
			span:   span{in.number(), in.number()},
			steps:  int(in.number()),
			time:   in.moment(),
			isUndo: in.flag(),
		}
		s.entries = append(s.entries, e)
		if in.isShort {
			return nil, false
		}
	}
	for range lengths.ends {
		o := endRow{
			id:    in.text(idLength),
			span:  span{in.number(), in.number()},
			state: State(in.number()),
			count: int(in.number()),
			home:  uint64(in.number()),
		}
		s.ends = append(s.ends, o)
		if in.isShort {
			return nil, false
		}
	}
	for range lengths.objects {
		s.objects = append(s.objects, objectRow{key(in.number()), in.number(), in.number()})
		if in.isShort {
			return nil, false
		}
	}
	s.inOrder = lengths.objects
	for range lengths.keys {
		row := keyRow{key(in.number()), int(in.number())}
		if in.isShort || row.entry < 0 || row.entry >= len(s.entries) {
			return nil, false
		}
		s.keys = append(s.keys, row)
	}
	if h.isDamaged && json.Unmarshal(in.data, &s.damage) != nil {
		return nil, false
	}
	return s, true
}

// packer encodes the content of a file.
type packer []byte

func (p *packer) text(text string) { *p = append(*p, text...) }

func (p *packer) number(numbers ...int64) {
	for _, n := range numbers {
		*p = binary.LittleEndian.AppendUint64(*p, uint64(n))
	}
}

func (p *packer) moment(t time.Time) { p.number(t.Unix(), int64(t.Nanosecond())) }

func (p *packer) flag(value bool) {
	n := int64(0)
	if value {
		n = 1
	}
	p.number(n)
}

// unpacker decodes the content of a file. After its end, it returns zeros and sets isShort.
type unpacker struct {
	data    []byte
	all     string // the whole content, of which texts are substrings
	isShort bool
}

func (u *unpacker) text(length int) string {
	if len(u.data) < length {
		u.isShort = true
		return ""
	}
	at := len(u.all) - len(u.data)
	u.data = u.data[length:]
	return u.all[at : at+length]
}

func (u *unpacker) number() int64 {
	if len(u.data) < numberLength {
		u.isShort = true
		return 0
	}
	n := binary.LittleEndian.Uint64(u.data)
	u.data = u.data[numberLength:]
	return int64(n)
}

func (u *unpacker) moment() time.Time {
	seconds := u.number()
	return time.Unix(seconds, u.number()).UTC()
}

func (u *unpacker) flag() bool { return u.number() != 0 }
