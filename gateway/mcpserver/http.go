package mcpserver

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway/mcpserver/message"
	"vaultwicket/gateway/mcpserver/stdio"
	"vaultwicket/gateway/mcpserver/streamable"
)

// ServeHTTP serves MCP over Streamable HTTP until ctx ends, see [streamable.Serve]. It sets
// the fields of transport that concern messages and sessions. An error with the code
// "cancelled" says that requests were interrupted, as for [ServeStdio].
func ServeHTTP(ctx context.Context, c Config, transport streamable.Config, listening func(url string)) error {
	c = c.complete()
	s, err := newServer(c, stdio.NewRequests(), streamable.Notify)
	if err != nil {
		return err
	}
	transport.Server, transport.Check, transport.Log, transport.Grace = s, CheckMessage, c.Log, c.Grace
	transport.Ready = c.Gateway.Admits
	ended := transport.Ended
	transport.Ended = func(caller string) {
		c.Gateway.Forget(caller)
		if ended != nil {
			ended(caller)
		}
	}
	err = streamable.Serve(ctx, transport, listening)
	if errors.Is(err, streamable.ErrCut) {
		return stdio.ShutdownError(err.Error())
	}
	return err
}

// CheckMessage checks a message as strictly as one on standard input. If ok is false, reply
// is the JSON-RPC error response.
func CheckMessage(body []byte) (reply []byte, ok bool) {
	_, err := message.Decode(body)
	if err == nil {
		return nil, true
	}
	refusal := &message.Error{Code: mcp.INVALID_REQUEST, Text: err.Error()}
	if e, is := err.(*message.Error); is {
		refusal = e
	}
	return refusal.Encode(), false
}
