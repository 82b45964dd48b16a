package main

import (
	"context"
	"fmt"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway"
)

// atTerminal is the caller, the client and the surface of a command that is typed
// in a terminal. It is the same for all of them, so that an approval given with
// "vaultwicket approve" in one window is valid for the command that is typed again
// in another.
const atTerminal = "terminal"

// typed returns a request as one that was typed in a terminal.
func typed(std terminal.Streams, req gateway.Request) gateway.Request {
	req.Ask, req.Caller, req.Client, req.Surface = asker(std), atTerminal, atTerminal, atTerminal
	return req
}

// asker returns the function that asks the user at the terminal for an approval. It
// is nil when standard input or standard error is not a terminal; the request then
// waits for "vaultwicket approve".
func asker(std terminal.Streams) gateway.Asker {
	if !terminal.IsTerminal(std.In) || !terminal.IsTerminal(std.Err) {
		return nil
	}
	return func(ctx context.Context, q gateway.Question) gateway.Reply {
		fmt.Fprintln(std.Err, q.Text)
		if terminal.Confirm(ctx, std.In, std.Err) {
			return gateway.Yes
		}
		return gateway.No
	}
}
