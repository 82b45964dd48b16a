package stdio

import (
	"errors"
	"io"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"

	"vaultwicket/gateway/mcpserver/message"
)

// reader reads the messages of the client, rejects invalid ones, and is the input of
// mcp-go for the others. One goroutine runs readAll while mcp-go calls Read, so that a
// cancellation is seen while mcp-go is busy.
type reader struct {
	lines    *lineReader
	requests *Requests
	out      *writer
	log      *slog.Logger
	rest     []byte // unread part of the message that mcp-go is reading
}

// readAll accepts messages until the input ends or the server stops.
func (in *reader) readAll() {
	defer in.requests.endInput()
	for in.requests.waitForCapacity() {
		line, err := in.lines.next()
		switch {
		case err == nil:
			in.accept(line)
		case errors.Is(err, errLongLine):
			in.out.reject(&message.Error{Code: mcp.INVALID_REQUEST, Text: err.Error()})
		case errors.Is(err, io.EOF):
			return
		default:
			in.log.Warn("input cannot be read", "error", err)
			return
		}
	}
}

func (in *reader) accept(line []byte) {
	m, err := message.Decode(line)
	if err == nil {
		err = in.requests.accept(m, line)
	}
	if err == nil {
		return
	}
	refusal := &message.Error{Code: mcp.INVALID_REQUEST, ID: m.ID, Text: err.Error()}
	_ = errors.As(err, &refusal)
	if refusal.ID != nil && in.requests.isPending(refusal.ID) {
		refusal.ID = nil // the response with this id is still to come, and there can be only one
	}
	in.out.reject(refusal)
}

// Read returns the next messages for mcp-go, one per line. It does not return io.EOF
// before every request has a response.
func (in *reader) Read(p []byte) (int, error) {
	if len(in.rest) == 0 {
		line, err := in.requests.next()
		if err != nil {
			return 0, err
		}
		in.rest = append(line, '\n')
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}
