package mcpserver

import (
	"io"
	"slices"
	"time"
)

// This is the way of a message from the reader to mcp-go: taken in, queued,
// perhaps cancelled, handed over.

// room waits until one more message can be taken in. It is false when none will
// be wanted any more.
func (c *calls) room() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped && (len(c.open)+len(c.ready) >= maxOpen || c.held >= maxHeld) {
		c.changed.Wait()
	}
	return !c.stopped
}

// take takes in a message. The error is the client's fault, and the message is
// then not taken.
func (c *calls) take(m message, line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changed.Broadcast()
	switch {
	case c.stopped:
		return nil
	case m.kind == request:
		return c.takeRequest(m, line)
	case m.kind == response && m.id == nil:
		return nil // it answers nothing
	case m.cancels != nil && !c.cancel(m.cancels):
		return nil
	}
	c.hurry(handover{line, false})
	return nil
}

func (c *calls) takeRequest(m message, line []byte) error {
	if c.open[key(m.id)] != nil {
		return errOpenID
	}
	r := &openRequest{id: m.id, method: m.method, size: len(line), taken: time.Now(), changes: c.changes != nil && m.arguments != nil && c.changes(m.tool, m.arguments)}
	if r.listens() {
		if c.listens == maxListens {
			return errListens
		}
		c.listens++
	}
	c.open[key(m.id)] = r
	if r.handshakes() {
		// What follows the handshake must find it done, so it cannot wait.
		r.handed, r.size = true, 0
		c.running++
		c.hurry(handover{line, true})
		return nil
	}
	r.line = line
	c.held += r.size
	c.waiting = append(c.waiting, r)
	return nil
}

// hurry puts a message before the requests that wait.
func (c *calls) hurry(h handover) {
	c.held += len(h.line)
	c.ready = append(c.ready, h)
}

// cancel cancels the request id and reports whether mcp-go must hear of it.
func (c *calls) cancel(id any) bool {
	r := c.open[key(id)]
	if r == nil || r.cancelled {
		return false
	}
	r.cancelled = true
	if !r.handed {
		c.waiting = slices.DeleteFunc(c.waiting, func(w *openRequest) bool { return w == r })
		c.close(r)
	}
	return r.handed
}

// close forgets a request. It has its answer, or will get none.
func (c *calls) close(r *openRequest) {
	delete(c.open, key(r.id))
	c.held -= r.size
	switch {
	case r.listens():
		c.listens--
	case r.handed:
		c.running--
	}
	if r.handshakes() {
		c.handshaking = false
	}
	if r.changes && r.handed {
		c.changing = false
	}
}

// next waits for the next message for mcp-go. io.EOF means that there is none
// and that none is owed an answer, or that c was stopped.
func (c *calls) next() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped {
		if line := c.pop(); line != nil {
			c.changed.Broadcast()
			return line, nil
		}
		if c.ended && len(c.ready) == 0 {
			c.leave()
		}
		if c.ended && !c.owes() {
			break
		}
		c.changed.Wait()
	}
	return nil, io.EOF
}

// leave tells those who have asked the client something that there will be no
// answer.
func (c *calls) leave() {
	if !c.gone {
		c.gone = true
		close(c.left)
	}
}

// pop returns the message whose turn it is, or nil.
func (c *calls) pop() []byte {
	if c.handshaking {
		return nil
	}
	if len(c.ready) > 0 {
		h := c.ready[0]
		c.ready = c.ready[1:]
		c.held -= len(h.line)
		c.handshaking = h.handshake
		return h.line
	}
	turn := slices.IndexFunc(c.waiting, func(r *openRequest) bool { return !r.changes || !c.changing })
	if turn < 0 || c.running >= maxRunning {
		return nil
	}
	r := c.waiting[turn]
	c.waiting = slices.Delete(c.waiting, turn, turn+1)
	c.changing = c.changing || r.changes
	line := r.line
	r.line, r.handed = nil, true
	if !r.listens() {
		c.running++
	}
	return line
}
