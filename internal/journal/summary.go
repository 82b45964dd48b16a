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

// summary says which entries, outcomes and objects a segment has, and where: what is asked of the journal is found by it,
// and only the records of the answer are read. It is derived from the segment, and never believed beyond a place to look
// at: what is read there is checked as if it had been found by reading everything.
//
// The summary of a segment to which nothing is added any more is kept in a file beside it (see [summary.encode]). The
// newest segment is read itself, once by each process.
type summary struct {
	number  uint64
	size    int64 // how far the segment was read
	entries []entryRow
	ends    []endRow
	objects []objectRow // the first inOrder by key, the others as they were added
	inOrder int
	keys    []keyRow // by key and then by entry, if sorted
	damage  []Damage
	sorted  bool
}

// span is where records lie in a segment.
type span struct{ at, end int64 }

// entryRow is what a summary has of an entry. Its span begins with the first record of its steps.
type entryRow struct {
	span
	id     string
	time   time.Time
	isUndo bool
	steps  int
}

// endRow is what a summary has of an outcome. Its span begins with the first record of what was found afterwards.
type endRow struct {
	span
	id    string
	state State
	count int    // of images
	home  uint64 // the segment of its entry
}

// objectRow is where the record of an object is.
type objectRow struct {
	key        key
	at, length int64
}

// keyRow says that an entry, by its place in the list, has something that can be asked for.
type keyRow struct {
	key   key
	entry int
}

// key is the hash of something that can be asked for. Two things may have the same.
type key uint64

// What can be asked for.
const (
	byID      = 'i' // of an entry or an outcome
	byObject  = 'o'
	byPath    = 'p'
	byCaller  = 'c'
	byAgent   = 'a'
	byBatch   = 'b'
	bySession = 's'
	byLineage = 'l' // of all entries that can change what notes are made of
	byGrant   = 'g'
)

// keyOf returns the key of something. Equal keys of different things cost a read and nothing else.
func keyOf(kind byte, what string) key {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte{kind})
	_, _ = hash.Write([]byte(what))
	// Spread the bits, of which a filter takes a few.
	mixed := hash.Sum64()
	mixed = (mixed ^ mixed>>30) * 0xbf58476d1ce4e5b9
	mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
	return key(mixed ^ mixed>>31)
}

// addEntry adds the row of an entry.
func (s *summary) addEntry(e Entry, where span) {
	row := len(s.entries)
	s.entries = append(s.entries, entryRow{where, e.ID, e.Time.UTC(), e.Undoes != "", e.Count})
	add := func(kind byte, what string) {
		if what != "" {
			s.keys = append(s.keys, keyRow{keyOf(kind, what), row})
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

// rows returns the entries that may have something with a key, by their places in the list, in their order. All have the
// zero key.
func (s *summary) rows(wanted key) (rows []int) {
	if wanted == 0 {
		for row := range s.entries {
			rows = append(rows, row)
		}
		return rows
	}
	from := 0
	if s.sorted {
		from, _ = slices.BinarySearchFunc(
			s.keys,
			wanted,
			func(row keyRow, k key) int { return cmp.Compare(row.key, k) },
		)
	}
	for _, row := range s.keys[from:] {
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

// objectsWith returns where the objects with a key are, the newest first.
func (s *summary) objectsWith(wanted key) (found []objectRow) {
	ordered := s.objects[:s.inOrder]
	from, _ := slices.BinarySearchFunc(
		ordered,
		wanted,
		func(row objectRow, k key) int { return cmp.Compare(row.key, k) },
	)
	for _, row := range ordered[from:] {
		if row.key != wanted {
			break
		}
		found = slices.Insert(found, 0, row)
	}
	for _, row := range s.objects[s.inOrder:] {
		if row.key == wanted {
			found = slices.Insert(found, 0, row)
		}
	}
	return found
}

// orderObjects puts all objects in order, in a slice of their own.
func (s *summary) orderObjects() {
	s.objects = slices.Clone(s.objects)
	slices.SortStableFunc(s.objects, func(a, b objectRow) int { return cmp.Compare(a.key, b.key) })
	s.inOrder = len(s.objects)
}

// head is what is known of a segment without reading its summary.
type head struct {
	number         uint64
	size           int64
	oldest, newest time.Time // the times of its entries, zero if it has none
	isDamaged      bool
	filter         filter
}

// head returns the head of a summary.
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
	all := map[key]bool{}
	for _, row := range s.keys {
		all[row.key] = true
	}
	for _, row := range s.objects {
		all[row.key] = true
	}
	for _, row := range s.entries {
		all[keyOf(byID, row.id)] = true
	}
	for _, row := range s.ends {
		all[keyOf(byID, row.id)] = true
	}
	h.filter = make(filter, (len(all)*filterBits+7)/8)
	for k := range all {
		h.filter.add(k)
	}
	return h
}

// filter is a Bloom filter: it says of a key that it is in a summary, or that it is not; the first is wrong about once in
// ten thousand times.
type filter []byte

const (
	filterBits   = 20 // a key
	filterProbes = 10
)

// bit returns a place of a key in a filter, of which there are filterProbes.
func (f filter) bit(k key, probe int) uint64 {
	mixed := uint64(k) + uint64(probe)*(uint64(k)<<32|1)
	place, _ := bits.Mul64(mixed, uint64(len(f))*8) // evenly below the number of bits
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

// The file of a summary is a head of fixed length, the filter, and the rows. Checksums cover all of it: a file that was cut
// short or altered is made again, so it need not be synced.
const (
	indexMagic = "vwindex2"

	headLength    = len(indexMagic) + 14*numberLength
	numberLength  = 8
	maxIndexBytes = 256 << 20 // far more than the rows of an entry with the most steps take
)

// encode returns the file of a sorted summary.
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
		damage, _ := json.Marshal(s.damage) // it has texts and numbers
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
	out.number(checksum(out, h.filter, rows)) // of all but itself
	return slices.Concat([]byte(out), []byte(h.filter), []byte(rows))
}

// checksum returns one of several parts. A head is read without its rows: the upper half is that of the first two parts.
func checksum(head, filter, rows []byte) int64 {
	upper := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, filter)
	return int64(uint64(upper)<<32 | uint64(crc32.ChecksumIEEE(rows)))
}

// decodeHead returns the head in the first bytes of a file, without its filter, and how long the filter and the rows are.
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

// indexLengths are the lengths of the parts of a file, in bytes or rows.
type indexLengths struct {
	filter, rows                 int
	entries, ends, objects, keys int
	checksum                     int64
}

// decodeRows returns the summary in the rows of a file.
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

// packer collects the bytes of a file.
type packer []byte

func (p *packer) text(text string) { *p = append(*p, text...) }

func (p *packer) number(numbers ...int64) {
	for _, n := range numbers {
		*p = binary.LittleEndian.AppendUint64(*p, uint64(n))
	}
}

func (p *packer) moment(t time.Time) { p.number(t.Unix(), int64(t.Nanosecond())) }

func (p *packer) flag(is bool) {
	n := int64(0)
	if is {
		n = 1
	}
	p.number(n)
}

// unpacker reads them back. After the end it returns zeros, and isShort is set.
type unpacker struct {
	data    []byte
	all     string // the same from the beginning, for texts
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
