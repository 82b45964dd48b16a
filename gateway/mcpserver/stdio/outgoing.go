package stdio

import (
	"bytes"

	"vaultwicket/gateway/mcpserver/message"
)

// These methods carry a response from mcp-go to the writer: release, delay or drop.

// hasPendingResponses reports whether a response is still to be written. The response to
// a subscription comes at its end, so only its acknowledgement counts.
func (c *Requests) hasPendingResponses() bool {
	for _, r := range c.pending {
		if !r.subscribes() || !r.acknowledged && !r.cancelled {
			return true
		}
	}
	return c.writing > 0
}

// release returns the messages to write when mcp-go writes line: line; nothing if it is
// the response to a cancelled or unknown request; or line and a response that was delayed
// until after it. After they are written, [Requests.written] must be called.
func (c *Requests) release(line []byte) [][]byte {
	o := message.ReadOutgoing(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	c.writing++
	if o.Kind == message.Other || o.ID == nil {
		return [][]byte{line}
	}
	r := c.pending[key(o.ID)]
	if r == nil {
		return nil // mcp-go answers even a response
	}
	if o.Kind == message.Acknowledgement {
		return c.acknowledge(r, line)
	}
	return c.answer(r, line, o.Kind == message.Failure)
}

// acknowledge releases the acknowledgement of a subscription, and its response after it.
// mcp-go sends the two in any order.
func (c *Requests) acknowledge(r *pendingRequest, line []byte) [][]byte {
	r.acknowledged = true
	if r.cancelled {
		return nil
	}
	if r.answer == nil {
		return [][]byte{line}
	}
	c.remove(r)
	return [][]byte{line, r.answer}
}

func (c *Requests) answer(r *pendingRequest, line []byte, failed bool) [][]byte {
	if r.subscribes() && !r.acknowledged && !r.cancelled && !failed {
		r.answer = bytes.Clone(line)
		return nil
	}
	c.remove(r)
	if r.cancelled {
		return nil
	}
	return [][]byte{line}
}

// releaseCall reports whether the response of a handler is to be written: not if the call
// was cancelled, or the server has given up on it. After that [Requests.written] must be
// called.
func (c *Requests) releaseCall(r *pendingRequest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	c.writing++
	if c.pending[r.key] != r {
		return false
	}
	c.remove(r)
	return !r.cancelled
}

// written records that the released messages were written.
func (c *Requests) written() {
	c.update(func() {
		c.writing--
		if c.timer != nil {
			c.timer.Reset(c.grace)
		}
	})
}
