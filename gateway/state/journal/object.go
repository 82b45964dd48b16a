package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
)

const (
	// maxText is the largest object that is held in memory, and of which a
	// difference is taken. Larger ones are attachments; they are files and go
	// through a small buffer.
	maxText = 32 << 20
	// maxPacked is the longest text that is compressed to see whether it fits a
	// line.
	maxPacked = 4 << 20
	// maxInline is how long an object's bytes may be as a line, compressed: a
	// file of its own would cost two more syncs.
	maxInline = 256 << 10
)

// object is the record of one object.
type object struct {
	Hash string `json:"object"`
	// Note tells which note it is a version of, for those who look for a version
	// to take the difference from.
	Note  string `json:"note"`
	Depth int    `json:"depth"` // how many differences lie before something whole
	Size  int64  `json:"size"`

	Base   string `json:"base,omitempty"`
	Prefix int    `json:"prefix,omitempty"` // of the base
	Suffix int    `json:"suffix,omitempty"`
	Raw    bool   `json:"raw,omitempty"`  // Data is not compressed
	Middle int    `json:"middle"`         // the length of Data, before it was compressed
	File   bool   `json:"file,omitempty"` // Data, compressed, is a file beside the segment
	Data   []byte `json:"data,omitempty"`
}

const (
	objectKey = `{"object":"`
	noteKey   = `","note":"`
	dataKey   = `,"data":"`
)

// noteOf returns the name under which versions of the note at path are found.
func noteOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:noteLength/2])
}

// record returns o as JSON.
func (o object) record() ([]byte, error) {
	data := o.Data
	o.Data = nil
	head, err := json.Marshal(o)
	if err != nil || o.File {
		return head, err
	}
	head = append(head[:len(head)-1], dataKey...)
	return append(base64.StdEncoding.AppendEncode(head, data), `"}`...), nil
}

// parseObject takes an object's record. What it returns is sound in itself.
func parseObject(record []byte) (o object, ok bool) {
	head, data, hasData := bytes.Cut(record, []byte(dataKey))
	if hasData {
		encoded, whole := bytes.CutSuffix(data, []byte(`"}`))
		if !whole {
			return object{}, false
		}
		var err error
		if o.Data, err = base64.StdEncoding.AppendDecode([]byte{}, encoded); err != nil {
			return object{}, false
		}
		head = append(bytes.Clone(head), '}')
	}
	if json.Unmarshal(head, &o) != nil || o.File == hasData {
		return object{}, false
	}
	return o, o.isSound()
}

func (o object) isSound() bool {
	limit := int64(maxText)
	if o.isWhole() {
		limit = maxObject
	}
	if !isHash(o.Hash) || len(o.Note) != noteLength || !isHex(o.Note) || o.Size < 0 || o.Size > limit || o.Depth < 0 || o.Depth > maxDepth {
		return false
	}
	if (o.Depth > 0) != (o.Base != "") || o.Base != "" && !isHash(o.Base) || o.File && o.Raw {
		return false
	}
	if o.isWhole() {
		return o.Prefix == 0 && o.Suffix == 0 && o.Middle == 0 && !o.Raw
	}
	if o.Prefix < 0 || o.Suffix < 0 || o.Middle < 0 || max(o.Prefix, o.Suffix, o.Middle) > maxText {
		return false
	}
	return o.Size == int64(o.Prefix+o.Middle+o.Suffix) && (o.Base != "" || o.Prefix+o.Suffix == 0)
}

// isWhole reports whether the object is a file that holds all of it.
func (o object) isWhole() bool { return o.File && o.Base == "" }

// newObject returns the record of a whole text. ok is false if it is too long
// for a line.
func newObject(hash, note string, text []byte) (o object, ok bool) {
	if len(text) > maxPacked {
		return object{}, false
	}
	o = object{Hash: hash, Note: note, Size: int64(len(text))}
	o.setData(text)
	return o, len(o.Data) <= maxInline
}

// newDelta returns the record of a text as its difference from base. ok is
// false if that is not much shorter. One whose data do not fit a line has them in a
// file, which is still to be written: then it is a File, and Data is not compressed.
func newDelta(hash, note string, text []byte, base version, depth int) (o object, ok bool) {
	prefix, suffix := common(base.text, text)
	middle := text[prefix : len(text)-suffix]
	if len(middle) > len(text)/2 {
		return object{}, false
	}
	o = object{Hash: hash, Note: note, Depth: depth, Size: int64(len(text)), Base: base.hash, Prefix: prefix, Suffix: suffix}
	if len(middle) <= maxPacked {
		o.setData(middle)
	}
	if len(middle) > maxPacked || len(o.Data) > maxInline {
		o.Middle, o.Raw, o.File, o.Data = len(middle), false, true, middle
	}
	return o, true
}

func (o *object) setData(text []byte) {
	o.Middle, o.Data = len(text), pack(text)
	if o.Data == nil {
		o.Raw, o.Data = true, text
	}
}

// middle returns what stands between the parts that are taken from the base.
func (o object) middle() ([]byte, bool) {
	if o.Raw {
		return o.Data, len(o.Data) == o.Middle
	}
	return unpack(o.Data, o.Middle)
}

// over returns the text of o, whose base is the text before it; of a whole
// object that is nothing.
func (o object) over(base pieces) (pieces, bool) {
	middle, ok := o.middle()
	if !ok || max(o.Prefix, o.Suffix) > base.size() {
		return nil, false
	}
	text := append(base.first(o.Prefix), middle)
	return append(text, base.last(o.Suffix)...), true
}
