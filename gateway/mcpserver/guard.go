package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway"
)

// errFault is all that a client is told of a panic: its value may hold anything.
var errFault = errors.New("a fault of vaultwicket; please report it, the log has the details")

// guarded returns what do returns. A panic in it is logged with where it was, and
// is errFault.
func guarded[T any](log *slog.Logger, where string, do func() (T, error)) (result T, err error) {
	defer func() {
		if r := recover(); r != nil {
			gateway.LogPanic(log, where, r, debug.Stack())
			var none T
			result, err = none, errFault
		}
	}()
	return do()
}

// recoverResource and recoverPrompt do for resources and prompts what
// [recoverPanics] does for tools.
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

// visibleError returns an error as a client may see it, with its advice in the sentence:
// an answer of the protocol has no other place for it.
func visibleError(err error) error {
	var e *gateway.Error
	if !errors.As(err, &e) {
		e = gateway.ErrorOf(err)
	}
	if e.Hint == "" {
		return errors.New(e.Message)
	}
	return errors.New(e.Message + "; " + e.Hint)
}
