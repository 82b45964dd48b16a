package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// stopLimit is how long ServeStdio waits for running requests after ctx is done or a write has failed. Processes
// end sooner, but a write to a client that reads nothing may block forever; such a request is then left behind.
const stopLimit = 5 * time.Second

const (
	// errOutputClosed is returned after a failed write.
	errOutputClosed ShutdownError = "output is closed"

	// errUnanswered is returned if requests were still pending after the grace period.
	errUnanswered ShutdownError = "input closed; pending requests were not answered in time"
)

// ShutdownError is the reason why a server stopped before every request had a response. It is not an
// internal error.
type ShutdownError string

func (e ShutdownError) Error() string { return string(e) }

// Code returns the code of an interrupted call.
func (ShutdownError) Code() string { return "cancelled" }

// ServeStdio serves one client on in and out, one message per line, until in ends, ctx is done or out is
// closed.
//
// When in ends, it waits until every pending request has been answered, and returns nil. If a whole grace
// period passes without a response, it returns an error with the code "cancelled"; grace should be longer
// than the time limit of a call. When ctx is done it returns the cause, and after a failed
// write an error with the code "cancelled"; in both cases it first cancels the running requests and
// waits for them for up to 5 seconds. Remaining requests get an error response if out still works.
//
// It writes one message at a time to out. A read of in that is in progress when ServeStdio returns stays
// blocked until it completes. If out is os.Stdout, the caller must handle SIGPIPE, which otherwise ends
// the process.
func ServeStdio(ctx context.Context, s *Server, in io.Reader, out io.Writer, grace time.Duration) error {
	return newConn(s, out, grace).serve(ctx, in)
}

// serve implements [ServeStdio]. It can be called once.
func (c *conn) serve(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	running, stopRunning := context.WithCancel(ctx)
	defer stopRunning()
	c.ctx = running
	c.fail = cancel
	changes := c.server.OpenStream(c.session)
	defer changes.Close()
	defer context.AfterFunc(ctx, c.stop)()
	go c.readAll(&lineReader{bufio.NewReaderSize(in, lineBuffer), MaxMessage, c.waitForBytes})
	go changes.SendTo(running, &Peer{Session: c.session, Send: c.send}, 0)

	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-c.session.closed:
			c.waitForAnswers()
		case <-ctx.Done():
		}
		c.stop()
		stopRunning()
		close(c.idle)
		c.workers.Wait()
		for _, id := range c.shutDown() {
			c.reject(&Error{Code: mcp.INTERNAL_ERROR, ID: id, Text: "the server stopped before it could answer"})
		}
	}()
	return wait(ctx, done)
}

// wait waits until done is closed, but for at most stopLimit after ctx is done. It returns the cause of
// ctx, nil if ctx is not done.
func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(stopLimit):
		}
	}
	return context.Cause(ctx)
}

// readAll accepts messages until the input ends or the server stops, and rejects invalid ones.
func (c *conn) readAll(lines *lineReader) {
	defer c.endInput()
	for c.waitForCapacity() {
		line, err := lines.next()
		switch {
		case errors.Is(err, errLongLine):
			c.reject(&Error{Code: mcp.INVALID_REQUEST, Text: err.Error()})
			continue
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			c.server.Log.Warn("input cannot be read", "error", err)
			return
		}
		m, err := Decode(line)
		if err == nil {
			err = c.accept(m)
		}
		if err == nil {
			continue
		}
		refusal := &Error{Code: mcp.INVALID_REQUEST, ID: m.ID, Text: err.Error()}
		_ = errors.As(err, &refusal)
		c.mu.Lock()
		if c.pending[refusal.ID] != nil {
			refusal.ID = nil // the id belongs to a pending request, and only one response may have it
		}
		c.mu.Unlock()
		c.reject(refusal)
	}
}

// send writes a message as one line. It may be called concurrently, but not by a holder of outMu.
func (c *conn) send(message []byte) error {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	return c.write(append(message, '\n'))
}

// reject writes an error response.
func (c *conn) reject(e *Error) { _ = c.send(e.Encode()) } // write reports the error to fail

// write writes a line with a single call of Write. After the first error it writes nothing more. The
// caller holds outMu.
func (c *conn) write(line []byte) error {
	if c.writeErr != nil {
		return c.writeErr
	}
	if _, err := c.out.Write(line); err != nil {
		c.writeErr = fmt.Errorf("%w: %w", errOutputClosed, err)
		c.fail(c.writeErr)
	}
	return c.writeErr
}

// MaxMessage is the maximum length of one message in bytes, on both transports. It is enough for an
// attachment of 8 MiB in base64 with line breaks, or for 2 MiB of text with every character escaped.
const MaxMessage = 12 << 20

// lineBuffer is the size of the read buffer. Most messages fit into it.
const lineBuffer = 16 << 10

// errLongLine is returned for a line longer than the limit of the reader, which is MaxMessage except in tests. The
// line is skipped.
var errLongLine = fmt.Errorf("message exceeds %d MiB", MaxMessage>>20)

// lineReader splits a stream into messages, one per line.
type lineReader struct {
	in    *bufio.Reader
	limit int
	grow  func(size int) // called before the current line grows to size bytes; it may block
}

// next returns the next line that is not blank, without surrounding white space. The last line needs no
// newline. The slice belongs to the caller. For a line that is too long it returns errLongLine, using no
// more memory than for the longest valid line; the next call continues after it. Any other error comes
// from the stream and is final.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if errors.Is(err, errLongLine) {
			return nil, err
		}
		if line = bytes.Trim(line, Space); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// line returns the bytes up to the next newline or the end of the stream.
func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(piece, []byte("\n"))) > r.limit {
			for errors.Is(err, bufio.ErrBufferFull) { // skip the rest; an error of the stream recurs at the next read
				_, err = r.in.ReadSlice('\n')
			}
			return nil, errLongLine
		}
		if len(line) > 0 {
			r.grow(len(line) + len(piece))
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err // with a line, next drops the error: it recurs at the next read
		}
	}
}
