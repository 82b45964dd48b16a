package journal

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
)

// Limits in bytes.
const (
	// maxObject is the largest object: an attachment that is deleted. A note is at most 5 MB.
	maxObject = 128 << 20
	// maxText is the largest object that is held in memory and stored as a difference. Larger ones
	// are attachments; they are files, copied through a small buffer.
	maxText = 32 << 20
	// maxPacked is the longest text that is compressed to try whether it fits a line.
	maxPacked = 4 << 20
	// maxInline is how long an object's bytes may be as a line, compressed: a
	// file of its own would cost two more syncs.
	maxInline = 256 << 10
)

// object is the record of one object.
type object struct {
	Hash string `json:"object"`
	// Note identifies the note, to find an earlier version as the base of a difference.
	Note  string `json:"note"`
	Depth int    `json:"depth"` // how many differences lie before something whole
	Size  int64  `json:"size"`

	Base   string `json:"base,omitempty"`
	Prefix int    `json:"prefix,omitempty"` // of the base
	Suffix int    `json:"suffix,omitempty"`
	Raw    bool   `json:"raw,omitempty"`  // Data is not compressed
	Middle int    `json:"middle"`         // the length of Data, before it was compressed
	File   bool   `json:"file,omitempty"` // Data, compressed, is a file next to the segment
	Data   []byte `json:"data,omitzero"`  // nil for a file
}

// objectKey is how a record begins.
const objectKey = `{"object":"`

// parseObject reads an object's record. What it returns is sound in itself.
func parseObject(record []byte) (o object, ok bool) {
	if json.Unmarshal(record, &o) != nil || o.File != (o.Data == nil) {
		return object{}, false
	}
	isWhole := o.File && o.Base == ""
	limit := int64(maxText) // a file that has all of it
	if isWhole {
		limit = maxObject
	}
	isNamed := isHash(o.Hash) && isShortDigest(o.Note)
	isOfSize := 0 <= o.Size && o.Size <= limit
	isOfDepth := 0 <= o.Depth && o.Depth <= maxDepth
	isWithinLimits := isOfSize && isOfDepth
	if !isNamed || !isWithinLimits || !o.hasSoundBase() {
		return object{}, false
	}
	least := min(o.Prefix, o.Suffix, o.Middle)
	most := max(o.Prefix, o.Suffix, o.Middle)
	switch {
	case isWhole:
		return o, least == 0 && most == 0
	case least < 0 || most > maxText:
		return object{}, false
	case o.Base == "" && o.Prefix+o.Suffix != 0:
		return o, false
	}
	return o, o.Size == int64(o.Prefix+o.Middle+o.Suffix)
}

// hasSoundBase reports whether an object says of itself what fits together: one with a depth has a base, and a file is not
// in the record.
func (o object) hasSoundBase() bool {
	hasBase := o.Base != ""
	switch {
	case hasBase != (o.Depth > 0):
		return false
	case hasBase && !isHash(o.Base):
		return false
	}
	return !o.File || !o.Raw
}

// setData sets the data of o, compressed if that is shorter.
func (o *object) setData(text []byte) {
	o.Middle = len(text)
	o.Raw = true
	o.Data = text
	if len(text) < leastPacked {
		return
	}
	var out bytes.Buffer
	if _, err := compress(&out, bytes.NewReader(text)); err == nil && out.Len() < len(text) {
		o.Raw, o.Data = false, out.Bytes()
	}
}

// Over returns the text of o, given its base; that of a whole object is empty.
func (o object) Over(base []byte) ([]byte, bool) {
	middle := o.Data // what is between the parts that are taken from the base
	if !o.Raw {
		middle = make([]byte, o.Middle)
		in := flate.NewReader(bytes.NewReader(o.Data))
		if _, err := io.ReadFull(in, middle); err != nil {
			return nil, false
		}
		if n, err := in.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			return nil, false
		}
	}
	if len(middle) != o.Middle || max(o.Prefix, o.Suffix) > len(base) {
		return nil, false
	}
	return slices.Concat(base[:o.Prefix], middle, base[len(base)-o.Suffix:]), true
}

// A note is usually changed in one place: a difference is the common prefix and suffix, and the
// bytes between them.

// Limits of differences.
const (
	// maxDepth is the longest chain of differences: each of them costs a read.
	maxDepth = 31
	// leastDelta is the length in bytes below which a difference is not shorter.
	leastDelta = 256
)

// common returns the lengths of the common prefix and, after it, suffix.
func common(a, b []byte) (prefix, suffix int) {
	n := min(len(a), len(b))
	for prefix < n && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < n-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// DEFLATE at its fastest: it costs a start nothing, and most objects are short differences.
const level = flate.BestSpeed

// leastPacked is the length from which compressing is tried.
const leastPacked = 128

var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, level) // the level is one that exists
	return w
}}

// compress writes the bytes of in to out, compressed, and returns how many it has read.
func compress(out io.Writer, in io.Reader) (n int64, err error) {
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(out)
	n, err = io.Copy(w, in)
	err = errors.Join(err, w.Close())
	w.Reset(io.Discard)
	return n, err
}

const (
	// hashLength is the length of a SHA-256 in hexadecimal digits.
	hashLength = 2 * sha256.Size
	// noteLength is the length of a [noteID].
	noteLength = 16
)

// isShortDigest reports whether text has the form of a [noteID] or a [payerOf].
func isShortDigest(text string) bool { return len(text) == noteLength && isHex(text) }

// noteID returns the digest under which versions of the note at path are found.
func noteID(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:noteLength/2])
}

// isHex reports whether text has only hexadecimal digits, in lower case.
func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// isHash reports whether text is a SHA-256 as the journal writes it.
func isHash(text string) bool { return len(text) == hashLength && isHex(text) }
