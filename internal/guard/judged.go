package guard

import (
	"bytes"
	"fmt"
)

// Unjudged is a text as it is on the disk or in the journal: there may be secrets in it. It is neither bytes nor a string, so
// that it cannot be put into an answer by mistake, and nothing prints it. What a caller may see of it is made by
// [Marker.Judge]. The zero value is no text.
type Unjudged struct{ text []byte }

// NewUnjudged returns a text of which nothing was judged.
func NewUnjudged(text []byte) Unjudged { return Unjudged{text} }

// ForProgram returns the text for the program itself: to be written, hashed, compared, or read for what it says of its
// file. What is made of it for a caller has to be judged in the form that it has then.
func (u Unjudged) ForProgram() []byte { return u.text }

// Len returns how many bytes the text has.
func (u Unjudged) Len() int { return len(u.text) }

// Equal reports whether both texts have the same bytes.
func (u Unjudged) Equal(other Unjudged) bool { return bytes.Equal(u.text, other.text) }

// Format writes the length of the text in place of it, for every verb.
func (u Unjudged) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "(%d bytes)", len(u.text)) }

// Judged is a text as a caller may see it, with marks in place of its secrets. Only [Marker.Judge] makes one; the zero value is
// no text.
type Judged struct{ text []byte }

// Bytes returns the text, which is not to be changed.
func (j Judged) Bytes() []byte { return j.text }

// String returns the text.
func (j Judged) String() string { return string(j.text) }

// Judge returns what a caller may see of a text: that of a nil marker, for which there are no secrets, is all of it. With an
// error, which is that of spend, there is no text.
func (m *Marker) Judge(text Unjudged, spend Spend) (Judged, error) {
	shown, err := m.RedactWithin(text.text, spend)
	return Judged{shown}, err
}

// JudgePieces is [Marker.Judge] for the pieces of one text, such as the pages of a file: what goes on from one piece to the
// next is a secret, too.
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
