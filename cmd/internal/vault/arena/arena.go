// Package arena keeps copies of many short texts in few pieces of memory, which takes less time
// than a piece for each. A piece stays as long as one of its texts is in use.
package arena

import "strings"

// pieceSize is how much memory is taken at a time, in bytes.
const pieceSize = 64 << 10

// Arena makes the copies. The zero Arena is ready for use, by one goroutine at a time.
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
