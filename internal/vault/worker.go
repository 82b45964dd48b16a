package vault

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// Call is a request with its context, input and output.
type Call struct {
	Ctx      context.Context
	Request  protocol.Request
	Input    io.Reader // the value of the parameter Request.Input
	Output   io.Writer
	Progress func(protocol.Progress) // receives the progress; may be nil
	// Changes is called with the number of files before the first one is changed. If it returns false, the call was
	// cancelled and nothing may be changed; otherwise it can no longer be cancelled. It may be nil.
	Changes func(files int) bool
}

// Worker answers the calls of a gateway on a vault concurrently, in the frames of package protocol.
type Worker struct {
	host       *call.Host
	perform    func(Call) protocol.Reply
	folder     string
	out        *outlet
	exitStatus chan int // receives the exit status when the worker has to end

	// idle passes a job to a goroutine that has answered one and waits for the next: a new goroutine would have to
	// grow its stack for every call. ended is closed when the worker ends, and these goroutines with it.
	idle  chan *job
	ended chan struct{}

	mu   sync.Mutex
	open map[uint32]*job // the unanswered requests, by id
	rest *time.Timer     // frees memory some time after the last call
}

// NewWorker returns a worker that answers on stdout. It marks the host as resident, so that the host keeps what it
// computes from files.
func NewWorker(h *call.Host, perform func(Call) protocol.Reply, folder string, stdout io.Writer) *Worker {
	h.Knowledge.Resident = true
	w := &Worker{
		host:       h,
		perform:    perform,
		folder:     folder,
		out:        &outlet{to: stdout},
		exitStatus: make(chan int, 1),
		idle:       make(chan *job),
		ended:      make(chan struct{}),
		open:       map[uint32]*job{},
	}
	w.rest = time.AfterFunc(restAfter, func() { // concurrently with new calls
		w.mu.Lock()
		busy := len(w.open) > 0
		w.mu.Unlock()
		if !busy { // otherwise the end of the last call sets the timer again
			w.host.GiveBack()
			runtime.GC() // objects in pools survive one collection; FreeOSMemory forces the second
			debug.FreeOSMemory()
		}
	})
	return w
}

// restAfter is how long a worker waits for another call before it returns memory to the system.
const restAfter = 2 * time.Second

// Serve answers requests until stdin ends, and returns the exit status. At the end it waits only for calls that are
// changing files: a gateway that wants other answers must leave stdin open.
func (w *Worker) Serve(stdin io.Reader) int {
	defer w.rest.Stop()
	defer close(w.ended)
	if folder, err := filepath.Abs(w.folder); err == nil {
		w.host.AppVaults() // a confined process cannot read the list
		w.host.Confine(folder)
	}
	in := protocol.NewReader(pollable(stdin))
	if _, err := w.handshake(in); err != nil {
		reply := answer.Explain(err)
		return reply.Print(w.out.to)
	}
	if err := w.out.write(nil); err != nil {
		return answer.ExitFailed // the reader has gone
	}
	go func() { w.end(w.listen(in)) }()
	status := <-w.exitStatus
	w.host.Commits.Close() // waits until a change is made or rolled back
	return status
}

// handshake reads the greeting of the gateway and returns its protocol version. Our greeting is sent with the next
// output; a gateway of another version then sends no requests.
func (w *Worker) handshake(in *protocol.Reader) (version uint32, err error) {
	refusal := answer.Misuse(
		"%s and %s are for the gateway to use, which must send a greeting first.",
		call.WorkerSwitch,
		call.OnceSwitch,
	)
	first, err := in.Next()
	if err != nil {
		return 0, refusal
	}
	theirs, err := protocol.ParseHello(first)
	if err != nil {
		return 0, refusal
	}
	folder, err := filepath.Abs(w.folder)
	if err != nil {
		return 0, answer.ErrVaultNotFound
	}
	hello, ok := protocol.AppendHello(
		nil,
		protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: folder},
	)
	if !ok {
		return 0, answer.ErrVaultNotFound
	}
	w.out.hold(hello)
	return theirs.Version, nil
}

// end makes the worker end with a status; only the first call counts.
func (w *Worker) end(status int) {
	select {
	case w.exitStatus <- status:
	default:
	}
}

// listen handles frames until the input ends, and returns the exit status. It never waits for a call, so that the
// gateway can always write.
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
			return answer.ExitMisuse // the gateway violated the protocol
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
		if !j.waiting {
			w.begin(j)
		}
		return nil
	case protocol.KindInput:
		if j == nil || !j.waiting {
			return protocol.Malformedf("input for request %d, which waits for none", f.ID)
		}
		if !j.receive(f.Payload) {
			w.begin(j)
		}
	case protocol.KindCancel:
		// A request that has not started ends; a running one is cancelled, and the rest of its output is dropped.
		// j is nil if the request was answered meanwhile.
		if j != nil && j.stop() {
			go w.confirm(j)
		}
		if j != nil && j.waiting {
			j.waiting = false
			go w.answer(j, protocol.Reply{Status: answer.ExitFailed, Unrun: true})
		}
	case protocol.KindMore:
		bytes, err := protocol.ParseMore(f)
		if err != nil {
			return err
		}
		if j != nil {
			j.allow(bytes)
		}
	default:
		return protocol.Malformedf("kind %d is not for a worker", f.Kind)
	}
	return nil
}

// begin has a goroutine answer a job: one that is idle, or else a new one.
func (w *Worker) begin(j *job) {
	select {
	case w.idle <- j:
	default:
		go w.answerJobs(j)
	}
}

// answerJobs answers first, and then the jobs that it is passed while it is idle, until the worker ends.
func (w *Worker) answerJobs(first *job) {
	w.run(first)
	for {
		select {
		case next := <-w.idle:
			w.run(next)
		case <-w.ended:
			return
		}
	}
}

// confirm reports to the gateway that a request is cancelled, if it is still unanswered.
func (w *Worker) confirm(j *job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[j.id] == j {
		_ = w.out.write(
			protocol.Append(nil, protocol.Frame{Kind: protocol.KindCancelled, ID: j.id}),
		) // a write error recurs at the end of the answer
	}
}

// run answers a request, and returns its exit status. A panic is reported like the crash of a process for one call, and
// ends the worker, because its state may be inconsistent.
func (w *Worker) run(j *job) (status int) {
	panicked := panics.Try(func() { status = w.runAndAnswer(j) })
	if panicked == nil {
		return status
	}
	w.answer(
		j,
		protocol.Reply{
			Status: answer.ExitMisuse,
			Last:   true,
			Panic:  fmt.Sprintf("panic: %v\n\n%s", panicked.Value, panicked.Stack),
		},
	)
	w.end(answer.ExitMisuse)
	return answer.ExitMisuse
}

func (w *Worker) runAndAnswer(j *job) (status int) {
	if w.host.FolderMoved() {
		// The path leads to another folder, for which another worker is needed.
		w.answer(j, protocol.Reply{Status: answer.ExitFailed, Unrun: true, Last: true})
		w.end(answer.ExitDone)
		return answer.ExitFailed
	}
	output := printers.Get().(*bufio.Writer)
	output.Reset(j)
	reply := w.perform(
		Call{
			Ctx:      j.ctx,
			Request:  j.request,
			Input:    bytes.NewReader(j.input),
			Output:   output,
			Progress: j.tell,
			Changes:  j.changes,
		},
	)
	output.Reset(nil)
	printers.Put(output)
	reply.Last = w.host.VaultMissing
	w.answer(j, reply)
	if w.host.VaultMissing {
		w.end(answer.ExitDone)
	}
	return int(reply.Status)
}

// answer sends the end of an answer. It frees the request's id first, because the gateway may use the id again at once.
func (w *Worker) answer(j *job, reply protocol.Reply) {
	w.mu.Lock()
	delete(w.open, j.id)
	if len(w.open) == 0 && w.rest != nil {
		w.rest.Reset(restAfter)
	}
	w.mu.Unlock()
	j.cancel()
	if err := w.out.end(j.id, reply); err != nil {
		w.end(answer.ExitFailed) // the reader has gone
	}
}

// outlet is the buffered output of a worker, shared by its jobs.
type outlet struct {
	mu   sync.Mutex
	to   io.Writer
	held []byte
}

// piece sends bytes of an answer. It holds back small amounts, so that they are sent together with the end of the
// answer.
func (o *outlet) piece(id uint32, text []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := text; len(rest) > 0; {
		n := min(len(rest), protocol.MaxChunk)
		o.held = protocol.Append(o.held, protocol.Frame{Kind: protocol.KindOutput, ID: id, Payload: rest[:n]})
		rest = rest[n:]
		if len(o.held) >= protocol.MaxChunk {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *outlet) end(id uint32, reply protocol.Reply) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = protocol.AppendReply(o.held, id, reply)
	return o.flush()
}

// hold buffers a text until the next write.
func (o *outlet) hold(text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = append(o.held, text...)
}

// write sends the buffered output and a text.
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

// maxInput is one byte more than the maximum size of a parameter, so that a longer value gets the same error as in a
// process for one call.
const maxInput = disk.MaxNote + 1

// job is an unanswered request of a worker. Its fields, except the context, are owned by the worker's listener until
// the job runs, and then by the goroutine that runs it.
type job struct {
	id      uint32
	request protocol.Request
	input   []byte
	waiting bool            // the rest of its input is missing
	ctx     context.Context // ends when the request is cancelled or answered
	cancel  context.CancelFunc
	out     *outlet
	left    atomic.Int64  // bytes of output that it may send
	more    chan struct{} // signals that left increased

	changing   sync.Mutex
	isChanging bool // files are being changed, so it cannot be cancelled; guarded by changing
}

func newJob(id uint32, q protocol.Request, out *outlet) *job {
	j := &job{id: id, request: q, out: out, waiting: q.Input != "", more: make(chan struct{}, 1)}
	j.left.Store(protocol.Window)
	j.ctx, j.cancel = context.WithCancel(context.Background())
	return j
}

// receive appends a piece of input, and reports whether more will come. An empty piece is the end.
func (j *job) receive(piece []byte) (more bool) {
	left := maxInput - len(j.input)
	j.input = append(j.input, piece[:min(len(piece), left)]...)
	j.waiting = len(piece) > 0
	return j.waiting
}

// window returns how many of size bytes of output may be sent. If the window is used up, it waits until the gateway
// allows more.
func (j *job) window(size int) (int, error) {
	for isTold := false; ; {
		if left := j.left.Load(); left > 0 {
			size = int(min(int64(size), left))
			j.left.Add(-int64(size))
			return size, nil
		}
		if !isTold { // send buffered output, so that the gateway can read it and allow more
			isTold = true
			if err := j.out.write(nil); err != nil {
				return 0, err
			}
		}
		select {
		case <-j.more:
		case <-j.ctx.Done():
			return 0, errCancelled
		}
	}
}

// allow lets the request send that many more bytes.
func (j *job) allow(bytes int64) {
	for {
		left := j.left.Load()
		more := left + min(bytes, math.MaxInt64-left)
		if j.left.CompareAndSwap(left, more) {
			break
		}
	}
	select {
	case j.more <- struct{}{}:
	default:
	}
}

// printers pools the buffered writers of answers. Their buffers have the size that [answer.Reply.Print] needs, so it
// uses them instead of allocating its own.
var printers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, answer.PrintBuffer) }}

var errCancelled = errors.New("nobody waits for this answer")

// Write prints a piece of the answer.
func (j *job) Write(text []byte) (int, error) {
	if j.ctx.Err() != nil {
		return 0, errCancelled // stops copying a long note
	}
	for rest := text; len(rest) > 0; {
		n, err := j.window(len(rest))
		if err != nil {
			return 0, err
		}
		if err := j.out.piece(j.id, rest[:n]); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(text), nil
}

// tell sends the progress of the request immediately.
func (j *job) tell(p protocol.Progress) {
	if j.ctx.Err() == nil {
		_ = j.out.write(protocol.AppendProgress(nil, j.id, p)) // a write error recurs at the end of the answer
	}
}

// stop cancels a request unless it is changing files, and reports whether it did.
func (j *job) stop() bool {
	j.changing.Lock()
	defer j.changing.Unlock()
	if j.isChanging {
		return false
	}
	j.cancel()
	return true
}

// changes reports to the gateway that the request begins to change files. It returns false if the request is cancelled.
func (j *job) changes(files int) bool {
	j.changing.Lock()
	defer j.changing.Unlock()
	if j.ctx.Err() != nil {
		return false
	}
	j.isChanging = true
	_ = j.out.write(protocol.AppendChanging(nil, j.id, files)) // a write error recurs at the end of the answer
	return true
}
