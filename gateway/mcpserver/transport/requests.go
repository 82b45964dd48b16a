package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxRunning is the maximum number of requests that are worked on at once. The
	// others wait, and can be cancelled. The gateway runs up to 64 calls in parallel.
	maxRunning = 64

	// maxPending is the maximum number of requests without a response. Beyond it nothing
	// is read: the pipe of the client fills and the client waits.
	maxPending = 2048

	// maxPendingBytes is the maximum size of all pending messages and the one that is read. A
	// decoded message needs several times its size.
	maxPendingBytes = MaxMessage + MaxMessage/3

	// maxLarge is the maximum number of calls with large answers that are worked on or whose
	// answers are unread (backpressure). Each takes up to 14 MiB, encoded and before.
	maxLarge = 2

	// maxSubscriptions is the maximum number of notification streams. A client needs one.
	maxSubscriptions = 16
)

var (
	errDuplicateID          = errors.New("a request with this id is still pending")
	errTooManySubscriptions = fmt.Errorf("more than %d subscriptions are open", maxSubscriptions)
)

// conn is the connection to the client on standard input and output, with the requests that
// have no response. A reader queues them, and workers answer them.
type conn struct {
	server  *Server
	session *Session
	ctx     context.Context // of all requests

	outMu  sync.Mutex // before mu
	out    io.Writer
	broken error
	fail   func(error) // is called with the first failed write, and when the grace period is over

	idle    chan *request // to a worker that has nothing to do
	workers sync.WaitGroup

	mu            sync.Mutex
	changed       sync.Cond        // on mu: any field below
	pending       map[any]*request // by id
	waiting       []*request       // those that have not started, oldest first
	bytes         int              // size of all pending messages
	running       int              // started requests, without subscriptions
	subscriptions int              // pending subscriptions
	initializing  bool             // an initialize has started
	changing      bool             // a call that changes something has started
	large         int              // started calls with large answers that are not written
	writing       int              // responses being written
	stopped       bool             // nothing is started any more

	grace time.Duration
	timer *time.Timer // runs after the end of the input, nil before
}

// request is a request without a response.
type request struct {
	Message
	peer      Peer
	changes   bool
	large     bool
	started   bool
	cancelled bool
	ctx       context.Context // once it has started
	stop      context.CancelFunc
}

func (r *request) subscribes() bool { return r.Method == string(mcp.MethodSubscriptionsListen) }

func (r *request) initializes() bool { return r.Method == string(mcp.MethodInitialize) }

func newConn(s *Server, out io.Writer, grace time.Duration) *conn {
	c := &conn{
		server:  s,
		session: NewSession(),
		out:     out,
		grace:   grace,
		idle:    make(chan *request),
		pending: map[any]*request{},
	}
	c.changed.L = &c.mu
	return c
}

// waitForCapacity waits until one more message can be accepted. It is false when the server stops.
func (c *conn) waitForCapacity() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped && (len(c.pending) >= maxPending || c.bytes >= maxPendingBytes) {
		c.changed.Wait()
	}
	return !c.stopped
}

// waitForBytes waits until size bytes of the message that is read fit among the pending ones.
func (c *conn) waitForBytes(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped && c.bytes > 0 && c.bytes+size > maxPendingBytes {
		c.changed.Wait()
	}
}

// accept queues a request, and acts on any other message. The error is the fault of the client.
func (c *conn) accept(m Message) error {
	changes := false
	if m.Kind == Request && m.Arguments != nil && c.server.Changes != nil {
		changes = c.server.Changes(m.Tool, m.Arguments) // it decodes them, for which no other message has to wait
	}
	large := m.Kind == Request && c.server.Large != nil && c.server.Large(m.Tool, m.Arguments)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	switch {
	case c.stopped:
		return nil
	case m.Kind == Response:
		c.session.Answer(m)
		return nil
	case m.Cancels != nil: // that request gets no response
		r := c.pending[m.Cancels]
		switch {
		case r == nil:
		case r.started:
			r.cancelled = true
			r.stop()
		default:
			c.waiting = slices.DeleteFunc(c.waiting, func(w *request) bool { return w == r })
			c.remove(r)
		}
		return nil
	case m.Kind == Notification:
		return nil
	case c.pending[m.ID] != nil:
		return errDuplicateID
	}
	r := &request{
		Message: m,
		changes: changes,
		large:   large,
		peer:    Peer{Session: c.session, AcceptedAt: time.Now(), Send: c.send},
	}
	if r.subscribes() {
		if c.subscriptions == maxSubscriptions {
			return errTooManySubscriptions
		}
		c.subscriptions++
	}
	c.pending[r.ID] = r
	c.bytes += len(r.Raw)
	if r.initializes() {
		c.waiting = slices.Insert(c.waiting, 0, r) // the others depend on it
	} else {
		c.waiting = append(c.waiting, r)
	}
	return nil
}

// remove drops a request that has its response or gets none.
func (c *conn) remove(r *request) {
	delete(c.pending, r.ID)
	c.bytes -= len(r.Raw)
	switch {
	case r.subscribes():
		c.subscriptions--
	case r.started:
		c.running--
		c.initializing = c.initializing && !r.initializes()
		c.changing = c.changing && !r.changes
	}
}

// settle starts the requests whose turn it is, and wakes those who wait for a change. It must
// be called after every change, with the lock held.
func (c *conn) settle() {
	mayRun := func(r *request) bool {
		waitsForChange := r.changes && c.changing
		waitsForLarge := r.large && c.large == maxLarge
		return !waitsForChange && !waitsForLarge
	}
	for c.ctx.Err() == nil && !c.stopped && !c.initializing {
		if c.running == maxRunning {
			break
		}
		i := slices.IndexFunc(c.waiting, mayRun)
		if i < 0 {
			break
		}
		r := c.waiting[i]
		c.waiting = slices.Delete(c.waiting, i, i+1)
		r.started = true
		r.ctx, r.stop = context.WithCancel(c.ctx)
		if !r.subscribes() {
			c.running++
		}
		c.initializing = r.initializes()
		c.changing = c.changing || r.changes
		if r.large {
			c.large++
		}
		select {
		case c.idle <- r:
		default:
			// A worker goes on with the requests that find it idle: a new goroutine would have to grow its
			// stack for every call.
			c.workers.Go(func() {
				for next, open := r, true; open; next, open = <-c.idle {
					c.answer(next)
				}
			})
		}
	}
	c.changed.Broadcast()
}

// answer has a request answered and writes the response, unless the request was cancelled
// meanwhile or the server has given up on it. One that was cancelled before is not begun.
func (c *conn) answer(r *request) {
	defer r.stop()
	var line []byte
	c.mu.Lock()
	cancelled := r.cancelled
	c.mu.Unlock()
	if !cancelled {
		line, _ = c.server.Respond(r.ctx, &r.peer, r.Message)
	}
	c.outMu.Lock()
	if c.release(r) {
		_ = c.write(line) // write reports the error to fail
	}
	c.update(func() {
		c.writing--
		if r.large {
			c.large--
		}
		if c.timer != nil {
			c.timer.Reset(c.grace)
		}
	})
	c.outMu.Unlock()
}

// release reports whether the response to a request is to be written. After that writing must
// be counted down.
func (c *conn) release(r *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	c.writing++
	if c.pending[r.ID] != r {
		return false
	}
	c.remove(r)
	return !r.cancelled
}

// update runs f under the lock, and then whatever is due after its effect.
func (c *conn) update(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.settle()
}

// endInput records that no message will follow. The server gives up when no response was
// written for the grace period.
func (c *conn) endInput() {
	close(c.session.closed)
	c.update(func() {
		if !c.stopped {
			c.timer = time.AfterFunc(c.grace, func() { c.fail(errUnanswered) })
		}
	})
}

// waitForAnswers waits until every request is answered, or the server stops. Subscriptions end
// with the server.
func (c *conn) waitForAnswers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped && len(c.waiting)+c.running+c.writing > 0 {
		c.changed.Wait()
	}
}

// stop wakes everything that waits here and makes it return.
func (c *conn) stop() { c.update(func() { c.stopped = true }) }

// shutDown drops all requests. It returns the ids of those that still need a response.
func (c *conn) shutDown() (left []any) {
	c.update(func() {
		if c.timer != nil {
			c.timer.Stop()
		}
		for _, r := range c.pending {
			if !r.cancelled && !r.subscribes() {
				left = append(left, r.ID)
			}
		}
		clear(c.pending)
	})
	return left
}
