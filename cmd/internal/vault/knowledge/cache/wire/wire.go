// Package wire writes numbers and texts one behind the other, and reads them
// again from bytes that nobody vouches for.
//
// It knows no types of its own and keeps no names of fields: who reads must ask
// in the order in which was written. What is read shares the memory of one
// string, no length is believed that the bytes at hand could not fill, and
// nothing panics.
package wire

import (
	"encoding/binary"
	"math"
	"slices"
)

// AppendInt writes v behind b; small numbers of either sign are short.
func AppendInt(b []byte, v int) []byte { return binary.AppendVarint(b, int64(v)) }

// AppendText writes text behind b.
func AppendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// AppendFloat writes f behind b, bit by bit.
func AppendFloat(b []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

// AppendCount writes how many elements of list follow. A list that is nil stays
// apart from one that is empty.
func AppendCount[T any](b []byte, list []T) []byte {
	if list == nil {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(len(list))+1)
}

// AppendSized writes behind b what write does, with its length in front, so that
// a reader can pass over it.
func AppendSized(b []byte, write func([]byte) []byte) []byte {
	start := len(b)
	b = write(b)
	var size [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(size[:], uint64(len(b)-start))
	return slices.Insert(b, start, size[:n]...)
}

// Reader reads what was written. At the first thing that does not fit it fails
// for good, and all that it returns from there on is zero.
type Reader struct {
	text string
	at   int
	// unclaimed is how many bytes no list has claimed for its elements. Lists
	// within lists draw on the same account, or each could claim the whole rest.
	unclaimed int
	failed    bool
}

// NewReader returns a Reader on text, which the texts that it reads share.
func NewReader(text string) *Reader { return &Reader{text: text, unclaimed: len(text)} }

// Done reports whether all was read and nothing failed.
func (r *Reader) Done() bool { return !r.failed && r.at == len(r.text) }

// Fail makes r fail, for what is well-formed and makes no sense.
func (r *Reader) Fail() { r.failed, r.at = true, len(r.text) }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.at >= len(r.text) {
		r.Fail()
		return 0
	}
	b := r.text[r.at]
	r.at++
	return b
}

// Uint reads a number that was written by binary.AppendUvarint.
func (r *Reader) Uint() uint64 {
	if r.at < len(r.text) && r.text[r.at] < 0x80 {
		r.at++
		return uint64(r.text[r.at-1])
	}
	return r.longUint()
}

func (r *Reader) longUint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.Byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.Fail()
	return 0
}

// Int reads a number.
func (r *Reader) Int() int {
	v := r.Uint()
	return int(int64(v>>1) ^ -int64(v&1))
}

// Text reads a text.
func (r *Reader) Text() string {
	size := r.Uint()
	if size > uint64(len(r.text)-r.at) {
		r.Fail()
		return ""
	}
	start := r.at
	r.at += int(size)
	return r.text[start:r.at]
}

// Sized returns a reader of what AppendSized wrote, and passes over it.
func (r *Reader) Sized() *Reader { return NewReader(r.Text()) }

// Rest returns what is left, and leaves it.
func (r *Reader) Rest() string { return r.text[r.at:] }

// Check makes r fail unless all of a part of it was read.
func (r *Reader) Check(part *Reader) {
	if !part.Done() {
		r.Fail()
	}
}

// Float reads a number with a point.
func (r *Reader) Float() float64 {
	if len(r.text)-r.at < 8 {
		r.Fail()
		return 0
	}
	var v uint64
	for i := range 8 {
		v |= uint64(r.text[r.at+i]) << (8 * i)
	}
	r.at += 8
	return math.Float64frombits(v)
}

// List reads how many elements follow and makes room for them, each of which
// takes at least the given number of bytes. It is nil if the list was.
func List[T any](r *Reader, least int) []T {
	n, ok := r.count(least)
	if !ok {
		return nil
	}
	return make([]T, n)
}

// Count reads how many elements of a list follow, which is at most as many as [List] makes
// room for.
func Count(r *Reader, least int) int {
	n, _ := r.count(least)
	return n
}

func (r *Reader) count(least int) (n int, ok bool) {
	counted := r.Uint()
	if counted == 0 {
		return 0, false
	}
	counted--
	if counted > uint64(r.unclaimed/least) {
		r.Fail()
		return 0, false
	}
	r.unclaimed -= int(counted) * least
	return int(counted), true
}
