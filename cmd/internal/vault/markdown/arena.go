package markdown

import "strings"

// pieceSize is how much memory is taken at a time, in bytes.
const pieceSize = 64 << 10

// Arena copies many short texts into few pieces of memory, which takes less time than an
// allocation for each. A piece stays as long as one of its texts is in use. The zero Arena
// is ready for use, by one goroutine at a time.
type Arena struct{ piece strings.Builder }

// Copy returns a copy of a text of any length, which never changes.
func (a *Arena) Copy(text []byte) string {
	if len(text) > a.piece.Cap()-a.piece.Len() {
		a.piece = strings.Builder{}
		a.piece.Grow(max(pieceSize, len(text)))
	}
	start := a.piece.Len()
	a.piece.Write(text)
	return a.piece.String()[start:]
}
