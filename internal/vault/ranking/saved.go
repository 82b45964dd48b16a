package ranking

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

// The form of a saved index: a line of magic, the length of the head and its CRC-32C (4 bytes each, as of all
// fixed numbers little endian), the head, and the postings. The head has numbers as uvarints and texts with their
// lengths: the files, the words with the lengths of their postings, and a CRC-32C of each block of these. It
// is a cache: what cannot be read is made anew.
const (
	magic     = "vaultwicket find 5\n"
	beginning = len(magic) + 4 + crc32.Size
	blockSize = 4 << 10
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// ErrDamaged says that a saved index cannot be read. It has to be made anew.
var ErrDamaged = errors.New("the saved index is damaged or of another version")

// Append appends the saved form of the index, without files that are gone. made tells what the
// texts were read by: [Load] refuses an index of another one. Its error is [ErrDamaged].
func (x *Index) Append(to []byte, made string) ([]byte, error) {
	whole, err := merge(slices.Clone(x.segments), x.dead)
	if err != nil {
		return to, err
	}
	begin := len(to)
	to = append(to, magic...)
	to = append(to, make([]byte, beginning-len(magic))...)
	to = appendText(to, made)
	to = binary.AppendUvarint(to, uint64(len(whole.files)))
	for _, f := range whole.files {
		to = binary.AppendUvarint(appendText(to, f.path), f.stamp)
		to = append(to, byte(f.kind))
		to = binary.AppendUvarint(to, uint64(f.language))
		to = binary.LittleEndian.AppendUint32(binary.AppendUvarint(to, uint64(f.length)), uint32(f.key))
	}
	to = binary.AppendUvarint(to, uint64(len(whole.words)))
	last := uint32(0)
	for i, w := range whole.words {
		to = appendText(to, w)
		to = binary.AppendUvarint(to, uint64(whole.ends[i]-last))
		last = whole.ends[i]
	}
	for block := range slices.Chunk([]byte(whole.postings), blockSize) {
		to = binary.LittleEndian.AppendUint32(to, crc32.Checksum(block, castagnoli()))
	}
	head := to[begin+beginning:]
	binary.LittleEndian.PutUint32(to[begin+len(magic):], uint32(len(head)))
	binary.LittleEndian.PutUint32(to[begin+len(magic)+4:], crc32.Checksum(head, castagnoli()))
	return append(to, whole.postings...), nil
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Load reads the head of a saved index, and keeps from for the postings of words, which are read when a
// question needs them. made has to be what it was saved with.
func Load(from io.ReaderAt, size int64, made string) (*Index, error) {
	start := make([]byte, beginning)
	if _, err := from.ReadAt(start, 0); err != nil || string(start[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	length := int64(binary.LittleEndian.Uint32(start[len(magic):]))
	if length > size-int64(beginning) {
		return nil, ErrDamaged
	}
	var head strings.Builder
	head.Grow(int(length))
	sum := crc32.New(castagnoli())
	if n, err := io.Copy(io.MultiWriter(&head, sum), io.NewSectionReader(from, int64(beginning), length)); err != nil ||
		n < length ||
		sum.Sum32() != binary.LittleEndian.Uint32(start[len(magic)+4:]) {
		return nil, ErrDamaged
	}
	r := reader{rest: head.String()}
	if r.word() != made {
		return nil, ErrDamaged
	}
	s := &segment{files: make([]file, r.count())}
	for i := range s.files {
		s.files[i] = file{
			path:     r.word(),
			stamp:    r.number(math.MaxUint64),
			kind:     Kind(r.number(uint64(Attachment))),
			language: languageSet(r.number(math.MaxUint16)),
			length:   int32(r.number(math.MaxInt32)),
			key:      lookup.Key(r.fixed()),
		}
	}
	n := r.count()
	s.words = make([]string, n)
	s.ends = make([]uint32, n)
	s.letters = make([]uint32, n)
	last := uint64(0)
	for i := range s.words {
		s.words[i] = r.word()
		last += r.number(math.MaxUint32)
		s.letters[i] = lettersOf(s.words[i])
		s.ends[i] = uint32(last)
	}
	s.saved = &blocks{from: io.NewSectionReader(from, int64(beginning)+length, int64(last)), sums: r.rest}
	fitsFile := last == uint64(size-int64(beginning)-length) && last <= math.MaxUint32
	hasSums := len(r.rest) == int(last+blockSize-1)/blockSize*crc32.Size
	if r.failed || !fitsFile || !hasSums {
		return nil, ErrDamaged
	}
	x := &Index{segments: []*segment{s}, dead: []map[int]bool{{}}}
	x.place()
	return x, nil
}

// blocks are saved postings, with a sum of each block.
type blocks struct {
	from *io.SectionReader
	sums string
}

// read returns a part. Its error is [ErrDamaged].
func (b *blocks) read(from, to uint32) (string, error) {
	if from >= to {
		return "", nil
	}
	first := from / blockSize
	data := make([]byte, min((int64(to)+blockSize-1)/blockSize*blockSize, b.from.Size())-int64(first)*blockSize)
	if _, err := b.from.ReadAt(data, int64(first)*blockSize); err != nil && err != io.EOF {
		return "", ErrDamaged
	}
	sums := []byte(b.sums[first*crc32.Size:])
	for block := range slices.Chunk(data, blockSize) {
		if crc32.Checksum(block, castagnoli()) != binary.LittleEndian.Uint32(sums) {
			return "", ErrDamaged
		}
		sums = sums[crc32.Size:]
	}
	return string(data[from-first*blockSize : to-first*blockSize]), nil
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

// fixed reads a fixed number.
func (r *reader) fixed() (v uint32) {
	if len(r.rest) < 4 {
		r.failed = true
		return 0
	}
	v = binary.LittleEndian.Uint32([]byte(r.rest[:4]))
	r.rest = r.rest[4:]
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

// uvarint is [binary.Uvarint] of a text.
func uvarint(s string) (v uint64, n int) {
	return binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
}
