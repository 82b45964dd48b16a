package markdown

import "strings"

// partsSize is how much memory parts take at a time.
const partsSize = 32 << 10

// parts are copies of texts, many of which share a piece of memory. They stay valid.
type parts struct{ chunk strings.Builder }

func (p *parts) add(text []byte) string {
	if len(text) > p.chunk.Cap()-p.chunk.Len() {
		p.chunk = strings.Builder{}
		p.chunk.Grow(max(partsSize, len(text)))
	}
	start := p.chunk.Len()
	p.chunk.Write(text)
	return p.chunk.String()[start:]
}
