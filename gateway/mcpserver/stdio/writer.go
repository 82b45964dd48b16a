package stdio

import (
	"fmt"
	"io"
	"sync"

	"vaultwicket/gateway/mcpserver/message"
)

// writer writes messages to the client, one at a time and unbuffered. It drops
// responses to cancelled requests. After a failed write it writes nothing more.
type writer struct {
	mu       sync.Mutex
	out      io.Writer
	requests *Requests
	fail     func(error) // is called with the first failed write
	broken   error
}

// Write takes one whole message of mcp-go with its newline. Success means that it was
// written, or dropped on purpose.
func (o *writer) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.requests.written()
	for _, line := range o.requests.release(line) {
		if err := o.write(line); err != nil {
			return 0, err
		}
	}
	return len(line), nil
}

// answer writes the response of a handler, with its newline.
func (o *writer) answer(r *pendingRequest, line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.requests.written()
	if o.requests.releaseCall(r) {
		_ = o.write(line) // write reports the error to fail
	}
}

// reject answers a message that is rejected before mcp-go sees it.
func (o *writer) reject(e *message.Error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.write(append(e.Encode(), '\n')) // write reports the error to fail
}

func (o *writer) write(line []byte) error {
	if o.broken != nil {
		return o.broken
	}
	if _, err := o.out.Write(line); err != nil {
		o.broken = fmt.Errorf("%w: %w", errOutputClosed, err)
		o.fail(o.broken)
	}
	return o.broken
}
