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
	// maxRunning is the maximum number of running requests, as many as the gateway runs in parallel.
	// Others wait, and can be cancelled.
	maxRunning = 64

	// maxPending is the maximum number of requests without a response. At the limit nothing is read, so
	// that the pipe fills and the client waits.
	maxPending = 2048

	// maxPendingBytes is the maximum total size of the pending messages and the one being read. Decoded
	// messages need several times as much memory.
	maxPendingBytes = MaxMessage + MaxMessage/3

	// maxLarge is the maximum number of calls with large answers that are running or whose answers are
	// not written yet (backpressure). Each needs up to 14 MiB.
	maxLarge = 2

	// maxSubscriptions is the maximum number of notification streams. A client needs only one.
	maxSubscriptions = 16
)

var (
	errDuplicateID          = errors.New("a request with this id is still pending")
	errTooManySubscriptions = fmt.Errorf("more than %d subscriptions are open", maxSubscriptions)
)

// conn is the connection to the client on standard input and output, with its pending requests. A reader
// queues requests, and workers answer them.
type conn struct {
	server  *Server
	session *Session
	ctx     context.Context // parent of the contexts of all requests

	outMu    sync.Mutex // acquired before mu
	out      io.Writer
	writeErr error       // the first write error
	fail     func(error) // stops the server; called after a failed write or when the grace period ends

	idle    chan *request // passes requests to idle workers
	workers sync.WaitGroup

	mu             sync.Mutex
	changed        sync.Cond        // uses mu; signals changes of the fields below
	pending        map[any]*request // requests without a response, by id
	waiting        []*request       // pending requests that have not started, oldest first
	bytes          int              // total size of the pending messages
	running        int              // started requests, without subscriptions
	subscriptions  int              // pending subscriptions
	isInitializing bool             // an initialize request is running
	isChanging     bool             // a call that changes something is running
	large          int              // started calls whose large answers are not written yet
	writing        int              // responses being written
	isStopped      bool             // no more requests are started

	grace time.Duration
	timer *time.Timer // the grace period after the end of the input, nil before
}

// request is a pending request.
type request struct {
	Message
	peer        Peer
	mayChange   bool
	isLarge     bool
	isStarted   bool
	isCancelled bool
	ctx         context.Context // set when it starts
	stop        context.CancelFunc
}

func (r *request) isSubscription() bool { return r.Method == string(mcp.MethodSubscriptionsListen) }

func (r *request) isInitialize() bool { return r.Method == string(mcp.MethodInitialize) }

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

// waitForCapacity waits until another message can be accepted. It returns false if the server stops.
func (c *conn) waitForCapacity() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.isStopped && (len(c.pending) >= maxPending || c.bytes >= maxPendingBytes) {
		c.changed.Wait()
	}
	return !c.isStopped
}

// waitForBytes waits until the message being read can grow to size bytes.
func (c *conn) waitForBytes(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.isStopped && c.bytes > 0 && c.bytes+size > maxPendingBytes {
		c.changed.Wait()
	}
}

// accept queues a request, and handles any other message immediately. An error means that the message
// is invalid.
func (c *conn) accept(m Message) error {
	changes := false
	if m.Kind == Request && m.Arguments != nil && c.server.Changes != nil {
		changes = c.server.Changes(m.Tool, m.Arguments) // decodes the arguments, so it is called before taking the lock
	}
	large := m.Kind == Request && c.server.Large != nil && c.server.Large(m.Tool, m.Arguments)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.startReady()
	switch {
	case c.isStopped:
		return nil
	case m.Kind == Response:
		c.session.Answer(m)
		return nil
	case m.Cancels != nil: // the cancelled request gets no response
		r := c.pending[m.Cancels]
		switch {
		case r == nil:
		case r.isStarted:
			r.isCancelled = true
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
		Message:   m,
		mayChange: changes,
		isLarge:   large,
		peer:      Peer{Session: c.session, AcceptedAt: time.Now(), Send: c.send},
	}
	if r.isSubscription() {
		if c.subscriptions == maxSubscriptions {
			return errTooManySubscriptions
		}
		c.subscriptions++
	}
	c.pending[r.ID] = r
	c.bytes += len(r.Raw)
	if r.isInitialize() {
		c.waiting = slices.Insert(c.waiting, 0, r) // all other requests depend on it
	} else {
		c.waiting = append(c.waiting, r)
	}
	return nil
}

// remove removes a request whose response is about to be written, or that gets none. The caller holds mu.
func (c *conn) remove(r *request) {
	delete(c.pending, r.ID)
	c.bytes -= len(r.Raw)
	switch {
	case r.isSubscription():
		c.subscriptions--
	case r.isStarted:
		c.running--
		c.isInitializing = c.isInitializing && !r.isInitialize()
		c.isChanging = c.isChanging && !r.mayChange
	}
}

// startReady starts the requests that can run, and wakes goroutines that wait for a change. It must be
// called after every change of the fields under mu. The caller holds mu.
func (c *conn) startReady() {
	mayRun := func(r *request) bool {
		waitsForChange := r.mayChange && c.isChanging
		waitsForLarge := r.isLarge && c.large == maxLarge
		return !waitsForChange && !waitsForLarge
	}
	for c.ctx.Err() == nil && !c.isStopped && !c.isInitializing {
		if c.running == maxRunning {
			break
		}
		i := slices.IndexFunc(c.waiting, mayRun)
		if i < 0 {
			break
		}
		r := c.waiting[i]
		c.waiting = slices.Delete(c.waiting, i, i+1)
		r.isStarted = true
		r.ctx, r.stop = context.WithCancel(c.ctx)
		if !r.isSubscription() {
			c.running++
		}
		c.isInitializing = r.isInitialize()
		c.isChanging = c.isChanging || r.mayChange
		if r.isLarge {
			c.large++
		}
		select {
		case c.idle <- r:
		default:
			// The worker continues with requests that arrive while it is idle. That saves growing the stack of
			// a new goroutine for every call.
			c.workers.Go(func() {
				c.answer(r)
				for next := range c.idle {
					c.answer(next)
				}
			})
		}
	}
	c.changed.Broadcast()
}

// answer handles a request and writes the response, unless the request was cancelled in the meantime or
// the server has given up on it. A request that is already cancelled is not handled.
func (c *conn) answer(r *request) {
	defer r.stop()
	var line []byte
	c.mu.Lock()
	cancelled := r.isCancelled
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
		if r.isLarge {
			c.large--
		}
		if c.timer != nil {
			c.timer.Reset(c.grace)
		}
	})
	c.outMu.Unlock()
}

// release removes a request, and reports whether its response should be written. It increments writing,
// which the caller must decrement.
func (c *conn) release(r *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.startReady()
	c.writing++
	if c.pending[r.ID] != r {
		return false
	}
	c.remove(r)
	return !r.isCancelled
}

// update runs f with mu held, and then startReady.
func (c *conn) update(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.startReady()
}

// endInput records that no more messages will arrive. The server then gives up if no response is written
// for the grace period.
func (c *conn) endInput() {
	close(c.session.closed)
	c.update(func() {
		if !c.isStopped {
			c.timer = time.AfterFunc(c.grace, func() { c.fail(errUnanswered) })
		}
	})
}

// waitForAnswers waits until every request is answered or the server stops. It does not wait for
// subscriptions, which last as long as the server.
func (c *conn) waitForAnswers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.isStopped && len(c.waiting)+c.running+c.writing > 0 {
		c.changed.Wait()
	}
}

// stop marks the connection as stopped and wakes everything that waits.
func (c *conn) stop() { c.update(func() { c.isStopped = true }) }

// shutDown drops all requests, and returns the ids of those that still need a response.
func (c *conn) shutDown() (left []any) {
	c.update(func() {
		if c.timer != nil {
			c.timer.Stop()
		}
		for _, r := range c.pending {
			if !r.isCancelled && !r.isSubscription() {
				left = append(left, r.ID)
			}
		}
		clear(c.pending)
	})
	return left
}
