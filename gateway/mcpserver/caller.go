package mcpserver

import (
	"context"

	"vaultwicket/gateway/mcpserver/wire"
)

// caller identifies the session of a request over HTTP. It is "" on standard input and
// output, which is one session.
func caller(ctx context.Context) string { return wire.PeerOf(ctx).Caller }

// oneSession reports whether the caller is one session of one client. Over HTTP, all clients
// of the newer protocol version that share a token are one caller without sessions.
func oneSession(ctx context.Context) bool { return !wire.PeerOf(ctx).Shared }

// The names of the transports in the audit log.
const (
	surfaceStdio = "mcp"
	surfaceHTTP  = "http"
)

func surface(ctx context.Context) string {
	if caller(ctx) != "" {
		return surfaceHTTP
	}
	return surfaceStdio
}
