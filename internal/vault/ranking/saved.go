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

// A saved index consists of a magic line, the length of the head and its CRC-32C (4 bytes each, little endian like
// all fixed-size numbers), the head, and the postings. The head has the files, the words with the lengths of their
// postings, and a CRC-32C of each block of postings; numbers are uvarints, and texts follow their lengths. The saved
// index is a cache: if it cannot be read, another one is made.
const (
	magic     = "vaultwicket find 5\n"
	headStart = len(magic) + 4 + crc32.Size
	blockSize = 4 << 10
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// ErrDamaged reports that a saved index cannot be read and has to be made again.
var ErrDamaged = errors.New("the saved index is damaged or of another version")

// Append appends the saved form of the index, without files that are gone. version identifies the program that has
// read the texts: [Load] rejects an index of another version. The error is [ErrDamaged].
func (x *Index) Append(to []byte, version string) ([]byte, error) {
	whole, err := merge(slices.Clone(x.segments), x.dead)
	if err != nil {
		return to, err
	}
	start := len(to)
	to = append(to, magic...)
	to = append(to, make([]byte, headStart-len(magic))...)
	to = appendText(to, version)
	to = binary.AppendUvarint(to, uint64(len(whole.files)))
	for _, f := range whole.files {
		to = appendText(to, f.path)
		to = binary.AppendUvarint(to, f.stamp)
		to = append(to, byte(f.kind))
		to = binary.AppendUvarint(to, uint64(f.language))
		to = binary.AppendUvarint(to, uint64(f.length))
		to = binary.LittleEndian.AppendUint32(to, uint32(f.key))
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
	head := to[start+headStart:]
	binary.LittleEndian.PutUint32(to[start+len(magic):], uint32(len(head)))
	binary.LittleEndian.PutUint32(to[start+len(magic)+4:], crc32.Checksum(head, castagnoli()))
	return append(to, whole.postings...), nil
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Load reads the head of a saved index of size bytes. It keeps from, to read the postings of words when a question
// needs them. It returns [ErrDamaged] unless version is that with which the index was saved.
func Load(from io.ReaderAt, size int64, version string) (*Index, error) {
	prefix := make([]byte, headStart)
	if _, err := from.ReadAt(prefix, 0); err != nil || string(prefix[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	length := int64(binary.LittleEndian.Uint32(prefix[len(magic):]))
	if length > size-int64(headStart) {
		return nil, ErrDamaged
	}
	var head strings.Builder
	head.Grow(int(length))
	sum := crc32.New(castagnoli())
	n, err := io.Copy(io.MultiWriter(&head, sum), io.NewSectionReader(from, int64(headStart), length))
	isComplete := err == nil && n == length
	if !isComplete || sum.Sum32() != binary.LittleEndian.Uint32(prefix[len(magic)+4:]) {
		return nil, ErrDamaged
	}
	r := reader{rest: head.String()}
	if r.text() != version {
		return nil, ErrDamaged
	}
	s := &segment{files: make([]file, r.count())}
	for i := range s.files {
		s.files[i] = file{
			path:     r.text(),
			stamp:    r.number(math.MaxUint64),
			kind:     Kind(r.number(uint64(Attachment))),
			language: languageSet(r.number(math.MaxUint16)),
			length:   int32(r.number(math.MaxInt32)),
			key:      lookup.Key(r.fixed()),
		}
	}
	words := r.count()
	s.words = make([]string, words)
	s.ends = make([]uint32, words)
	s.letters = make([]uint32, words)
	last := uint64(0)
	for i := range s.words {
		s.words[i] = r.text()
		last += r.number(math.MaxUint32)
		s.letters[i] = lettersOf(s.words[i])
		s.ends[i] = uint32(last)
	}
	s.saved = &blocks{from: io.NewSectionReader(from, int64(headStart)+length, int64(last)), sums: r.rest}
	fitsFile := last == uint64(size-int64(headStart)-length) && last <= math.MaxUint32
	hasSums := len(r.rest) == int(last+blockSize-1)/blockSize*crc32.Size
	if r.failed || !fitsFile || !hasSums {
		return nil, ErrDamaged
	}
	x := &Index{segments: []*segment{s}, dead: []map[int]bool{{}}}
	x.indexPlaces()
	return x, nil
}

// blocks are saved postings, with a checksum of each block.
type blocks struct {
	from *io.SectionReader
	sums string
}

// read returns the postings from one offset to another. The error is [ErrDamaged].
func (b *blocks) read(from, to uint32) (string, error) {
	if from >= to {
		return "", nil
	}
	first := from / blockSize
	end := min((int64(to)+blockSize-1)/blockSize*blockSize, b.from.Size()) // of the last block
	data := make([]byte, end-int64(first)*blockSize)
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

// reader reads the head of a saved index. After an error or the end, failed is set and it returns zero values. The
// texts that it returns share the memory of rest.
type reader struct {
	rest   string
	failed bool
}

// number reads a number up to limit.
func (r *reader) number(limit uint64) uint64 {
	v, n := uvarint(r.rest)
	if n <= 0 || v > limit {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// fixed reads a number of four bytes.
func (r *reader) fixed() (v uint32) {
	if len(r.rest) < 4 {
		r.failed = true
		return 0
	}
	v = binary.LittleEndian.Uint32([]byte(r.rest[:4]))
	r.rest = r.rest[4:]
	return v
}

// count reads the number of elements that follow. Each of them takes at least a byte.
func (r *reader) count() int { return int(r.number(uint64(len(r.rest)))) }

// text reads a text.
func (r *reader) text() string {
	n := r.count()
	if n > len(r.rest) {
		r.failed = true
		return ""
	}
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

// uvarint is [binary.Uvarint] for a string.
func uvarint(s string) (v uint64, n int) {
	return binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
}
