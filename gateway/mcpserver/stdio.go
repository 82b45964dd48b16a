package mcpserver

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// stopLimit bounds how long serveStdio waits for running calls once it was told
// to stop. The runner ends a process within less; a client that does not read
// its answers never lets a call end.
const stopLimit = 5 * time.Second

const (
	// errOutput is the end of a server whose answers nobody can read.
	errOutput halt = "output is closed"

	// errUnanswered is the end of a server that gave up on a request.
	errUnanswered halt = "the input has ended and no open request was answered in time"
)

// halt is the end of a server before every request had its answer. It is no fault
// of the server, so it has the code of what was stopped.
type halt string

func (h halt) Error() string { return string(h) }

// Code puts it with what was stopped.
func (halt) Code() string { return "cancelled" }

// serveStdio speaks MCP on in and out until in ends, ctx ends or out is closed.
// calls must be new, and its hooks registered with s.
//
// After the end of in it goes on until every open request is answered, and
// returns nil. When nothing was answered for the time of grace, which should be
// longer than any call may take, it gives up with errUnanswered. When ctx ends
// it returns the cause of that at once, and when a write fails, an error that is
// errOutput; both cancel what is running, and wait for it up to stopLimit.
// Requests that are left are answered with an error, where there is somebody to
// read it.
//
// It writes one message at a time to out, and to log what is for the
// person who looks after the server. A read of in that is under way when it
// returns goes on until it is answered. If out is os.Stdout, the caller must
// watch SIGPIPE, which ends the process otherwise. mcp-go has one stdio session
// in a process: two calls must not run at the same time.
func serveStdio(ctx context.Context, s *server.MCPServer, calls *calls, in io.Reader, out io.Writer, log *slog.Logger, grace time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sink := &outlet{out: out, calls: calls, fail: cancel}
	source := &intake{lines: newLineReader(in), calls: calls, out: sink, log: log}

	calls.begin(sink, grace, func() { cancel(errUnanswered) })
	defer context.AfterFunc(ctx, calls.stop)()
	go source.pump()

	done := make(chan error, 1)
	go func() {
		err := listen(ctx, s, source, sink, log)
		for _, id := range calls.abandon() {
			sink.refuse(&messageError{mcp.INTERNAL_ERROR, id, "the server stopped before it could answer"})
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
		server.WithWorkerPoolSize(maxRunning),
		server.WithQueueSize(maxRunning),
	} {
		option(stdio)
	}
	return stdio.Listen(ctx, in, out)
}

// wait returns what ended the server, once it has or could not in time.
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
