package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/mcpserver/message"
)

// calls are the calls of tools. They do not go through the input of mcp-go, which would
// decode each message five times to find out what it is.
type calls struct {
	server *server.MCPServer // nil while not serving
	out    *writer
	log    *slog.Logger
	life   context.Context // of the server
	ctx    context.Context // of all calls; nil before mcp-go has opened the session

	idle    chan *pendingRequest // to a worker that has nothing to do
	workers sync.WaitGroup
}

// toolCall is a call of a tool: what its handler is given, or the message for mcp-go.
type toolCall struct {
	handler server.ToolHandlerFunc
	request mcp.CallToolRequest
	message json.RawMessage // where handler is nil
	ctx     context.Context // once it has started
	stop    context.CancelFunc
}

// callOf is the one place that decides what passes mcp-go by: plain calls of a tool with a
// handler. mcp-go works on all other calls, such as those of clients without a handshake.
// It returns nil for what is no call.
func (c *Requests) callOf(m message.Message, line []byte) *toolCall {
	handler := c.Handlers[m.Tool]
	switch {
	case m.Method != string(mcp.MethodToolsCall):
		return nil
	case !m.Plain || handler == nil:
		return &toolCall{message: line}
	}
	return &toolCall{handler: handler, request: mcp.CallToolRequest{
		Request: mcp.Request{Method: m.Method},
		Params:  mcp.CallToolParams{Name: m.Tool, RawArguments: m.Arguments, Meta: m.Meta},
	}}
}

// beginCalls prepares c for the calls of one client. They are cancelled when ctx ends.
func (c *Requests) beginCalls(ctx context.Context, s *server.MCPServer, out *writer, log *slog.Logger) {
	c.update(func() {
		c.calls.life, c.calls.server, c.calls.out, c.calls.log, c.calls.idle = ctx, s, out, log, make(chan *pendingRequest)
	})
}

// openSession has calls begin with the session that mcp-go has opened.
func (c *Requests) openSession(session server.ClientSession) {
	c.update(func() {
		if c.calls.server != nil {
			ctx := c.calls.server.WithContext(c.calls.life, session)
			c.calls.ctx = server.WithRequestProtocolInfo(ctx, &server.RequestProtocolInfo{}) // of a client with a handshake
		}
	})
}

// startCalls starts the calls whose turn it is.
func (c *Requests) startCalls() {
	for !c.stopped && c.calls.ctx != nil && c.calls.ctx.Err() == nil {
		r := c.first()
		if r == nil || r.call == nil {
			return
		}
		c.forward(r)
		ctx, stop := context.WithCancel(c.calls.ctx)
		r.call.ctx, r.call.stop = acceptedContext{ctx, r.acceptedAt}, stop
		select {
		case c.calls.idle <- r:
		default:
			c.calls.workers.Go(func() { c.work(r) })
		}
	}
}

// work answers a call, and then the calls that find it idle. A new goroutine would have to
// grow its stack for every call.
func (c *Requests) work(r *pendingRequest) {
	for open := true; open; r, open = <-c.calls.idle {
		c.answerCall(r)
	}
}

// lines are buffers for responses. One that a worker kept would outlast a large answer.
var lines = sync.Pool{New: func() any { return new([]byte) }}

// maxReused is the size up to which a buffer is kept for another response.
const maxReused = 64 << 10

// answerCall has a call answered, and writes the response. A call that was cancelled before
// is not begun.
func (c *Requests) answerCall(r *pendingRequest) {
	defer r.call.stop()
	buffer := lines.Get().(*[]byte)
	line := (*buffer)[:0]
	if !c.isCancelled(r.id) {
		line = append(c.respond(line, r), '\n')
	}
	c.calls.out.answer(r, line)
	if cap(line) <= maxReused {
		*buffer = line
		lines.Put(buffer)
	}
}

// errPanicked is what a client is told about a panic outside of the handler.
var errPanicked = errors.New("internal error; please report it, the log has the details")

// respond appends the response to a call.
func (c *Requests) respond(to []byte, r *pendingRequest) (line []byte) {
	defer func() {
		if fault := recover(); fault != nil { // no value: it can contain text of a note
			c.calls.log.Error("a call panicked", "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			line = appendFailure(to, r.id, errPanicked)
		}
	}()
	if r.call.handler == nil {
		return appendMessage(to, r.id, c.calls.server.HandleMessage(r.call.ctx, r.call.message))
	}
	result, err := r.call.handler(r.call.ctx, r.call.request)
	if err == nil && result == nil {
		err = fmt.Errorf("tool '%s' handler returned no result", r.call.request.Params.Name)
	}
	if err == nil {
		line, err = message.AppendResult(to, r.id, result)
	}
	if err != nil {
		return appendFailure(to, r.id, err)
	}
	return line
}

// appendMessage appends the response of mcp-go.
func appendMessage(to []byte, id any, m mcp.JSONRPCMessage) []byte {
	line, err := json.Marshal(m)
	if err != nil {
		return appendFailure(to, id, err)
	}
	return append(to, line...)
}

// appendFailure appends the response to a call without a result, as mcp-go encodes it.
func appendFailure(to []byte, id any, err error) []byte {
	failure, _ := json.Marshal(mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INTERNAL_ERROR, err.Error(), nil)) // only text
	return append(to, failure...)
}

// waitForCalls waits until the last call is answered. c must be stopped.
func (c *Requests) waitForCalls() {
	close(c.calls.idle)
	c.calls.workers.Wait()
}
