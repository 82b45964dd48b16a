// Package object encodes what the journal keeps of a version of a note: a record
// with all of its bytes, compressed, or with the difference from an earlier version.
// What is too long for a record is in a file of its own, and the record says so.
//
// It reads and writes no files and imports no other package of this program.
package object

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
)

// Limits in bytes.
const (
	// MaxSize is the largest object: an attachment that is deleted. A note is at most 5 MB.
	MaxSize = 128 << 20
	// MaxText is the largest object that is held in memory, and of which a
	// difference is taken. Larger ones are attachments; they are files and go
	// through a small buffer.
	MaxText = 32 << 20
	// MaxPacked is the longest text that is compressed to see whether it fits a
	// line.
	MaxPacked = 4 << 20
	// MaxInline is how long an object's bytes may be as a line, compressed: a
	// file of its own would cost two more syncs.
	MaxInline = 256 << 10
)

// Record is the record of one object.
type Record struct {
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
	File   bool   `json:"file,omitempty"` // Data, compressed, is a file next to the segment
	Data   []byte `json:"data,omitempty"`
}

// How a record begins: Key, the hash, NoteKey and the [NoteID].
const (
	Key     = `{"object":"`
	NoteKey = `","note":"`
	dataKey = `,"data":"`
)

// Encode returns o as JSON.
func (o Record) Encode() ([]byte, error) {
	data := o.Data
	o.Data = nil
	head, err := json.Marshal(o)
	if err != nil || o.File {
		return head, err
	}
	head = append(head[:len(head)-1], dataKey...)
	return append(base64.StdEncoding.AppendEncode(head, data), `"}`...), nil
}

// Parse takes an object's record. What it returns is sound in itself.
func Parse(record []byte) (o Record, ok bool) {
	head, data, hasData := bytes.Cut(record, []byte(dataKey))
	if hasData {
		encoded, whole := bytes.CutSuffix(data, []byte(`"}`))
		if !whole {
			return Record{}, false
		}
		var err error
		if o.Data, err = base64.StdEncoding.AppendDecode([]byte{}, encoded); err != nil {
			return Record{}, false
		}
		head = append(bytes.Clone(head), '}')
	}
	if json.Unmarshal(head, &o) != nil || o.File == hasData {
		return Record{}, false
	}
	return o, o.isSound()
}

func (o Record) isSound() bool {
	limit := int64(MaxText)
	if o.IsWhole() {
		limit = MaxSize
	}
	if !IsHash(o.Hash) || len(o.Note) != NoteLength || !IsHex(o.Note) || o.Size < 0 || o.Size > limit || o.Depth < 0 || o.Depth > MaxDepth {
		return false
	}
	if (o.Depth > 0) != (o.Base != "") || o.Base != "" && !IsHash(o.Base) || o.File && o.Raw {
		return false
	}
	if o.IsWhole() {
		return o.Prefix == 0 && o.Suffix == 0 && o.Middle == 0 && !o.Raw
	}
	if o.Prefix < 0 || o.Suffix < 0 || o.Middle < 0 || max(o.Prefix, o.Suffix, o.Middle) > MaxText {
		return false
	}
	return o.Size == int64(o.Prefix+o.Middle+o.Suffix) && (o.Base != "" || o.Prefix+o.Suffix == 0)
}

// IsWhole reports whether the object is a file that has all of it.
func (o Record) IsWhole() bool { return o.File && o.Base == "" }

// New returns the record of a whole text, of which hash is the SHA-256, as a version
// of the note with this [NoteID]. ok is false if it is too long
// for a line.
func New(hash, note string, text []byte) (o Record, ok bool) {
	if len(text) > MaxPacked {
		return Record{}, false
	}
	o = Record{Hash: hash, Note: note, Size: int64(len(text))}
	o.setData(text)
	return o, len(o.Data) <= MaxInline
}

// NewDelta returns the record of a text as its difference from baseText, whose hash
// is base. depth is how many differences lie before something whole. ok is
// false if that is not much shorter. One whose data do not fit a line has them in a
// file, which is still to be written: then it is a File, and Data is not compressed.
func NewDelta(hash, note string, text []byte, base string, baseText []byte, depth int) (o Record, ok bool) {
	prefix, suffix := common(baseText, text)
	middle := text[prefix : len(text)-suffix]
	if len(middle) > len(text)/2 {
		return Record{}, false
	}
	o = Record{Hash: hash, Note: note, Depth: depth, Size: int64(len(text)), Base: base, Prefix: prefix, Suffix: suffix}
	if len(middle) <= MaxPacked {
		o.setData(middle)
	}
	if len(middle) > MaxPacked || len(o.Data) > MaxInline {
		o.Middle, o.Raw, o.File, o.Data = len(middle), false, true, middle
	}
	return o, true
}

func (o *Record) setData(text []byte) {
	o.Middle, o.Data = len(text), pack(text)
	if o.Data == nil {
		o.Raw, o.Data = true, text
	}
}

// middle returns what is between the parts that are taken from the base.
func (o Record) middle() ([]byte, bool) {
	if o.Raw {
		return o.Data, len(o.Data) == o.Middle
	}
	return unpack(o.Data, o.Middle)
}

// Over returns the text of o, whose base is the text before it; of a whole
// object that is nothing.
func (o Record) Over(base Pieces) (Pieces, bool) {
	middle, ok := o.middle()
	if !ok || max(o.Prefix, o.Suffix) > base.Size() {
		return nil, false
	}
	text := append(base.first(o.Prefix), middle)
	return append(text, base.last(o.Suffix)...), true
}
