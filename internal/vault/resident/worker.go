// Package resident is the worker: a process that answers many calls of one gateway
// on one vault, in the frames of package protocol.
package resident

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Call is one command line with its streams.
type Call struct {
	Ctx            context.Context
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Changes        func() // called when the call begins to change files; nil tells no caller
}

// Worker answers the calls of one gateway on one vault, several at once.
type Worker struct {
	host       *call.Host
	perform    func(Call) int // answers one command line and returns the exit status
	folder     string
	out        *outlet
	exitStatus chan int // the exit status, once the worker has to end

	mu   sync.Mutex
	open map[uint32]*job
	rest *time.Timer // runs out some time after the last call
}

// New returns a worker that answers on stdout. From then on the host keeps what it
// computes from files.
func New(h *call.Host, perform func(Call) int, folder string, stdout io.Writer) *Worker {
	h.Knowledge.Resident, h.Kept = true, &answer.Store{}
	w := &Worker{host: h, perform: perform, folder: folder, out: &outlet{to: stdout}, exitStatus: make(chan int, 1), open: map[uint32]*job{}}
	w.rest = time.AfterFunc(restAfter, func() { // concurrently with new calls
		w.mu.Lock()
		busy := len(w.open) > 0
		w.mu.Unlock()
		if !busy { // otherwise the end of the last call sets the timer again
			w.host.GiveBack()
			runtime.GC() // what pools have in store outlives one collection
			debug.FreeOSMemory()
		}
	})
	return w
}

// restAfter is how long a worker waits for another call before it gives the system the
// memory that it does not need between calls.
const restAfter = 2 * time.Second

// Serve answers requests until stdin ends, and returns the exit status. It does
// not wait for calls that are open then: a gateway that wants their answers
// leaves stdin open.
func (w *Worker) Serve(stdin io.Reader) int {
	defer w.rest.Stop()
	if folder, err := filepath.Abs(w.folder); err == nil {
		w.host.Confine(folder, true)
	}
	in := protocol.NewReader(pollable(stdin))
	if err := w.handshake(in); err != nil {
		said := answer.Explain(err)
		return said.Print(w.out.to)
	}
	go func() { w.end(w.listen(in)) }()
	return <-w.exitStatus
}

// handshake waits for the greeting of the gateway and returns it. A gateway of
// another version is told ours, and will not send anything else.
func (w *Worker) handshake(in *protocol.Reader) error {
	refusal := answer.Misuse("%s is for the gateway to use, which must send a greeting first.", call.WorkerSwitch)
	first, err := in.Next()
	if err != nil {
		return refusal
	}
	if _, err := protocol.ParseHello(first); err != nil {
		return refusal
	}
	folder, err := filepath.Abs(w.folder)
	if err != nil {
		return answer.ErrVaultNotFound
	}
	hello, ok := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: folder})
	if !ok {
		return answer.ErrVaultNotFound
	}
	return w.out.write(hello)
}

// end has the worker end with a status; only the first one counts.
func (w *Worker) end(status int) {
	select {
	case w.exitStatus <- status:
	default:
	}
}

// listen takes frames until the input ends. It never waits for a call, so that
// the gateway can always write.
func (w *Worker) listen(in *protocol.Reader) int {
	for {
		f, err := in.Next()
		if err == io.EOF {
			return answer.ExitDone
		}
		if err == nil {
			err = w.take(f)
		}
		if err != nil {
			return answer.ExitMisuse // what the gateway sent is no protocol of ours
		}
	}
}

func (w *Worker) take(f protocol.Frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.open[f.ID]
	switch f.Kind {
	case protocol.KindRequest:
		if j != nil || len(w.open) == protocol.MaxOpen {
			return protocol.Malformedf("request %d is one too many", f.ID)
		}
		q, err := protocol.ParseRequest(f)
		if err != nil {
			return err
		}
		j := newJob(f.ID, q, w.out)
		w.open[f.ID] = j
		if !q.Input {
			go w.run(j)
		}
		return nil
	case protocol.KindInput:
		if j == nil || !j.waiting {
			return protocol.Malformedf("input for request %d, which waits for none", f.ID)
		}
		if !j.receive(f.Payload) {
			go w.run(j)
		}
	case protocol.KindCancel:
		// A request that has not begun ends; one that has is told to stop, and what it prints is dropped.
		// One that was answered meanwhile is nil.
		if j != nil {
			j.cancel()
		}
		if j != nil && j.waiting {
			j.waiting = false
			go w.answer(j, protocol.End{Status: answer.ExitFailed, Unrun: true})
		}
	case protocol.KindMore:
		if j != nil {
			j.allowed.Do(func() { close(j.more) })
		}
	default:
		return protocol.Malformedf("kind %d is not for a worker", f.Kind)
	}
	return nil
}

// run answers one request. A panic is answered as the crash of a process of one call, and ends
// the worker, because its state is not trusted.
func (w *Worker) run(j *job) {
	defer func() {
		if reason := recover(); reason != nil {
			text := fmt.Sprintf("panic: %v\n\n%s", reason, debug.Stack())
			_ = j.out.piece(protocol.KindStderr, j.id, []byte(text)) // the end after it fails in the same way
			w.answer(j, protocol.End{Status: answer.ExitMisuse, Last: true})
			w.end(answer.ExitMisuse)
		}
	}()
	if w.host.FolderMoved() {
		// The path leads to another folder: another worker has to open it.
		w.answer(j, protocol.End{Status: answer.ExitFailed, Unrun: true, Last: true})
		w.end(answer.ExitDone)
		return
	}
	stdout := printers.Get().(*bufio.Writer)
	stdout.Reset(jobStream{j, protocol.KindStdout})
	status := w.perform(Call{j.ctx, append([]string{w.folder}, j.words...), bytes.NewReader(j.input), stdout, j.stderr(), func() {
		_ = w.out.write(protocol.Append(nil, protocol.Frame{Kind: protocol.KindChanging, ID: j.id})) // the end of the answer fails in the same way
	}})
	stdout.Reset(nil)
	printers.Put(stdout)
	w.answer(j, protocol.End{Status: uint8(status), Last: w.host.VaultMissing})
	if w.host.VaultMissing {
		w.end(answer.ExitDone)
	}
}

// answer ends a request. Its number is free before the gateway can know that
// it is.
func (w *Worker) answer(j *job, end protocol.End) {
	w.mu.Lock()
	delete(w.open, j.id)
	if len(w.open) == 0 {
		w.rest.Reset(restAfter)
	}
	w.mu.Unlock()
	j.cancel()
	if err := w.out.end(j.id, end); err != nil {
		w.end(answer.ExitFailed) // the reader has gone
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
func (o *outlet) piece(kind protocol.Kind, id uint32, text []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := text; len(rest) > 0; {
		n := min(len(rest), protocol.MaxChunk)
		o.held = protocol.Append(o.held, protocol.Frame{Kind: kind, ID: id, Payload: rest[:n]})
		rest = rest[n:]
		if len(o.held) >= protocol.MaxChunk {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *outlet) end(id uint32, end protocol.End) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = protocol.AppendEnd(o.held, id, end)
	return o.flush()
}

// write sends a text, after what was held back.
func (o *outlet) write(text []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = append(o.held, text...)
	return o.flush()
}

func (o *outlet) flush() error {
	_, err := o.to.Write(o.held)
	o.held = o.held[:0]
	return err
}

// maxInput is one byte more than what a parameter may hold, so that too long a
// value is refused in the same words as by a process of one call.
const maxInput = disk.MaxNote + 1

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

func newJob(id uint32, q protocol.Request, out *outlet) *job {
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
	if j.sent < protocol.Window {
		size = min(size, protocol.Window-j.sent)
		j.sent += size
		return size, nil
	}
	if err := j.out.write(nil); err != nil { // it has to know that there is more
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
var printers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, answer.PrintBuffer) }}

func (j *job) stderr() io.Writer { return jobStream{j, protocol.KindStderr} }

var errCancelled = errors.New("nobody waits for this answer")

// jobStream is one of the two streams of a job.
type jobStream struct {
	job  *job
	kind protocol.Kind
}

// Flush sends what was written and is held back for the end of the answer.
func (s jobStream) Flush() error { return s.job.out.write(nil) }

func (s jobStream) Write(text []byte) (int, error) {
	if s.job.ctx.Err() != nil {
		return 0, errCancelled // the copying of a long note ends here
	}
	for rest := text; len(rest) > 0; {
		n := len(rest)
		if s.kind == protocol.KindStdout {
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
