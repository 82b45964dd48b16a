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

// onceSwitch starts the embedded program for a single request. A worker accepts many.
const onceSwitch = "--once"

// goCrash is the exit status of a Go program that ends by a panic or runs out of memory.
const goCrash = 2

// receiver is the part of an answer of the embedded program that has arrived. It is used by one goroutine at a time.
type receiver struct {
	stdout *process.Stream
	tell   func(protocol.Progress) // reports progress
	reply  protocol.Reply
	ended  bool // the reply has arrived
	// changes is called with the number of files when the call begins to change files. It may be nil.
	changes func(files int)
}

// process handles a frame of the answer.
func (h *receiver) process(f protocol.Frame) (err error) {
	switch f.Kind {
	case protocol.KindOutput:
		_, _ = h.stdout.Write(f.Payload) // it drops what exceeds its limit
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

// once runs one command in a process of its own.
func (r *Runner) once(
	ctx context.Context,
	c process.Child,
	folder string,
	command Command,
) (process.Ending, protocol.Reply) {
	r.processes.Add(1)
	defer r.processes.Add(-1)
	sent, fits := singleRequest(command)
	if !fits {
		e := r.pool.notSent()
		e.End(process.NotStarted, fmt.Errorf("send the command: %w", syscall.E2BIG))
		return e, protocol.Reply{}
	}
	ctx, commit, end := uninterrupted(ctx, r.pool.limits)
	defer end()
	received := receiver{tell: protocol.ProgressOf(ctx), changes: commit}
	var failed error
	c.Args = []string{"vault", folder, onceSwitch}
	c.Stdin = sent
	c.Hear = func(out io.Reader, kept *process.Stream) {
		received.stdout = kept
		failed = received.read(out, c.Path, folder)
		_, _ = io.Copy(io.Discard, out) // another process may have the pipe open
	}
	e := c.Run(ctx)
	isAnswered := received.ended && failed == nil
	isTimeUp := e.Kind == process.Stopped && errors.Is(e.Cause, context.DeadlineExceeded)
	switch {
	case isAnswered && isTimeUp: // it was stopped while it saved what it had read for the next call
		e.End(process.Exited, nil)
		e.Exit = int(received.reply.Status)
	case e.Kind != process.Exited:
	case failed != nil:
		e.End(process.NotStarted, failed)
	case received.ended:
		e.Exit = int(received.reply.Status)
	case e.Exit == goCrash:
		e.Kind = process.Crashed
		e.How = "a panic"
	default:
		e.Kind = process.Lost
		e.How = fmt.Sprintf("ended with status %d", e.Exit)
	}
	return e, received.reply
}

// uninterrupted returns a context that ends with ctx, but not in the middle of a change. Once commit was called it
// outlives ctx by the time that the change of files may take. The caller must call end.
func uninterrupted(ctx context.Context, limits workerLimits) (own context.Context, commit func(files int), end func()) {
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

// singleRequest returns the input of a process that runs one command.
func singleRequest(command Command) (sent string, fits bool) {
	b, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
	b, fits = protocol.AppendRequest(b, 1, command.request)
	if command.StdinParam == "" {
		return string(b), fits
	}
	var input strings.Builder
	input.Write(b)
	rest := command.Stdin
	for { // an empty piece ends the input
		n := min(len(rest), protocol.MaxChunk)
		input.Write(protocol.Append(b[:0], protocol.Frame{Kind: protocol.KindInput, ID: 1, Payload: []byte(rest[:n])}))
		if n == 0 {
			return input.String(), fits
		}
		rest = rest[n:]
	}
}

// read reads the answer of a process that runs one command. The error means that the process is not the embedded
// program; after any other problem the answer is incomplete, and ended stays false.
func (h *receiver) read(out io.Reader, path, folder string) error {
	in := protocol.NewReader(out)
	first, err := in.Next()
	if err == io.EOF {
		return nil // how the process ended tells more
	}
	if err != nil {
		return unsuitableWorker(path, "is not a worker: it "+err.Error())
	}
	theirs, err := protocol.ParseHello(first)
	if err != nil {
		return unsuitableWorker(path, "is not a worker: it "+err.Error())
	}
	if reason := mismatch(theirs, folder); reason != "" {
		return unsuitableWorker(path, reason)
	}
	for !h.ended {
		frame, err := in.Next()
		if err != nil {
			return nil
		}
		if err := h.process(frame); err != nil {
			return nil
		}
	}
	return nil
}

// mismatch returns in what a greeting differs from that of a worker for the folder, "" if it does not.
func mismatch(theirs protocol.Hello, folder string) string {
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
