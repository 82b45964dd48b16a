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

// calls are the calls that handlers work on without mcp-go.
type calls struct {
	out *writer
	log *slog.Logger
	// contextOf returns the context of the calls of a session.
	contextOf func(server.ClientSession) context.Context
	ctx       context.Context // nil before mcp-go has opened the session

	idle    chan *pendingRequest // to a worker that has nothing to do
	workers sync.WaitGroup
}

// toolCall is a call that a handler answers.
type toolCall struct {
	handler server.ToolHandlerFunc
	request mcp.CallToolRequest
	ctx     context.Context // once it has started
	stop    context.CancelFunc
}

// callOf is the one place that decides which messages pass mcp-go by: plain calls of a tool
// with a handler. It returns nil for any other message.
func (c *Requests) callOf(m message.Message) *toolCall {
	handler := c.Handlers[m.Tool]
	if !m.Plain || handler == nil {
		return nil
	}
	return &toolCall{handler: handler, request: mcp.CallToolRequest{
		Request: mcp.Request{Method: m.Method},
		Params:  mcp.CallToolParams{Name: m.Tool, RawArguments: m.Arguments, Meta: m.Meta},
	}}
}

// beginCalls prepares c for the calls of one client.
func (c *Requests) beginCalls(out *writer, log *slog.Logger, contextOf func(server.ClientSession) context.Context) {
	c.update(func() {
		c.calls.out, c.calls.log, c.calls.contextOf, c.calls.idle = out, log, contextOf, make(chan *pendingRequest)
	})
}

// openSession has calls begin with the session that mcp-go has opened.
func (c *Requests) openSession(session server.ClientSession) {
	c.update(func() {
		if c.calls.contextOf != nil {
			ctx := c.calls.contextOf(session)
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

// maxReused is the size up to which a buffer is kept for the next response.
const maxReused = 64 << 10

// work answers a call, and then the calls that find it idle. A new goroutine would have to
// grow its stack for every call.
func (c *Requests) work(r *pendingRequest) {
	var line []byte
	for open := true; open; r, open = <-c.calls.idle {
		line = c.answerCall(r, line[:0])
		if cap(line) > maxReused {
			line = nil
		}
	}
}

// answerCall has the handler of a call answer it, and writes the response. A call that was
// cancelled before is not begun. line is a buffer, which it returns.
func (c *Requests) answerCall(r *pendingRequest, line []byte) []byte {
	defer r.call.stop()
	if !c.isCancelled(r.id) {
		line = append(c.respond(line, r), '\n')
	}
	c.calls.out.answer(r, line)
	return line
}

// errPanicked is what a client is told about a panic outside of the handler.
var errPanicked = errors.New("internal error; please report it, the log has the details")

// respond appends the response of the handler to a call.
func (c *Requests) respond(to []byte, r *pendingRequest) (line []byte) {
	defer func() {
		if fault := recover(); fault != nil { // no value: it can contain text of a note
			c.calls.log.Error("a call panicked", "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			line = appendFailure(to, r.id, errPanicked)
		}
	}()
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
