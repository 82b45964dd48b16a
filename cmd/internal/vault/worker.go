package vault

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/exec/frame"
)

// call is one command line with its streams.
type call struct {
	ctx            context.Context
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// performer answers one command line and returns the exit status.
type performer func(call) int

// worker answers the calls of one gateway on one vault, several at once.
type worker struct {
	host    *host
	perform performer
	folder  string
	out     *outlet
	leave   chan int // the exit status, once the worker has to end

	mu   sync.Mutex
	open map[uint32]*job
}

func newWorker(h *host, perform performer, folder string, stdout io.Writer) *worker {
	h.known.stays = true
	return &worker{host: h, perform: perform, folder: folder, out: &outlet{to: stdout}, leave: make(chan int, 1), open: map[uint32]*job{}}
}

// serve answers requests until stdin ends, and returns the exit status. It does
// not wait for calls that are open then: a gateway that wants their answers
// leaves stdin open.
func (w *worker) serve(stdin io.Reader) int {
	if folder, err := filepath.Abs(w.folder); err == nil {
		w.host.lockIn(folder, true)
	}
	in := frame.NewReader(pollable(stdin))
	if err := w.shakeHands(in); err != nil {
		said := explain(err)
		return said.print(w.out.to)
	}
	go func() { w.end(w.listen(in)) }()
	return <-w.leave
}

// shakeHands waits for the greeting of the gateway and returns it. A gateway of
// another version is told ours, and will not send anything else.
func (w *worker) shakeHands(in *frame.Reader) error {
	refusal := misuse("%s is for the gateway to use, which begins with a greeting.", workerSwitch)
	first, err := in.Next()
	if err != nil {
		return refusal
	}
	if _, err := frame.ParseHello(first); err != nil {
		return refusal
	}
	folder, err := filepath.Abs(w.folder)
	if err != nil {
		return errVaultNotFound
	}
	hello, ok := frame.AppendHello(nil, frame.Hello{Version: frame.Version, PID: uint32(os.Getpid()), Folder: folder})
	if !ok {
		return errVaultNotFound
	}
	return w.out.write(hello)
}

// end has the worker end with a status; only the first one counts.
func (w *worker) end(status int) {
	select {
	case w.leave <- status:
	default:
	}
}

// listen takes frames until the input ends. It never waits for a call, so that
// the gateway can always write.
func (w *worker) listen(in *frame.Reader) int {
	for {
		f, err := in.Next()
		if err == io.EOF {
			return done
		}
		if err == nil {
			err = w.take(f)
		}
		if err != nil {
			return wrong // what the gateway sent is no protocol of ours
		}
	}
}

func (w *worker) take(f frame.Frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.open[f.ID]
	switch f.Kind {
	case frame.KindRequest:
		if j != nil || len(w.open) == frame.MaxOpen {
			return frame.Malformedf("request %d is one too many", f.ID)
		}
		return w.begin(f)
	case frame.KindInput:
		if j == nil || !j.waiting {
			return frame.Malformedf("input for request %d, which waits for none", f.ID)
		}
		if !j.receive(f.Payload) {
			go w.run(j)
		}
	case frame.KindCancel:
		w.cancel(j)
	case frame.KindMore:
		j.letGo()
	default:
		return frame.Malformedf("kind %d is not for a worker", f.Kind)
	}
	return nil
}

func (w *worker) begin(f frame.Frame) error {
	q, err := frame.ParseRequest(f)
	if err != nil {
		return err
	}
	j := newJob(f.ID, q, w.out)
	w.open[f.ID] = j
	if !q.Input {
		go w.run(j)
	}
	return nil
}

// cancel ends a request that has not begun; one that has is told to stop, and
// what it prints is dropped. A request that was answered meanwhile is nil.
func (w *worker) cancel(j *job) {
	if j == nil {
		return
	}
	j.cancel()
	if j.waiting {
		j.waiting = false
		go w.answer(j, frame.End{Status: failed, Unrun: true})
	}
}

// run answers one request. A panic is answered as the death that it would be
// for a process of one call, and ends the worker: its state is not trusted.
func (w *worker) run(j *job) {
	defer func() {
		if reason := recover(); reason != nil {
			j.complain(reason)
			w.answer(j, frame.End{Status: wrong, Last: true})
			w.end(wrong)
		}
	}()
	if w.host.moved() {
		// The path leads to another folder: another worker has to open it.
		w.answer(j, frame.End{Status: failed, Unrun: true, Last: true})
		w.end(done)
		return
	}
	status := w.perform(call{j.ctx, append([]string{w.folder}, j.words...), j.stdin(), j.stdout(), j.stderr()})
	j.release()
	w.answer(j, frame.End{Status: uint8(status), Last: w.host.homeless})
	if w.host.homeless {
		w.end(done)
	}
}

// answer ends a request. Its number is free before the gateway can know that
// it is.
func (w *worker) answer(j *job, end frame.End) {
	w.mu.Lock()
	delete(w.open, j.id)
	w.mu.Unlock()
	j.cancel()
	if err := w.out.end(j.id, end); err != nil {
		w.end(failed) // nobody reads any more
	}
}

// outlet is the one way out of a worker.
type outlet struct {
	mu   sync.Mutex
	to   io.Writer
	held []byte
}

// piece sends bytes of one stream. It holds back what is little, for the end of
// the answer to go with it.
func (o *outlet) piece(kind frame.Kind, id uint32, text []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := text; len(rest) > 0; {
		n := min(len(rest), frame.MaxChunk)
		o.held = frame.Append(o.held, frame.Frame{Kind: kind, ID: id, Payload: rest[:n]})
		rest = rest[n:]
		if len(o.held) >= frame.MaxChunk {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *outlet) end(id uint32, end frame.End) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = frame.AppendEnd(o.held, id, end)
	return o.flush()
}

func (o *outlet) write(text []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = append(o.held, text...)
	return o.flush()
}

// flushed sends what was held back.
func (o *outlet) flushed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flush()
}

func (o *outlet) flush() error {
	_, err := o.to.Write(o.held)
	o.held = o.held[:0]
	return err
}

// explainPanic is what the Go runtime would print.
func explainPanic(reason any, stack []byte) string {
	return fmt.Sprintf("panic: %v\n\n%s", reason, stack)
}

// maxInput is one byte more than what a parameter may hold, so that too long a
// value is refused in the same words as by a process of one call.
const maxInput = disk.MaxNote + 1
