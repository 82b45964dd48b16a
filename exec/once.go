package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// onceSwitch starts the embedded program for one call: it takes one request, as a worker takes many.
const onceSwitch = "--once"

// goCrash is the exit status of a program in Go that dies by a panic, or for want of memory.
const goCrash = 2

// heard is what has arrived of an answer of the embedded program. One goroutine uses it at a time.
type heard struct {
	stdout *process.Stream
	tell   func(protocol.Progress)
	reply  protocol.Reply
	ended  bool // the reply has arrived
	// changes is called when the call begins to change files, with how many; nil for nobody to be told.
	changes func(files int)
}

// take takes a frame of the answer.
func (h *heard) take(f protocol.Frame) (err error) {
	switch f.Kind {
	case protocol.KindOutput:
		_, _ = h.stdout.Write(f.Payload) // it keeps what it can
		return nil
	case protocol.KindProgress:
		progress, err := protocol.ParseProgress(f)
		if err == nil {
			h.tell(progress)
		}
		return err
	case protocol.KindReply:
		h.reply, err = protocol.ParseReply(f)
		h.ended = err == nil
		return err
	case protocol.KindChanging:
		files, err := protocol.ParseChanging(f)
		if h.changes != nil {
			h.changes(files)
		}
		return err
	}
	return protocol.Malformedf("sent a frame of kind %d", f.Kind)
}

// once has a process of its own answer one command.
func (r *Runner) once(
	ctx context.Context,
	c process.Child,
	folder string,
	command Command,
) (process.Ending, protocol.Reply) {
	r.processes.Add(1)
	defer r.processes.Add(-1)
	sent, fits := onlyRequest(command)
	if !fits {
		e := r.pool.nothing()
		e.End(process.NotStarted, fmt.Errorf("send the command: %w", syscall.E2BIG))
		return e, protocol.Reply{}
	}
	ctx, commit, end := uncut(ctx, r.pool.limits)
	defer end()
	said := heard{tell: protocol.ProgressOf(ctx), changes: commit}
	var failed error
	c.Args = []string{"vault", folder, onceSwitch}
	c.Stdin = sent
	c.Hear = func(out io.Reader, kept *process.Stream) {
		said.stdout = kept
		failed = said.hear(out, c.Path, folder)
		_, _ = io.Copy(io.Discard, out) // another process may have it open
	}
	e := c.Run(ctx)
	isAnswered := said.ended && failed == nil
	isOver := e.Kind == process.Stopped && errors.Is(e.Cause, context.DeadlineExceeded)
	switch {
	case isAnswered && isOver: // it was stopped while it kept what it had read for the next call
		e.End(process.Exited, nil)
		e.Exit = int(said.reply.Status)
	case e.Kind != process.Exited:
	case failed != nil:
		e.End(process.NotStarted, failed)
	case said.ended:
		e.Exit = int(said.reply.Status)
	case e.Exit == goCrash:
		e.Kind = process.Crashed
		e.How = "a panic"
	default:
		e.Kind = process.Lost
		e.How = fmt.Sprintf("ended with status %d", e.Exit)
	}
	return e, said.reply
}

// uncut returns a context that ends with ctx, but not in the middle of a change: after commit it outlives ctx for the time that
// the change of so many files may take. end must be called.
func uncut(ctx context.Context, limits workerLimits) (own context.Context, commit func(files int), end func()) {
	own, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	var mu sync.Mutex
	limit := time.Duration(0)
	unlink := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if limit == 0 {
			stop(ctx.Err())
			return
		}
		late := time.AfterFunc(limit, func() { stop(ctx.Err()) })
		context.AfterFunc(own, func() { late.Stop() })
	})
	commit = func(files int) {
		mu.Lock()
		defer mu.Unlock()
		limit = limits.commitOf(files)
	}
	return own, commit, func() {
		unlink()
		stop(nil)
	}
}

// onlyRequest returns all that a process for one command is sent.
func onlyRequest(command Command) (sent string, fits bool) {
	b, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
	b, fits = protocol.AppendRequest(b, 1, command.request)
	if command.StdinParam == "" {
		return string(b), fits
	}
	var all strings.Builder
	all.Write(b)
	for rest := command.Stdin; ; {
		n := min(len(rest), protocol.MaxChunk)
		all.Write(protocol.Append(b[:0], protocol.Frame{Kind: protocol.KindInput, ID: 1, Payload: []byte(rest[:n])}))
		if n == 0 {
			return all.String(), fits
		}
		rest = rest[n:]
	}
}

// hear reads the answer of a process for one command. The error says that the process is not
// the embedded program; what else is wrong with the answer leaves it without an end.
func (h *heard) hear(out io.Reader, path, folder string) error {
	in := protocol.NewReader(out)
	first, err := in.Next()
	if err == io.EOF {
		return nil // how the process has ended says more
	}
	var theirs protocol.Hello
	if err == nil {
		theirs, err = protocol.ParseHello(first)
	}
	if err != nil {
		return unsuitableWorker(path, "is not a worker: it "+err.Error())
	}
	if reason := unlike(theirs, folder); reason != "" {
		return unsuitableWorker(path, reason)
	}
	for err == nil && !h.ended {
		var f protocol.Frame
		if f, err = in.Next(); err == nil {
			err = h.take(f)
		}
	}
	return nil
}

// unlike says in what a greeting differs from that of a worker for a folder, "" if in nothing.
func unlike(theirs protocol.Hello, folder string) string {
	switch {
	case theirs.Version != protocol.Version:
		return fmt.Sprintf("speaks version %d of the worker's protocol, not %d", theirs.Version, protocol.Version)
	case theirs.Folder != folder:
		return "is not the worker that was started"
	}
	return ""
}

func unsuitableWorker(path, reason string) *Unavailable {
	return &Unavailable{code: CodeUnsuitable, program: path, reason: reason,
		hint: "the user can start the gateway again: its program may have been replaced while it ran"}
}
