package mcpserver

import (
	"fmt"
	"io"
	"sync"
)

// outlet writes messages to the client, one at a time and each at once. It holds
// back what the client must not see. After a failed write it writes nothing.
type outlet struct {
	mu     sync.Mutex
	out    io.Writer
	calls  *calls
	fail   func(error) // told of the first failed write
	broken error
}

// Write takes one whole message of mcp-go with its newline. Success means that
// the client has it or must not have it.
func (o *outlet) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.calls.written()
	for _, message := range o.calls.release(line) {
		if err := o.write(message); err != nil {
			return 0, err
		}
	}
	return len(line), nil
}

// refuse answers a message that mcp-go does not see.
func (o *outlet) refuse(e *messageError) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.write(append(e.encode(), '\n')) // the outlet has told of it
}

func (o *outlet) write(line []byte) error {
	if o.broken != nil {
		return o.broken
	}
	if _, err := o.out.Write(line); err != nil {
		o.broken = fmt.Errorf("%w: %w", errOutput, err)
		o.fail(o.broken)
	}
	return o.broken
}
