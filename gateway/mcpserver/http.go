package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"vaultwicket/gateway/mcpserver/stdio"
	"vaultwicket/gateway/mcpserver/streamable"
)

// ServeHTTP serves MCP over Streamable HTTP until ctx ends, see [streamable.Serve]. It sets
// the fields of transport that concern messages and sessions. An error with the code
// "cancelled" says that requests were interrupted, as for [ServeStdio].
func ServeHTTP(ctx context.Context, c Config, transport streamable.Config, listening func(url string)) error {
	c = c.complete()
	requests := stdio.NewRequests()
	s, err := newServer(c, requests, streamable.Notify)
	if err != nil {
		return err
	}
	transport.Server, transport.Log, transport.Grace = s, c.Log, c.Grace
	transport.Tools, transport.Asks = requests.Handlers, func(ctx context.Context, tool string, arguments json.RawMessage) bool {
		return requests.Changes != nil && canAsk(ctx) && requests.Changes(tool, arguments) // reads never need approval
	}
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
