package find

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
)

// The form of a saved index: a line of magic, then all numbers as uvarints and all texts with their
// lengths: the files, the words, the ends of their postings, the postings, and a CRC-32C of
// everything before it. It is a cache: what cannot be read is made anew.
const magic = "vaultwicket find 1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("the saved index is damaged or of another version")

// Append appends the saved form of the index, without files that are gone. made tells what the
// texts were read by: [Load] refuses an index of another one.
func (x *Index) Append(to []byte, made string) []byte {
	whole := &segment{}
	if len(x.segments) > 0 {
		whole = merge(x.segments, x.dead)
	}
	begin := len(to)
	to = append(to, magic...)
	to = appendText(to, made)
	to = binary.AppendUvarint(to, uint64(len(whole.files)))
	for _, f := range whole.files {
		to = binary.AppendUvarint(appendText(to, f.path), f.stamp)
		to = append(to, byte(f.kind))
		to = binary.AppendUvarint(to, uint64(f.language))
		to = binary.AppendUvarint(to, uint64(f.length))
	}
	to = binary.AppendUvarint(to, uint64(len(whole.words)))
	last := uint32(0)
	for i, w := range whole.words {
		to = appendText(to, w)
		to = binary.AppendUvarint(to, uint64(whole.ends[i]-last))
		last = whole.ends[i]
	}
	to = append(to, whole.postings...)
	return binary.LittleEndian.AppendUint32(to, crc32.Checksum(to[begin:], castagnoli))
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Load reads a saved index and keeps no part of saved. made has to be what it was saved with.
func Load(saved []byte, made string) (*Index, error) {
	end := len(saved) - crc32.Size
	if end < len(magic) || string(saved[:len(magic)]) != magic || crc32.Checksum(saved[:end], castagnoli) != binary.LittleEndian.Uint32(saved[end:]) {
		return nil, errDamaged
	}
	r := reader{rest: string(saved[len(magic):end])}
	if r.word() != made {
		return nil, errDamaged
	}
	s := &segment{files: make([]file, r.count())}
	for i := range s.files {
		s.files[i] = file{path: r.word(), stamp: r.number(math.MaxUint64), kind: Kind(r.number(uint64(Attachment))), language: languageSet(r.number(math.MaxUint16)), length: int32(r.number(math.MaxInt32))}
	}
	n := r.count()
	s.words, s.ends, s.letters = make([]string, n), make([]uint32, n), make([]uint32, n)
	last := uint64(0)
	for i := range s.words {
		s.words[i] = r.word()
		last += r.number(math.MaxUint32)
		s.letters[i], s.ends[i] = lettersOf(s.words[i]), uint32(last)
	}
	if r.failed || last != uint64(len(r.rest)) || last > math.MaxUint32 {
		return nil, errDamaged
	}
	s.postings = r.rest
	x := &Index{segments: []*segment{s}, dead: []map[int]bool{{}}}
	x.place()
	return x, nil
}

// reader reads a saved index; after its end it reads zeros and has failed. The texts that it returns are
// parts of rest, so that an index is one piece of memory.
type reader struct {
	rest   string
	failed bool
}

func (r *reader) number(most uint64) uint64 {
	v, n := uvarint(r.rest)
	if n <= 0 || v > most {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads the number of things that take a byte each at least.
func (r *reader) count() int { return int(r.number(uint64(len(r.rest)))) }

func (r *reader) word() string {
	n := r.count()
	if n > len(r.rest) {
		r.failed = true
		return ""
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// uvarint is [binary.Uvarint] of a text: 0 bytes for one that ends early, fewer for one that is too large.
func uvarint(s string) (v uint64, n int) {
	for i := range min(len(s), binary.MaxVarintLen64) {
		v |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			if i == binary.MaxVarintLen64-1 && s[i] > 1 {
				return 0, -1
			}
			return v, i + 1
		}
	}
	return 0, 0
}
