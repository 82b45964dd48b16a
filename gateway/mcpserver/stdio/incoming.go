package stdio

import (
	"io"
	"slices"
	"time"

	"vaultwicket/gateway/mcpserver/message"
)

// These methods carry a message from the reader to mcp-go or to a handler: accept, queue,
// perhaps cancel, forward.

// waitForCapacity waits until one more message can be accepted. It is false when the
// server stops.
func (c *Requests) waitForCapacity() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped && (len(c.pending)+len(c.ready) >= maxPending || c.pendingBytes >= maxPendingBytes) {
		c.changed.Wait()
	}
	return !c.stopped
}

// accept queues a message. The error is the fault of the client; the message is then
// not queued.
func (c *Requests) accept(m message.Message, line []byte) error {
	changes := c.mayChange(m) // it decodes the arguments, for which no other message has to wait
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	switch {
	case c.stopped:
		return nil
	case m.Kind == message.Request:
		return c.acceptRequest(m, line, changes)
	case m.Kind == message.Response && m.ID == nil:
		return nil // it matches no request
	case m.Cancels != nil && !c.cancel(m.Cancels):
		return nil
	}
	c.enqueueFirst(queuedMessage{line, false})
	return nil
}

// mayChange reports whether a message is a call that would change something.
func (c *Requests) mayChange(m message.Message) bool {
	return c.Changes != nil && m.Kind == message.Request && m.Arguments != nil && c.Changes(m.Tool, m.Arguments)
}

func (c *Requests) acceptRequest(m message.Message, line []byte, changes bool) error {
	r := &pendingRequest{id: m.ID, key: key(m.ID), method: m.Method, size: len(line), acceptedAt: time.Now(), changes: changes, call: c.callOf(m, line)}
	if c.pending[r.key] != nil {
		return errDuplicateID
	}
	if r.subscribes() {
		if c.subscriptions == maxSubscriptions {
			return errTooManySubscriptions
		}
		c.subscriptions++
	}
	c.pending[r.key] = r
	if r.initializes() {
		// Messages after the handshake depend on it, so it cannot wait.
		r.forwarded, r.size = true, 0
		c.running++
		c.enqueueFirst(queuedMessage{line, true})
		return nil
	}
	r.line = line
	c.pendingBytes += r.size
	c.waiting = append(c.waiting, r)
	return nil
}

// enqueueFirst queues a message before the waiting requests.
func (c *Requests) enqueueFirst(q queuedMessage) {
	c.pendingBytes += len(q.line)
	c.ready = append(c.ready, q)
}

// cancel cancels the request id and reports whether mcp-go must be told.
func (c *Requests) cancel(id any) bool {
	r := c.pending[key(id)]
	if r == nil || r.cancelled {
		return false
	}
	r.cancelled = true
	switch {
	case !r.forwarded:
		c.waiting = slices.DeleteFunc(c.waiting, func(w *pendingRequest) bool { return w == r })
		c.remove(r)
		return false
	case r.call != nil:
		r.call.stop()
		return false
	}
	return true
}

// remove drops a request that has its response or gets none.
func (c *Requests) remove(r *pendingRequest) {
	delete(c.pending, r.key)
	c.pendingBytes -= r.size
	switch {
	case r.subscribes():
		c.subscriptions--
	case r.forwarded:
		c.running--
	}
	if r.initializes() {
		c.initializing = false
	}
	if r.changes && r.forwarded {
		c.changing = false
	}
}

// next waits for the next message for mcp-go. io.EOF means that the input has ended and
// no response is pending, or that c was stopped.
func (c *Requests) next() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped {
		if line := c.pop(); line != nil {
			c.settle()
			return line, nil
		}
		if c.ended && len(c.ready) == 0 {
			c.closeInput()
		}
		if c.ended && !c.hasPendingResponses() {
			break
		}
		c.forwardable.Wait()
	}
	return nil, io.EOF
}

// closeInput closes inputDone, once.
func (c *Requests) closeInput() {
	if !c.inputClosed {
		c.inputClosed = true
		close(c.inputDone)
	}
}

// pop returns the next message that may be forwarded to mcp-go, or nil.
func (c *Requests) pop() []byte {
	if c.initializing {
		return nil
	}
	if len(c.ready) > 0 {
		q := c.ready[0]
		c.ready = c.ready[1:]
		c.pendingBytes -= len(q.line)
		c.initializing = q.initializes
		return q.line
	}
	r := c.first()
	if r == nil || r.call != nil { // calls are started, see startCalls
		return nil
	}
	c.forward(r)
	line := r.line
	r.line = nil
	return line
}

// first returns the waiting request whose turn it is, or nil.
func (c *Requests) first() *pendingRequest {
	if c.initializing || len(c.ready) > 0 || c.running >= maxRunning {
		return nil
	}
	i := slices.IndexFunc(c.waiting, func(r *pendingRequest) bool { return !r.changes || !c.changing })
	if i < 0 {
		return nil
	}
	return c.waiting[i]
}

// forward takes a waiting request from its queue.
func (c *Requests) forward(r *pendingRequest) {
	i := slices.Index(c.waiting, r)
	c.waiting = slices.Delete(c.waiting, i, i+1)
	c.changing = c.changing || r.changes
	r.forwarded = true
	if !r.subscribes() {
		c.running++
	}
}
