package mcpserver

import (
	"context"
	"errors"

	"vaultwicket/gateway/mcpserver/streamable"
	"vaultwicket/gateway/mcpserver/wire"
)

// ServeHTTP serves MCP over Streamable HTTP until ctx ends, see [streamable.Serve]. It sets
// the fields of transport that concern messages and sessions. An error with the code
// "cancelled" says that requests were interrupted, as for [ServeStdio].
func ServeHTTP(ctx context.Context, c Config, transport streamable.Config, listening func(url string)) error {
	c = c.complete()
	s, err := newServer(c)
	if err != nil {
		return err
	}
	transport.Server, transport.Log, transport.Grace = s, c.Log, c.Grace
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
		return wire.ShutdownError(err.Error())
	}
	return err
}
