package cache

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// The table is one block of bytes:
//
//	magic, format, count, generation, pack, length of the pack,
//	lengths of the three texts that follow: program, vault, all paths
//	program, vault
//	count × the end of a path
//	count × entry
//	the paths, sorted bytewise, without separators
//	CRC-32C of everything before it
const (
	magic  = "vaultwicketcache" // 16 bytes
	format = 5                  // of the table, and of the pieces of the pack

	formatAt     = 16
	countAt      = formatAt + 4
	generationAt = countAt + 4
	packAt       = generationAt + 16
	lengthAt     = packAt + 16
	textsAt      = lengthAt + 8
	headSize     = textsAt + 3*4

	sumSize = 4
	endSize = 4

	maxTable = 1 << 30 // ten million files
)

// packID is the random part of the name of a pack. It is zero in a table that has nothing in a pack.
type packID [16]byte

// Part is a part of a [Record].
type Part uint8

// The parts of a record: the text of a file, its facts, and the filter of the text.
const (
	TextPart Part = iota
	FactsPart
	FilterPart
	partCount = iota
)

// entry is a row of the table without the path.
type entry struct {
	stamp system.Stamp
	spans [partCount]span
}

// span is the location of a piece in the pack.
type span struct {
	at   uint64
	size uint32
	sum  uint32 // CRC-32C of the bytes
}

// noSpan is the span of a missing part. Unlike it, the span of an empty text has an offset in the pack.
var noSpan = span{at: 1<<64 - 1}

var noSpans = [partCount]span{noSpan, noSpan, noSpan}

func (s span) isPresent() bool { return s.at != noSpan.at }

func (s span) end() uint64 { return s.at + uint64(s.size) }

// isWithin reports whether s is noSpan, or within the first length bytes of the pack.
func (s span) isWithin(length uint64) bool {
	if !s.isPresent() {
		return s == noSpan
	}
	return s.at <= length && uint64(s.size) <= length-s.at
}

func (e *entry) isWithin(length uint64) bool {
	return e.spans[TextPart].isWithin(length) && e.spans[FactsPart].isWithin(length) &&
		e.spans[FilterPart].isWithin(length)
}

// isEmpty reports whether the entry has neither text nor facts.
func (e entry) isEmpty() bool {
	return !e.spans[TextPart].isPresent() && !e.spans[FactsPart].isPresent()
}

// checksum returns the CRC-32C of data. Processors have an instruction for this polynomial.
func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// An entry has a fixed size in the table, so that it can be read in place and opening the table does not
// allocate memory for each entry.
const (
	stampSize = 4 * 8
	spanSize  = 8 + 4 + 4
	entrySize = stampSize + partCount*spanSize
)

var order = binary.LittleEndian

func (t *table) stamp(i int) system.Stamp {
	b := t.entries[i*entrySize:]
	return system.Stamp{
		Size:     int64(order.Uint64(b)),
		Modified: int64(order.Uint64(b[8:])),
		Changed:  int64(order.Uint64(b[16:])),
		Inode:    order.Uint64(b[24:]),
	}
}

func (t *table) entry(i int) entry {
	b := t.entries[i*entrySize+stampSize:]
	return entry{t.stamp(i), [partCount]span{readSpan(b), readSpan(b[spanSize:]), readSpan(b[2*spanSize:])}}
}

func readSpan(b []byte) span {
	return span{order.Uint64(b), order.Uint32(b[8:]), order.Uint32(b[12:])}
}

// table is a table that has been validated.
type table struct {
	pack   packID
	length uint64 // of the used part of the pack
	count  int

	ends, entries []byte
	paths         string

	damaged sync.Map // a set of the places of records with a damaged part
}

// item is a row of a table that is being made.
type item struct {
	path string
	entry
}

// makeTable encodes a table of items, which must be sorted by path. It returns nil if the table would be
// longer than maxTable.
func makeTable(generation [16]byte, p packID, length uint64, vault, program string, items []item) []byte {
	paths := 0
	for _, it := range items {
		paths += len(it.path)
	}
	size := headSize + len(program) + len(vault) + len(items)*(endSize+entrySize) + paths + sumSize
	if size > maxTable {
		return nil
	}
	b := make([]byte, 0, size)
	b = append(b, magic...)
	b = order.AppendUint32(b, format)
	b = order.AppendUint32(b, uint32(len(items)))
	b = append(b, generation[:]...)
	b = append(b, p[:]...)
	b = order.AppendUint64(b, length)
	for _, n := range []int{len(program), len(vault), paths} {
		b = order.AppendUint32(b, uint32(n))
	}
	b = append(b, program...)
	b = append(b, vault...)
	end := 0
	for _, it := range items {
		end += len(it.path)
		b = order.AppendUint32(b, uint32(end))
	}
	for _, it := range items {
		b = order.AppendUint64(b, uint64(it.stamp.Size))
		b = order.AppendUint64(b, uint64(it.stamp.Modified))
		b = order.AppendUint64(b, uint64(it.stamp.Changed))
		b = order.AppendUint64(b, it.stamp.Inode)
		for _, s := range it.spans {
			b = order.AppendUint64(b, s.at)
			b = order.AppendUint32(b, s.size)
			b = order.AppendUint32(b, s.sum)
		}
	}
	for _, it := range items {
		b = append(b, it.path...)
	}
	return order.AppendUint32(b, checksum(b))
}

// parseTable decodes a table. ok is false if it is damaged, or belongs to another vault or program. The table
// refers to data.
func parseTable(data []byte, vault, program string) (t *table, ok bool) {
	if len(data) < headSize+sumSize {
		return nil, false
	}
	end := len(data) - sumSize
	if checksum(data[:end]) != order.Uint32(data[end:]) {
		return nil, false
	}
	return decodeTable(data[:end], vault, program)
}

// decodeTable is parseTable without the checksum.
func decodeTable(data []byte, vault, program string) (*table, bool) {
	head := data[:headSize]
	if string(head[:formatAt]) != magic || order.Uint32(head[formatAt:]) != format {
		return nil, false
	}
	count := uint64(order.Uint32(head[countAt:]))
	programSize := uint64(order.Uint32(head[textsAt:]))
	vaultSize := uint64(order.Uint32(head[textsAt+4:]))
	paths := uint64(order.Uint32(head[textsAt+8:]))
	if uint64(len(data)) != headSize+programSize+vaultSize+count*(endSize+entrySize)+paths {
		return nil, false
	}
	take := func(size uint64) (piece []byte) {
		piece = data[:size]
		data = data[size:]
		return piece
	}
	take(headSize)
	if string(take(programSize)) != program || string(take(vaultSize)) != vault {
		return nil, false
	}
	t := &table{pack: packID(head[packAt:]), length: order.Uint64(head[lengthAt:]), count: int(count)}
	t.ends = take(count * endSize)
	t.entries = take(count * entrySize)
	t.paths = string(take(paths))
	lacksPack := t.pack == (packID{}) && t.length != 0
	if lacksPack || t.length > 1<<62 {
		return nil, false
	}
	// Check that the paths are sorted and unique, and that every offset is within bounds.
	end := 0
	path := ""
	for i := range t.count {
		next := t.end(i)
		if next < end || next > len(t.paths) {
			return nil, false
		}
		previous := path
		path = t.paths[end:next]
		e := t.entry(i)
		end = next
		isSorted := i == 0 || previous < path
		if !isSorted || !e.isWithin(t.length) {
			return nil, false
		}
	}
	return t, end == len(t.paths)
}

// end returns the offset in paths at which path i ends.
func (t *table) end(i int) int { return int(order.Uint32(t.ends[i*endSize:])) }

func (t *table) path(i int) string {
	start := 0
	if i > 0 {
		start = t.end(i - 1)
	}
	return t.paths[start:t.end(i)]
}

// find returns the place of path in the table.
func (t *table) find(path string) (place int, ok bool) {
	return sort.Find(t.count, func(i int) int { return strings.Compare(path, t.path(i)) })
}

const (
	// maxRun is how many bytes are read at once, unless a single piece is longer.
	maxRun = 256 << 10
	// maxGap is how many unneeded bytes between pieces are read, because that costs no more than another
	// read.
	maxGap = 8 << 10
)

// piece is a span to be read.
type piece struct {
	span
	i int // index of its record
}

// Each reads one part of many records with few system calls. It calls visit once for every record, with its
// index in records, from several goroutines and in no particular order, and returns after the last call.
// The data is valid until visit returns. ok is false if the part is missing or damaged.
func (c *Cache) Each(records []Record, part Part, visit func(i int, data []byte, ok bool)) {
	pieces := make([]piece, 0, len(records))
	for i, r := range records {
		s := r.entry().spans[part]
		if !s.isPresent() || !c.hasPackOf(r) {
			visit(i, nil, false)
			continue
		}
		pieces = append(pieces, piece{s, i})
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.at, b.at) })
	runs := groupIntoRuns(pieces)
	budget.InParallel(len(runs), 1, func(n, _ int) {
		scratch := scratches.Get().(*scratch)
		defer scratch.put()
		run := runs[n]
		from := runs[n][0].at
		runEnd := uint64(0)
		for _, p := range run {
			runEnd = max(runEnd, p.end())
		}
		scratch.bytes = resize(scratch.bytes, int(runEnd-from))
		size, _ := c.pack.file.ReadAt(scratch.bytes, int64(from)) // a short read is noticed below
		for _, p := range run {
			start := p.at - from
			end := p.end() - from
			if end > uint64(size) || checksum(scratch.bytes[start:end]) != p.sum {
				records[p.i].markDamaged()
				visit(p.i, nil, false)
				continue
			}
			visit(p.i, scratch.bytes[start:end:end], true)
		}
	})
}

// groupIntoRuns divides pieces, which are in the order of the pack, into runs that are read at once.
func groupIntoRuns(pieces []piece) (runs [][]piece) {
	for start := 0; start < len(pieces); {
		end := pieces[start].end()
		n := start + 1
		for ; n < len(pieces); n++ {
			isNear := pieces[n].at <= end+maxGap
			longer := max(end, pieces[n].end())
			if !isNear || longer-pieces[start].at > maxRun {
				break
			}
			end = longer
		}
		runs = append(runs, pieces[start:n])
		start = n
	}
	return runs
}
