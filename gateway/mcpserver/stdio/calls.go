package stdio

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/mcpserver/direct"
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

// toolCall is a call of a tool: for its handler, or the message for mcp-go.
type toolCall struct {
	direct  direct.Call
	message json.RawMessage // nil for direct
	ctx     context.Context // once it has started
	stop    context.CancelFunc
}

// callOf returns the call of a tool that a message is, nil for any other message.
func (c *Requests) callOf(m message.Message, line []byte) *toolCall {
	if m.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	if call, ok := c.Handlers.CallOf(m); ok {
		return &toolCall{direct: call}
	}
	return &toolCall{message: line}
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

// maxReused is the size up to which a buffer is kept for another response: a page of a long
// answer, which is in the response twice.
const maxReused = 96 << 10

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

// respond appends the response to a call.
func (c *Requests) respond(to []byte, r *pendingRequest) []byte {
	if r.call.message == nil {
		return r.call.direct.AppendResponse(r.call.ctx, to, r.id, c.calls.log)
	}
	return direct.AppendGuarded(to, r.id, c.calls.log, func() ([]byte, error) {
		line, err := json.Marshal(c.calls.server.HandleMessage(r.call.ctx, r.call.message))
		return append(to, line...), err
	})
}

// waitForCalls waits until the last call is answered. c must be stopped.
func (c *Requests) waitForCalls() {
	close(c.calls.idle)
	c.calls.workers.Wait()
}
