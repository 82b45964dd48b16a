package cache

import (
	"os"
	"sync/atomic"
)

// pack is an open pack. It is shared by a cache and those made from it, and
// closed by the last of them.
type pack struct {
	id    packID
	file  *os.File
	users atomic.Int32
}

func newPack(id packID, file *os.File) *pack {
	p := &pack{id: id, file: file}
	p.users.Store(1)
	return p
}

// share returns p for one more user.
func (p *pack) share() *pack {
	if p != nil {
		p.users.Add(1)
	}
	return p
}

func (p *pack) release() error {
	if p == nil || p.users.Add(-1) > 0 {
		return nil
	}
	return p.file.Close()
}

// read returns the bytes of s, in buf if they fit. ok is false if they are not
// there or not those that were written.
func (p *pack) read(s span, buf []byte) (data []byte, ok bool) {
	data = resize(buf, int(s.size))
	if _, err := p.file.ReadAt(data, int64(s.at)); err != nil {
		return nil, false
	}
	return data, checksum(data) == s.sum
}

// resize returns a slice of that length, in buf if it fits.
func resize(buf []byte, size int) []byte {
	if cap(buf) < size {
		return make([]byte, size)
	}
	return buf[:size]
}
