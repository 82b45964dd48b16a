package mcpserver

import (
	"context"

	"vaultwicket/gateway/mcpserver/streamable"
)

// caller tells the sessions of one server apart: those of HTTP. On standard input
// and output there is one.
func caller(ctx context.Context) string { return streamable.Caller(ctx) }

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
