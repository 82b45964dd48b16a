package object

import "bytes"

// A note is mostly changed in one place. The difference from the version before
// is then where the two begin and end alike, and what is in between.

// Limits of differences.
const (
	// MaxDepth is the longest chain of differences: each of them costs a read.
	MaxDepth = 31
	// LeastDelta is the length in bytes below which a difference would not be
	// shorter than the note.
	LeastDelta = 256
	// Long texts are compared by blocks of so many bytes.
	block = 4 << 10
)

// common returns how many bytes two texts have in common at the beginning, and
// behind that at the end.
func common(a, b []byte) (prefix, suffix int) {
	n := min(len(a), len(b))
	for prefix+block <= n && bytes.Equal(a[prefix:prefix+block], b[prefix:prefix+block]) {
		prefix += block
	}
	for prefix < n && a[prefix] == b[prefix] {
		prefix++
	}
	n -= prefix
	for suffix+block <= n && bytes.Equal(a[len(a)-suffix-block:len(a)-suffix], b[len(b)-suffix-block:len(b)-suffix]) {
		suffix += block
	}
	for suffix < n && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// Pieces are a text in parts. To go from version to version the text need not be
// copied each time.
type Pieces [][]byte

// Size returns the length of the text in bytes.
func (p Pieces) Size() (n int) {
	for _, part := range p {
		n += len(part)
	}
	return n
}

// first returns the first n bytes, of which there are so many.
func (p Pieces) first(n int) (kept Pieces) {
	for _, part := range p {
		part = part[:min(n, len(part))]
		n -= len(part)
		kept = append(kept, part)
		if n == 0 {
			break
		}
	}
	return kept
}

// last returns the last n bytes, of which there are so many.
func (p Pieces) last(n int) (kept Pieces) {
	skip := p.Size() - n
	for _, part := range p {
		cut := min(skip, len(part))
		skip -= cut
		if cut < len(part) {
			kept = append(kept, part[cut:])
		}
	}
	return kept
}

// Text returns the whole text.
func (p Pieces) Text() []byte { return bytes.Join(p, nil) }
