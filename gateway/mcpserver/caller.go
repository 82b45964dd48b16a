package mcpserver

import (
	"context"

	"vaultwicket/gateway/mcpserver/streamable"
)

// caller tells the sessions of one server apart: those of HTTP. On standard input
// and output there is one.
func caller(ctx context.Context) string { return streamable.Caller(ctx) }

// oneSession reports whether the caller is one session of one client. Over HTTP, the
// clients of the newer protocol that share a token are one caller and have none.
func oneSession(ctx context.Context) bool { return !streamable.Stateless(ctx) }

// What the audit log calls the two ways to the tools.
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
