package mcpserver

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway/mcpserver/streamable"
)

// ServeHTTP speaks MCP over Streamable HTTP until ctx ends, see
// [streamable.Serve]. Of the door it sets what concerns the messages: the server,
// the checks, and what goes with a session. An error with the code "cancelled" says
// that requests were cut off, as for [ServeStdio].
func ServeHTTP(ctx context.Context, c Config, door streamable.Config, listening func(url string)) error {
	c = c.complete()
	s, err := newServer(c, newCalls())
	if err != nil {
		return err
	}
	door.Server, door.Check, door.Log, door.Grace = s, CheckMessage, c.Log, c.Grace
	door.Ready = c.Gateway.Admits
	ended := door.Ended
	door.Ended = func(caller string) {
		c.Gateway.Forget(caller)
		if ended != nil {
			ended(caller)
		}
	}
	err = streamable.Serve(ctx, door, listening)
	if errors.Is(err, streamable.ErrCut) {
		return halt(err.Error())
	}
	return err
}

// CheckMessage reads a message as strictly as one on standard input. A message that
// is refused is answered with the error of the protocol for it.
func CheckMessage(body []byte) (reply []byte, ok bool) {
	_, err := decodeMessage(body)
	if err == nil {
		return nil, true
	}
	refusal := &messageError{code: mcp.INVALID_REQUEST, text: err.Error()}
	if e, is := err.(*messageError); is {
		refusal = e
	}
	return refusal.encode(), false
}
