// Package stdio serves MCP on standard input and output.
//
// It wraps both ends of mcp-go. In front, [reader] limits the length of every line,
// queues requests beyond the limit, and delays the end of the input until every request
// has a response. Behind, [writer] writes one message at a time and drops responses to
// cancelled requests. [Requests] tracks the pending requests for both. No message
// reaches mcp-go that package message has not decoded.
//
// Calls of tools do not go through the input of mcp-go. Plain ones pass it by: the reader
// hands what it has decoded to the handler, and the writer gets the result encoded once.
package stdio

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/mcpserver/message"
)

// stopLimit is how long Serve waits for running calls after it was told to stop. The
// runner ends a process in less time; a client that does not read its responses never
// lets a call end.
const stopLimit = 5 * time.Second

const (
	// errOutputClosed is returned after a failed write.
	errOutputClosed ShutdownError = "output is closed"

	// errUnanswered is returned if requests were still pending after the grace period.
	errUnanswered ShutdownError = "input closed; pending requests were not answered in time"
)

// ShutdownError says why a server stopped before every request had a response. It is
// not an internal error.
type ShutdownError string

func (e ShutdownError) Error() string { return string(e) }

// Code is that of an interrupted call.
func (ShutdownError) Code() string { return "cancelled" }

// Serve serves s on in and out until in ends, ctx ends or out is closed. The hooks of
// requests must be registered with s, and requests must not have been used before.
//
// After the end of in it continues until every pending request has a response, and
// returns nil. If no response was written for the grace period, which should be longer
// than the time limit of a call, it returns an error with the code "cancelled". When ctx
// ends it returns the cause of that, and after a failed write an error with the code
// "cancelled"; both cancel the running requests and wait for them up to 5 seconds.
// Requests that are left get an error response if out still works.
//
// It writes one message at a time to out, and messages for the operator to log. A read of
// in that is in progress when Serve returns stays blocked until it is answered. If out is
// os.Stdout, the caller must handle SIGPIPE, which ends the process otherwise. mcp-go has
// one stdio session per process: two calls of Serve must not run at the same time.
func Serve(ctx context.Context, s *server.MCPServer, requests *Requests, in io.Reader, out io.Writer, log *slog.Logger, grace time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sink := &writer{out: out, requests: requests, fail: cancel}
	source := &reader{lines: newLineReader(in), requests: requests, out: sink, log: log}

	requests.begin(sink, grace, func() { cancel(errUnanswered) })
	calling, endCalls := context.WithCancel(ctx)
	defer endCalls()
	requests.beginCalls(calling, s, sink, log)
	defer context.AfterFunc(ctx, requests.stop)()
	go source.readAll()

	done := make(chan error, 1)
	go func() {
		err := listen(ctx, s, source, sink, log)
		requests.stop()
		endCalls()
		requests.waitForCalls()
		for _, id := range requests.shutDown() {
			sink.reject(&message.Error{Code: mcp.INTERNAL_ERROR, ID: id, Text: "the server stopped before it could answer"})
		}
		done <- err
	}()
	return wait(ctx, done)
}

// listen runs mcp-go between in and out.
func listen(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer, log *slog.Logger) error {
	stdio := server.NewStdioServer(s)
	for _, option := range []server.StdioOption{
		server.WithErrorLogger(headlinesOnly(log)),
		server.WithWorkerPoolSize(1), // no call comes to them
	} {
		option(stdio)
	}
	return stdio.Listen(ctx, in, out)
}

// wait returns why the server ended, after it has ended or after stopLimit.
func wait(ctx context.Context, done <-chan error) error {
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(stopLimit):
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
