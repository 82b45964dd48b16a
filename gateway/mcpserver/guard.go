package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/observe"
)

// errInternal is what a client is told about a panic: the panic value can contain text of
// a note.
var errInternal = errors.New("internal error; please report it, the log has the details")

// guarded returns the result of do. A panic in it is logged with its stack and becomes
// errInternal.
func guarded[T any](log *slog.Logger, where string, do func() (T, error)) (result T, err error) {
	defer func() {
		if r := recover(); r != nil {
			observe.LogPanic(log, where, r, debug.Stack())
			var none T
			result, err = none, errInternal
		}
	}()
	return do()
}

// recoverResource and recoverPrompt are [recoverPanics] for resources and prompts.
func (h handler) recoverResource(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return guarded(h.Log, "resource", func() ([]mcp.ResourceContents, error) { return next(ctx, req) })
	}
}

func (h handler) recoverPrompt(next server.PromptHandlerFunc) server.PromptHandlerFunc {
	return func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return guarded(h.Log, "prompt", func() (*mcp.GetPromptResult, error) { return next(ctx, req) })
	}
}

// visibleError returns an error as a client may see it, with its hint in the message: a
// protocol error has no other field for it.
func visibleError(err error) error {
	var e *failure.Error
	if !errors.As(err, &e) {
		e = failure.Of(err)
	}
	if e.Hint == "" {
		return errors.New(e.Message)
	}
	return errors.New(e.Message + "; " + e.Hint)
}
