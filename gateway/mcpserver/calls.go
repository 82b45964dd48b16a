package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/mcpserver/streamable"
)

const (
	// maxRunning bounds the requests that mcp-go works on at once. It is also the
	// number of its workers and the length of its queue, so that a call waits
	// here, where it can be cancelled, and not there. The gateway itself runs at
	// most 64 calls side by side.
	maxRunning = 64

	// maxOpen bounds the requests that are taken in and not answered. Past it
	// nothing is read until there is room: the client's pipe fills and it waits.
	maxOpen = 2048

	// maxHeld bounds the bytes of all open messages. mcp-go holds each several
	// times over, decoded and not.
	maxHeld = 8 << 20

	// maxListens bounds the streams of notifications. A client needs one.
	maxListens = 16
)

var (
	errOpenID    = errors.New("a request with this id is open")
	errListens   = fmt.Errorf("more than %d subscriptions are open", maxListens)
	errCancelled = errors.New("the request was cancelled")
)

// calls knows the requests of a stdio client that are open: queued here, or
// handed to mcp-go and not answered. The reader and the writer of the transport
// meet in it, and through [calls.hooks] mcp-go does too.
//
// Outside of serveStdio it is empty and all its methods are harmless, so one
// server can be built for every transport.
type calls struct {
	mu      sync.Mutex
	changed sync.Cond // on mu: anything below

	open    map[string]*openRequest
	waiting []*openRequest // not handed over, oldest first
	ready   []handover     // goes before what waits: all that is not a request

	held        int           // bytes of all that is open or ready
	running     int           // handed over; subscriptions do not count
	listens     int           // open subscriptions
	handshaking bool          // an initialize is handed over and not answered
	writing     int           // answers on their way out
	ended       bool          // nothing more will come in
	left        chan struct{} // closed when all that came in was handed over
	gone        bool          // left is
	stopped     bool          // nothing more must go on

	// changes tells from the tool and the arguments of a call whether it would
	// change something; nil means that none does. Such calls are handed over one
	// after the other, in the order in which they came: mcp-go keeps none.
	changes  func(tool string, arguments json.RawMessage) bool
	changing bool // one is handed over and not answered

	out    io.Writer // for notifications, nil when not serving
	grace  time.Duration
	expire func()
	timer  *time.Timer // runs after the end of the input, until then nil
}

// handover is a message on its way to mcp-go.
type handover struct {
	line      []byte
	handshake bool
}

// openRequest is a request without its answer.
type openRequest struct {
	id        any
	method    string
	line      []byte // until it is handed over
	size      int
	handed    bool
	cancelled bool
	changes   bool
	taken     time.Time

	// Of a subscription: whether it was acknowledged, and its answer if that
	// came first.
	acknowledged bool
	answer       []byte
}

func (r *openRequest) listens() bool {
	return r.method == string(mcp.MethodSubscriptionsListen)
}

func (r *openRequest) handshakes() bool {
	return r.method == string(mcp.MethodInitialize)
}

// newCalls returns calls without a request.
func newCalls() *calls {
	c := &calls{open: map[string]*openRequest{}, left: make(chan struct{})}
	c.changed.L = &c.mu
	return c
}

// key is the name under which mcp-go files a request; 1 and "1" share it.
func key(id any) string { return fmt.Sprint(id) }

// hooks registers what makes a cancellation certain. mcp-go forgets one that
// arrives before the request has begun. Here a cancelled request does not begin,
// and if it begins in the same moment, its context is cancelled before its
// handler is called. Handlers need nothing but their context.
func (c *calls) hooks(h *server.Hooks) {
	h.AddOnRequestInitialization(func(_ context.Context, id any, _ any) error {
		if c.isCancelled(id) {
			return errCancelled
		}
		return nil
	})
	h.AddBeforeAny(func(ctx context.Context, id any, _ mcp.MCPMethod, _ any) {
		if c.isCancelled(id) {
			server.ServerFromContext(ctx).HandleMessage(ctx, cancellation(id))
		}
	})
	h.AddBeforeCallTool(func(_ context.Context, id any, req *mcp.CallToolRequest) { c.stamp(id, req) })
}

// waitedHeader carries to the handler of a call how long it has waited. It is set or
// removed for every call here, so that no client can set it.
const waitedHeader = "Vaultwicket-Waited"

// stamp notes in a call how long it has waited here: that may be minutes.
func (c *calls) stamp(id any, req *mcp.CallToolRequest) {
	header := req.Header.Clone()
	header.Del(waitedHeader)
	c.mu.Lock()
	r := c.open[key(id)]
	c.mu.Unlock()
	if r != nil {
		if header == nil {
			header = map[string][]string{}
		}
		header.Set(waitedHeader, time.Since(r.taken).String())
	}
	req.Header = header
}

// takenIn returns when a call was taken in, the zero time where it did not wait.
func takenIn(req mcp.CallToolRequest) time.Time {
	waited, err := time.ParseDuration(req.Header.Get(waitedHeader))
	if err != nil {
		return time.Time{}
	}
	return time.Now().Add(-waited)
}

// cancellation is the message with which a client cancels the request id.
func cancellation(id any) json.RawMessage {
	return encode(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"method":  mcp.MethodNotificationCancelled,
		"params":  map[string]any{"requestId": id},
	})
}

// isOpen reports whether a request with this id is open.
func (c *calls) isOpen(id any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[key(id)] != nil
}

func (c *calls) isCancelled(id any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.open[key(id)]
	return r != nil && r.cancelled
}

// notify sends a notification to the client of the request that ctx belongs to,
// and on stdio it has left when notify returns: mcp-go would send it behind the
// answer. A request that is cancelled or over sends nothing.
func (c *calls) notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	out := c.out
	c.mu.Unlock()
	if out == nil {
		return streamable.Notify(ctx, method, params)
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("notification %q: %w", method, err)
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

// begin makes c ready for one client. Once the input has ended, expire is called
// when nothing was answered for the time of grace.
func (c *calls) begin(out io.Writer, grace time.Duration, expire func()) {
	c.change(func() { c.out, c.grace, c.expire = out, grace, expire })
}

// end notes that no message will follow.
func (c *calls) end() {
	c.change(func() {
		c.ended = true
		if c.stopped {
			return
		}
		c.timer = time.AfterFunc(c.grace, c.expire)
	})
}

// stop lets everyone go who waits here.
func (c *calls) stop() { c.change(func() { c.stopped = true }) }

// change runs f under the lock and wakes those who wait for its effect.
func (c *calls) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.changed.Broadcast()
}

// abandon ends the time of one client. It returns the requests that still wait
// for an answer.
func (c *calls) abandon() []any {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changed.Broadcast()
	c.stopped, c.out = true, nil
	if c.timer != nil {
		c.timer.Stop()
	}
	var left []any
	for _, r := range c.open {
		if !r.cancelled && !r.listens() {
			left = append(left, r.id)
		}
	}
	clear(c.open)
	return left
}
