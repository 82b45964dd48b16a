package mcpserver

import "bytes"

// This is the way of an answer from mcp-go to the writer: let go, held back
// or dropped.

// owes reports whether an answer is still to be written. A subscription has its
// answer at the end, so it only owes the acknowledgement.
func (c *calls) owes() bool {
	for _, r := range c.open {
		if !r.listens() || !r.acknowledged && !r.cancelled {
			return true
		}
	}
	return c.writing > 0
}

// release returns what may leave for the client now that mcp-go writes line:
// the line, or nothing when it answers a cancelled request or none at all, or
// the line and an answer that was held back for it. When that is written,
// [calls.written] must follow.
func (c *calls) release(line []byte) [][]byte {
	o := readOutgoing(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changed.Broadcast()
	c.writing++
	if o.kind == passing || o.id == nil {
		return [][]byte{line}
	}
	r := c.open[key(o.id)]
	if r == nil {
		return nil // mcp-go answers even an answer
	}
	if o.kind == acknowledging {
		return c.acknowledge(r, line)
	}
	return c.answer(r, line, o.kind == failing)
}

// acknowledge lets a subscription's answer go behind its acknowledgement.
// mcp-go sends the two in any order.
func (c *calls) acknowledge(r *openRequest, line []byte) [][]byte {
	r.acknowledged = true
	if r.cancelled {
		return nil
	}
	if r.answer == nil {
		return [][]byte{line}
	}
	c.close(r)
	return [][]byte{line, r.answer}
}

func (c *calls) answer(r *openRequest, line []byte, failed bool) [][]byte {
	if r.listens() && !r.acknowledged && !r.cancelled && !failed {
		r.answer = bytes.Clone(line)
		return nil
	}
	c.close(r)
	if r.cancelled {
		return nil
	}
	return [][]byte{line}
}

// written notes that a message released has left.
func (c *calls) written() {
	c.change(func() {
		c.writing--
		if c.timer != nil {
			c.timer.Reset(c.grace)
		}
	})
}
