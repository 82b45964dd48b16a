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
	// maxObject is the maximum size of an object, such as a deleted attachment. A note has at most 5 MB.
	maxObject = 128 << 20
	// maxText is the maximum size of an object that is held in memory and stored as a difference. Larger ones
	// are attachments, stored as files and copied through a small buffer.
	maxText = 32 << 20
	// maxPacked is the maximum size of a text that is compressed to find out whether it fits into a line.
	maxPacked = 4 << 20
	// maxInline is the maximum size of an object's compressed bytes in a line. A file of its own would cost two
	// more syncs.
	maxInline = 256 << 10
)

// object is the record of one object.
type object struct {
	Hash string `json:"object"`
	// Note identifies the note. It is used to find an earlier version as the base of a difference.
	Note  string `json:"note"`
	Depth int    `json:"depth"` // number of differences up to an object that is stored whole
	Size  int64  `json:"size"`

	Base   string `json:"base,omitempty"`
	Prefix int    `json:"prefix,omitempty"` // length of the common prefix with the base
	Suffix int    `json:"suffix,omitempty"`
	Raw    bool   `json:"raw,omitempty"`  // Data is not compressed
	Middle int    `json:"middle"`         // length of Data before compression; 0 for a whole object in a file
	File   bool   `json:"file,omitempty"` // Data is not in the record, but compressed in a file next to the segment
	Data   []byte `json:"data,omitzero"`  // nil if File is set
}

// objectKey is the start of an object's record.
const objectKey = `{"object":"`

// parseObject decodes an object's record. ok is false unless the fields are consistent.
func parseObject(record []byte) (o object, ok bool) {
	if json.Unmarshal(record, &o) != nil || o.File != (o.Data == nil) {
		return object{}, false
	}
	isWhole := o.File && o.Base == ""
	limit := int64(maxText) // an object that is stored whole in a file may be larger
	if isWhole {
		limit = maxObject
	}
	isNamed := isHash(o.Hash) && isShortDigest(o.Note)
	sizeIsValid := 0 <= o.Size && o.Size <= limit
	depthIsValid := 0 <= o.Depth && o.Depth <= maxDepth
	isWithinLimits := sizeIsValid && depthIsValid
	if !isNamed || !isWithinLimits || !o.hasSoundBase() {
		return object{}, false
	}
	smallest := min(o.Prefix, o.Suffix, o.Middle)
	largest := max(o.Prefix, o.Suffix, o.Middle)
	switch {
	case isWhole:
		return o, smallest == 0 && largest == 0
	case smallest < 0 || largest > maxText:
		return object{}, false
	case o.Base == "" && o.Prefix+o.Suffix != 0:
		return o, false
	}
	return o, o.Size == int64(o.Prefix+o.Middle+o.Suffix)
}

// hasSoundBase reports whether the fields about the base are consistent: exactly an object with a depth has a
// base, and data in a file is compressed.
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
	if len(text) < minPacked {
		return
	}
	var out bytes.Buffer
	if _, err := compress(&out, bytes.NewReader(text)); err == nil && out.Len() < len(text) {
		o.Raw = false
		o.Data = out.Bytes()
	}
}

// Over returns the text of o, given the text of its base, which is empty for a whole object. It returns false if the
// data is damaged or does not fit the base.
func (o object) Over(base []byte) ([]byte, bool) {
	middle := o.Data // the bytes between the prefix and the suffix of the base
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

// A note is usually changed in one place. So a difference consists of the common prefix and suffix, and the
// bytes between them.

// Limits of differences.
const (
	// maxDepth is the maximum length of a chain of differences: each costs a read.
	maxDepth = 31
	// minDelta is the size in bytes of the smallest text that is stored as a difference.
	minDelta = 256
)

// common returns the lengths of the common prefix and of the common suffix of the rest.
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

// level is the fastest level of DEFLATE. Most objects are short differences, for which the time to set up a slower
// level would exceed that of compressing.
const level = flate.BestSpeed

// minPacked is the size in bytes of the smallest text that is compressed.
const minPacked = 128

var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, level) // the level is valid
	return w
}}

// compress writes the compressed bytes of in to out, and returns how many bytes it has read.
func compress(out io.Writer, in io.Reader) (n int64, err error) {
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(out)
	n, err = io.Copy(w, in)
	err = errors.Join(err, w.Close())
	w.Reset(io.Discard) // the pool must not keep out in memory
	return n, err
}

const (
	// hashLength is the length of a SHA-256 in hexadecimal digits.
	hashLength = 2 * sha256.Size
	// shortDigestLength is the length of a [noteID] and of a [payerOf], in hexadecimal digits.
	shortDigestLength = 16
)

// isShortDigest reports whether text has the form of a [noteID] or a [payerOf].
func isShortDigest(text string) bool { return len(text) == shortDigestLength && isHex(text) }

// noteID returns the digest that identifies the note at path in the records of its versions.
func noteID(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:shortDigestLength/2])
}

// isHex reports whether text consists of lower-case hexadecimal digits.
func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// isHash reports whether text is a SHA-256 in the format of the journal.
func isHash(text string) bool { return len(text) == hashLength && isHex(text) }
