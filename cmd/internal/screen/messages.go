package screen

import (
	"io"
	"sync/atomic"
)

// Messages is standard error for messages that may come while a [Progress] is shown: its
// line is removed before one.
type Messages struct {
	out      io.Writer
	progress atomic.Pointer[Progress]
}

// NewMessages returns what writes to stderr.
func NewMessages(stderr io.Writer) *Messages { return &Messages{out: stderr} }

// Write writes a whole message.
func (m *Messages) Write(text []byte) (int, error) {
	p := m.progress.Load()
	if p == nil {
		return m.out.Write(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove()
	return m.out.Write(text)
}
