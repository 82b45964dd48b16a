package markdown

import "strings"

// Section returns what belongs to a heading of the note: its own lines and all
// up to the next heading of its level or above, sub-headings included.
func (n Note) Section(heading int) Span {
	h := n.Headings[heading]
	for _, next := range n.Headings[heading+1:] {
		if next.Level <= h.Level {
			return Span{h.At, next.At}
		}
	}
	return Span{h.At, n.Size}
}

// Block returns the block with an id, whatever its case: the last one, should
// there be several.
func (n Note) Block(id string) (Block, bool) {
	for at := len(n.Blocks) - 1; at >= 0; at-- {
		if strings.EqualFold(n.Blocks[at].ID, id) {
			return n.Blocks[at], true
		}
	}
	return Block{}, false
}
