package query

import "bytes"

// span is a range of bytes.
type span struct{ start, end int }

// lineLength returns how much of text lies before the end of its first line.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}
