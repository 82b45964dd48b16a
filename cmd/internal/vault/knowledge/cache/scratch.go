package cache

import "sync"

// maxScratch is the largest buffer that is kept for the next use.
const maxScratch = 1 << 20

// scratch is a buffer that is used again.
type scratch struct{ bytes []byte }

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func (s *scratch) put() {
	if cap(s.bytes) <= maxScratch {
		scratches.Put(s)
	}
}
