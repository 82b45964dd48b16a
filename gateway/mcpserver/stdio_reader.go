package mcpserver

import (
	"errors"
	"io"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
)

// intake reads the client's messages, refuses what is not one, and hands the
// rest to mcp-go, which reads from it. One goroutine pumps and another reads, so
// that a cancellation is seen while mcp-go is busy.
type intake struct {
	lines *lineReader
	calls *calls
	out   *outlet
	log   *slog.Logger
	rest  []byte // of the message that mcp-go is reading
}

// pump takes in messages until the input ends or the server stops.
func (in *intake) pump() {
	defer in.calls.end()
	for in.calls.room() {
		line, err := in.lines.next()
		switch {
		case err == nil:
			in.accept(line)
		case errors.Is(err, errLongLine):
			in.out.refuse(&messageError{code: mcp.INVALID_REQUEST, text: err.Error()})
		case errors.Is(err, io.EOF):
			return
		default:
			in.log.Warn("the input cannot be read", "error", err)
			return
		}
	}
}

func (in *intake) accept(line []byte) {
	m, err := decodeMessage(line)
	if err == nil {
		err = in.calls.take(m, line)
	}
	if err == nil {
		return
	}
	refusal := &messageError{code: mcp.INVALID_REQUEST, id: m.id, text: err.Error()}
	_ = errors.As(err, &refusal)
	if refusal.id != nil && in.calls.isOpen(refusal.id) {
		refusal.id = nil // the answer with this id is still to come, and there can be only one
	}
	in.out.refuse(refusal)
}

// Read gives mcp-go the messages that it may work on, one a line. It does not
// return io.EOF before every request has its answer.
func (in *intake) Read(p []byte) (int, error) {
	if len(in.rest) == 0 {
		line, err := in.calls.next()
		if err != nil {
			return 0, err
		}
		in.rest = append(line, '\n')
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}
