package index

import (
	"encoding/binary"
	"math"
	"slices"
)

// Facts are written as numbers and texts, one after the other, without types or names of
// fields: a reader reads in the order of the writer. Everything that is read shares the
// memory of one string. The bytes are untrusted: no length is believed that the rest could
// not fill, and nothing panics.

// appendInt appends v; small numbers of either sign are short.
func appendInt(b []byte, v int) []byte { return binary.AppendVarint(b, int64(v)) }

func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// appendFloat appends the bits of f.
func appendFloat(b []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

// appendCount appends how many elements of list follow. A nil list stays apart from an
// empty one.
func appendCount[T any](b []byte, list []T) []byte {
	if list == nil {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(len(list))+1)
}

// appendSized appends the output of write after its length, so that a reader can skip it.
func appendSized(b []byte, write func([]byte) []byte) []byte {
	start := len(b)
	b = write(b)
	var size [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(size[:], uint64(len(b)-start))
	return slices.Insert(b, start, size[:n]...)
}

// reader reads what was written. At the first thing that does not fit it fails for good,
// and everything it returns from there on is zero.
type reader struct {
	text string
	at   int
	// unclaimed is how many bytes no list has claimed for its elements. Nested lists draw
	// on the same account, or each could claim the whole rest.
	unclaimed int
	failed    bool
}

func newReader(text string) reader { return reader{text: text, unclaimed: len(text)} }

// done reports whether all was read and nothing failed.
func (r *reader) done() bool { return !r.failed && r.at == len(r.text) }

// fail makes r fail, for what is well-formed and makes no sense.
func (r *reader) fail() { r.failed, r.at = true, len(r.text) }

func (r *reader) byte() byte {
	if r.at >= len(r.text) {
		r.fail()
		return 0
	}
	b := r.text[r.at]
	r.at++
	return b
}

// uint reads a number that was written by binary.AppendUvarint.
func (r *reader) uint() uint64 {
	if r.at < len(r.text) && r.text[r.at] < 0x80 {
		r.at++
		return uint64(r.text[r.at-1])
	}
	return r.longUint()
}

// longUint keeps uint small enough to be inlined.
func (r *reader) longUint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail()
	return 0
}

func (r *reader) int() int {
	v := r.uint()
	return int(int64(v>>1) ^ -int64(v&1))
}

func (r *reader) float() float64 {
	if len(r.text)-r.at < 8 {
		r.fail()
		return 0
	}
	var v uint64
	for i := range 8 {
		v |= uint64(r.text[r.at+i]) << (8 * i)
	}
	r.at += 8
	return math.Float64frombits(v)
}

func (r *reader) string() string {
	size := r.uint()
	if size > uint64(len(r.text)-r.at) {
		r.fail()
		return ""
	}
	start := r.at
	r.at += int(size)
	return r.text[start:r.at]
}

// rest returns what is left, without reading it.
func (r *reader) rest() string { return r.text[r.at:] }

// readCount reads how many elements of a list follow, each of which takes at least the
// given number of bytes; ok is false for a nil list.
func (r *reader) readCount(least int) (n int, ok bool) {
	counted := r.uint()
	if counted == 0 {
		return 0, false
	}
	counted--
	if counted > uint64(r.unclaimed/least) {
		r.fail()
		return 0, false
	}
	r.unclaimed -= int(counted) * least
	return int(counted), true
}

// readList reads a count and makes a list of that many elements, nil if the list was.
func readList[T any](r *reader, least int) []T {
	n, ok := r.readCount(least)
	if !ok {
		return nil
	}
	return make([]T, n)
}

// readSized reads what appendSized wrote by a reader of its own, which must read all of it.
func readSized[T any](r *reader, read func(*reader) T) T {
	part := newReader(r.string())
	v := read(&part)
	if !part.done() {
		r.fail()
	}
	return v
}
