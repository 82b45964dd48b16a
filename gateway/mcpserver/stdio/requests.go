package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/mcpserver/direct"
	"vaultwicket/gateway/mcpserver/message"
)

const (
	// maxRunning is the maximum number of requests that are worked on at once. The
	// others wait in [Requests], where they can be cancelled. The gateway runs up to 64
	// calls in parallel.
	maxRunning = 64

	// maxPending is the maximum number of requests without a response. Beyond it nothing
	// is read: the pipe of the client fills and the client waits.
	maxPending = 2048

	// maxPendingBytes is the maximum size of all pending messages. mcp-go keeps several
	// copies of each, decoded and not.
	maxPendingBytes = 8 << 20

	// maxSubscriptions is the maximum number of notification streams. A client needs one.
	maxSubscriptions = 16
)

var (
	errDuplicateID          = errors.New("a request with this id is still pending")
	errTooManySubscriptions = fmt.Errorf("more than %d subscriptions are open", maxSubscriptions)
	errCancelled            = errors.New("the request was cancelled")
	errNotServing           = errors.New("no client is connected")
)

// Requests tracks the pending requests of a stdio client: those queued here, and those
// forwarded to mcp-go or to a handler without a response yet. The reader and the writer of
// the transport share it, and mcp-go calls it through [Requests.Hooks].
//
// While [Serve] does not run it is empty and its hooks do nothing, so that one server can
// be built for every transport.
type Requests struct {
	// Changes reports, from the tool and the arguments of a call, whether it would change
	// something; nil means that no call does. Such calls are forwarded one at a time, in
	// the order of arrival: nothing else keeps an order. It must be set before Serve.
	Changes func(tool string, arguments json.RawMessage) bool

	// Handlers are the handlers of tools, by name, whose plain calls are answered without
	// mcp-go, see package direct. A handler gets the session in its context and
	// the same request, but neither the server in the context nor arguments other than
	// RawArguments. Middleware of the server is not run, so it must be part of the handler,
	// and recover panics. It must be set before Serve; nil leaves all calls to mcp-go.
	Handlers direct.Tools

	mu          sync.Mutex
	changed     sync.Cond // on mu: any field below
	forwardable sync.Cond // on mu: next has something to return

	calls calls // that handlers work on

	pending map[string]*pendingRequest
	waiting []*pendingRequest // not forwarded, oldest first
	ready   []queuedMessage   // messages that are forwarded before waiting

	pendingBytes  int           // size of all pending and ready messages
	running       int           // forwarded requests, without subscriptions
	subscriptions int           // open subscriptions
	initializing  bool          // an initialize is forwarded and has no response
	changing      bool          // a call that changes something is forwarded and has no response
	writing       int           // responses being written
	ended         bool          // the input has ended
	inputDone     chan struct{} // closed when the input has ended and all of it was forwarded
	inputClosed   bool          // inputDone is closed
	stopped       bool          // the server is shutting down

	out    io.Writer // for notifications; nil when not serving
	grace  time.Duration
	expire func()
	timer  *time.Timer // runs after the end of the input, nil before
}

// queuedMessage is a message on its way to mcp-go.
type queuedMessage struct {
	line        []byte
	initializes bool
}

// pendingRequest is a request without a response.
type pendingRequest struct {
	id         any
	key        string // of id
	method     string
	call       *toolCall // nil for a message for the input of mcp-go
	line       []byte    // until it is forwarded
	size       int
	forwarded  bool
	cancelled  bool
	changes    bool
	acceptedAt time.Time

	// Of a subscription: whether it was acknowledged, and its response if that came first.
	acknowledged bool
	answer       []byte
}

func (r *pendingRequest) subscribes() bool {
	return r.method == string(mcp.MethodSubscriptionsListen)
}

func (r *pendingRequest) initializes() bool {
	return r.method == string(mcp.MethodInitialize)
}

// NewRequests returns an empty Requests.
func NewRequests() *Requests {
	c := &Requests{pending: map[string]*pendingRequest{}, inputDone: make(chan struct{})}
	c.changed.L, c.forwardable.L = &c.mu, &c.mu
	return c
}

// InputDone returns a channel that is closed when the client has closed the input and all
// of it was forwarded: a request of the server can get no response after that.
func (c *Requests) InputDone() <-chan struct{} { return c.inputDone }

// key is the key under which mcp-go stores a request, that of fmt.Sprint; 1 and "1" share it.
func key(id any) string {
	switch id := id.(type) {
	case string:
		return id
	case float64:
		return strconv.FormatFloat(id, 'g', -1, 64)
	}
	return fmt.Sprint(id)
}

// Hooks registers the hooks that make cancellation reliable. mcp-go forgets a
// cancellation that arrives before the request has begun. With the hooks, a cancelled
// request does not begin, and if it begins at the same moment, its context is cancelled
// before its handler is called. Handlers only need their context.
func (c *Requests) Hooks(h *server.Hooks) {
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
	h.AddOnRegisterSession(func(_ context.Context, session server.ClientSession) { c.openSession(session) })
}

// cancellation is the message with which a client cancels the request id.
func cancellation(id any) json.RawMessage {
	return message.Encode(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"method":  mcp.MethodNotificationCancelled,
		"params":  map[string]any{"requestId": id},
	})
}

// isPending reports whether a request with this id has no response yet.
func (c *Requests) isPending(id any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending[key(id)] != nil
}

func (c *Requests) isCancelled(id any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.pending[key(id)]
	return r != nil && r.cancelled
}

// Notify sends a notification to the client of the request that ctx belongs to. It is
// written when Notify returns: mcp-go would send it after the response. The error says
// that the request is cancelled or finished, or that Serve does not run.
func (c *Requests) Notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	out := c.out
	c.mu.Unlock()
	if out == nil {
		return errNotServing
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("notification %q: %w", method, err)
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

// begin prepares c for one client. After the end of the input, expire is called when no
// response was written for the grace period.
func (c *Requests) begin(out io.Writer, grace time.Duration, expire func()) {
	c.update(func() { c.out, c.grace, c.expire = out, grace, expire })
}

// endInput records that no message will follow.
func (c *Requests) endInput() {
	c.update(func() {
		c.ended = true
		if c.stopped {
			return
		}
		c.timer = time.AfterFunc(c.grace, c.expire)
	})
}

// stop wakes everything that waits here and makes it return.
func (c *Requests) stop() { c.update(func() { c.stopped = true }) }

// update runs f under the lock, and then whatever is due after its effect.
func (c *Requests) update(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.settle()
}

// settle starts the calls whose turn it is and wakes those who wait for a change. It must
// be called after every change, with the lock held.
func (c *Requests) settle() {
	c.startCalls()
	c.changed.Broadcast()
	if first := c.first(); c.ended || c.stopped || len(c.ready) > 0 || first != nil && first.call == nil {
		c.forwardable.Broadcast()
	}
}

// shutDown ends the service of one client. It returns the ids of the requests that still
// need a response.
func (c *Requests) shutDown() []any {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.settle()
	c.stopped, c.out = true, nil
	if c.timer != nil {
		c.timer.Stop()
	}
	var left []any
	for _, r := range c.pending {
		if !r.cancelled && !r.subscribes() {
			left = append(left, r.id)
		}
	}
	clear(c.pending)
	return left
}
