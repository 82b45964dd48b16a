// Package direct answers calls of tools without mcp-go, which would decode each message
// several times more to find out what it is, and encode each answer in four passes. All
// other messages, and calls that need more of the protocol, are for mcp-go.
package direct

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/mcpserver/message"
)

// Tools are handlers of tools by name. nil has every call go through mcp-go.
type Tools map[string]server.ToolHandlerFunc

// Call is a call of a tool that its handler can answer. The zero value is none.
type Call struct {
	handler server.ToolHandlerFunc
	request mcp.CallToolRequest
}

// CallOf is the one place that decides what passes mcp-go by: a plain call of a tool with a
// handler (see [message.Message]). ok is false for everything else, such as calls of
// clients without a handshake.
func (t Tools) CallOf(m message.Message) (c Call, ok bool) {
	handler := t[m.Tool]
	if m.Method != string(mcp.MethodToolsCall) || !m.Plain || handler == nil {
		return Call{}, false
	}
	return Call{handler, mcp.CallToolRequest{
		Request: mcp.Request{Method: m.Method},
		Params:  mcp.CallToolParams{Name: m.Tool, RawArguments: m.Arguments, Meta: m.Meta},
	}}, true
}

// errPanicked is what a client is told about a panic outside of the handler.
var errPanicked = errors.New("internal error; please report it, the log has the details")

// AppendResponse has the handler answer the call, and appends the JSON-RPC response to it,
// byte for byte as mcp-go encodes it, without a newline. ctx must be one that mcp-go has made
// for the session. A panic is logged without its value, which can contain text of a note.
func (c Call) AppendResponse(ctx context.Context, to []byte, id any, log *slog.Logger) (response []byte) {
	return AppendGuarded(to, id, log, func() ([]byte, error) {
		result, err := c.handler(ctx, c.request)
		if err == nil && result == nil {
			err = fmt.Errorf("tool '%s' handler returned no result", c.request.Params.Name)
		}
		if err != nil {
			return nil, err
		}
		return message.AppendResult(to, id, result)
	})
}

// AppendGuarded returns what do has made of to. Where that is an error or a panic, it appends
// the error response of JSON-RPC in place of it.
func AppendGuarded(to []byte, id any, log *slog.Logger, do func() ([]byte, error)) (response []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			log.Error("a call panicked", "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			response = appendFailure(to, id, errPanicked)
		}
	}()
	response, err := do()
	if err != nil {
		return appendFailure(to, id, err)
	}
	return response
}

// appendFailure appends the response to a call without a result, as mcp-go encodes it.
func appendFailure(to []byte, id any, err error) []byte {
	failure, _ := json.Marshal(mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INTERNAL_ERROR, err.Error(), nil)) // only text
	return append(to, failure...)
}
