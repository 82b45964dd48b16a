package guard

import (
	"bytes"
	"fmt"
)

// Unjudged is a text from the disk or the journal, which may contain secrets. It is neither bytes nor a string, so
// that it cannot get into an answer by mistake, and nothing prints it. [Marker.Judge] makes what a caller may see of
// it. The zero value is the empty text.
type Unjudged struct{ text []byte }

// NewUnjudged wraps a text that may contain secrets.
func NewUnjudged(text []byte) Unjudged { return Unjudged{text} }

// ForProgram returns the text for use by the program itself: to write, hash, compare or parse it. Anything derived from
// it for a caller must be judged in its final form.
func (u Unjudged) ForProgram() []byte { return u.text }

// Len returns the length of the text in bytes.
func (u Unjudged) Len() int { return len(u.text) }

// Equal reports whether both texts have the same bytes.
func (u Unjudged) Equal(other Unjudged) bool { return bytes.Equal(u.text, other.text) }

// Format writes the length of the text instead of the text, for every verb.
func (u Unjudged) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "(%d bytes)", len(u.text)) }

// Judged is a text that a caller may see, with marks in place of its secrets. Only [Marker.Judge] and
// [Marker.JudgePieces] make one; the zero value is the empty text.
type Judged struct{ text []byte }

// Bytes returns the text, which the caller must not change.
func (j Judged) Bytes() []byte { return j.text }

// String returns the text.
func (j Judged) String() string { return string(j.text) }

// Judge returns what a caller may see of a text. A nil marker redacts nothing. The only error is that of spend; the
// result is then empty.
func (m *Marker) Judge(text Unjudged, spend Spend) (Judged, error) {
	shown, err := m.RedactWithin(text.text, spend)
	return Judged{shown}, err
}

// JudgePieces is [Marker.Judge] for the pieces of one text, such as the pages of a file. It also finds secrets that
// continue from one piece to the next.
func (m *Marker) JudgePieces(pieces []Unjudged, spend Spend) ([]Judged, error) {
	texts := make([]string, len(pieces))
	for i, piece := range pieces {
		texts[i] = string(piece.text)
	}
	texts, err := m.redactPieces(texts, spend)
	if err != nil {
		return nil, err
	}
	judged := make([]Judged, len(texts))
	for i, text := range texts {
		judged[i] = Judged{[]byte(text)}
	}
	return judged, nil
}
