package resident

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/exec/frame"
)

// job is one open request of a worker. Its fields but the context belong to the
// worker's listener until it runs, and then to the goroutine that runs it.
type job struct {
	id      uint32
	words   []string
	input   []byte
	waiting bool            // for the rest of its input
	ctx     context.Context // ends when the request is cancelled or answered
	cancel  context.CancelFunc
	out     *outlet
	sent    int           // of its output
	more    chan struct{} // closed when all of it may be sent
	allowed sync.Once
}

func newJob(id uint32, q frame.Request, out *outlet) *job {
	j := &job{id: id, words: q.Words, out: out, waiting: q.Input, more: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	return j
}

// receive takes a piece of input and reports whether there is more to come.
func (j *job) receive(piece []byte) (more bool) {
	left := maxInput - len(j.input)
	j.input = append(j.input, piece[:min(len(piece), left)]...)
	j.waiting = len(piece) > 0
	return j.waiting
}

// window returns how much of a piece of output may be sent. At the end of the
// window it waits until the gateway has room for a large answer.
func (j *job) window(size int) (int, error) {
	if j.sent < frame.Window {
		size = min(size, frame.Window-j.sent)
		j.sent += size
		return size, nil
	}
	if err := j.out.flushed(); err != nil { // it has to know that there is more
		return 0, err
	}
	select {
	case <-j.more:
		return size, nil
	case <-j.ctx.Done():
		return 0, errCancelled
	}
}

// printers are the buffers of answers. A reply uses one because of its size instead of making
// its own.
var printers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, command.PrintBuffer) }}

func (j *job) stderr() io.Writer { return jobStream{j, frame.KindStderr} }

var errCancelled = errors.New("nobody waits for this answer")

// jobStream is one of the two streams of a job.
type jobStream struct {
	job  *job
	kind frame.Kind
}

// Flush sends what was written and is held back for the end of the answer.
func (s jobStream) Flush() error { return s.job.out.flushed() }

func (s jobStream) Write(text []byte) (int, error) {
	if s.job.ctx.Err() != nil {
		return 0, errCancelled // the copying of a long note ends here
	}
	for rest := text; len(rest) > 0; {
		n := len(rest)
		if s.kind == frame.KindStdout {
			var err error
			if n, err = s.job.window(n); err != nil {
				return 0, err
			}
		}
		if err := s.job.out.piece(s.kind, s.job.id, rest[:n]); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(text), nil
}
