package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// beginLimit is how long a worker may take to start while no call waits for it.
const beginLimit = 15 * time.Second

// beginStarvedLimit is beginLimit for a worker that is given no processor.
const beginStarvedLimit = time.Minute

const (
	// cancelGrace is how long a cancelled or timed out call is waited for. Then, if the worker has confirmed the
	// cancellation, the call is abandoned.
	cancelGrace = 150 * time.Millisecond
	// confirmGrace is how much longer a worker may take to confirm a cancellation. Then it is stopped in the steps of
	// every child; together they keep a call within its limit plus half a second. If the call only reads, the worker
	// has unheardLimit more. One that is given no processor has up to unheardLimit for a call that writes, and up to
	// lateLimit for one that reads, whose caller does not wait that long.
	confirmGrace = 150 * time.Millisecond
	// unheardLimit is how long a worker may stay silent. It is longer than a busy machine leaves a process without a
	// processor.
	unheardLimit = 3 * time.Second
	// lateLimit is how long an abandoned call may continue. It is far longer than its budget lasts on any machine.
	lateLimit = 20 * time.Second
)

// worker is the resident embedded program of one vault. It is stopped after any error, and after a cancelled call
// that does not end, because its state is then unknown. The next call starts another worker.
type worker struct {
	pool *pool
	at   workerKey
	life context.Context
	end  context.CancelFunc // stops the process in steps, see [process.Process.Stop]

	begun  chan struct{} // closed when the worker accepts requests and peer is set, or when failed is set
	peer   *process.Process
	path   string // of the program
	pid    int
	failed error         // why the worker could not start
	gone   chan struct{} // closed when the process has ended and all its calls have been told
	slots  chan struct{} // one element per open call, with the capacity of a worker

	writing sync.Mutex // guards peer.In and scratch
	scratch []byte     // buffer for the frames to send

	mu     sync.Mutex
	open   map[uint32]*exchange // nil when no more answers will come
	last   uint32               // id of the last call
	start  silence              // before it accepts requests
	cause  string               // why the worker was stopped
	doomed bool                 // a call did not end: the worker is stopped once no call that writes is open

	sizes sizes

	// The fields below are guarded by pool.mu.
	inFlight     int
	retired      bool
	inputClosed  bool
	idleSince    time.Time
	healthTimer  *time.Timer // nil before the first check
	checksPaused bool        // no check is scheduled until the worker has been idle for the limit
}

// live starts the process, reads its answers, and returns when it has ended.
func (w *worker) live(c process.Child) {
	defer w.end()
	peer, err := process.Start(w.life, c)
	if err != nil {
		w.failed = cannotStart(c.Path, err)
		w.terminate("was not started")
		return
	}
	w.peer = peer
	w.path = c.Path
	go func() { // closes the pipes of a process that has ended while another process has them open
		<-peer.Done()
		select {
		case <-w.gone:
		case <-time.After(process.PipeGrace):
			peer.KillGroup()
			peer.Close()
		}
	}()
	start := w.pool.listen(peer.PID)
	w.mu.Lock()
	w.start = start
	w.mu.Unlock()
	defer time.AfterFunc(beginLimit, func() { w.stopUnlessBegun(start) }).Stop()
	in := protocol.NewReader(peer.Out)
	w.failed = w.handshake(in)
	if w.failed != nil {
		w.terminate(w.finish(w.failed))
		return
	}
	w.pool.mu.Lock()
	w.healthTimer = time.AfterFunc(w.pool.limits.checkHealth, w.checkHealth)
	w.pool.mu.Unlock()
	close(w.begun)
	w.terminate(w.finish(w.readAnswers(in)))
}

// readAnswers handles the frames of the worker until it closes its output. The error is a [*protocol.Malformed].
func (w *worker) readAnswers(in *protocol.Reader) error {
	var err error
	for err == nil {
		var frame protocol.Frame
		frame, err = in.Next()
		if err == nil {
			err = w.process(frame)
		}
	}
	if _, isMalformed := errors.AsType[*protocol.Malformed](err); isMalformed {
		return err
	}
	return nil // io.EOF, or the error of reading a pipe that we closed
}

// stopUnlessBegun stops a process that does not accept requests yet. One that is given no processor has more time:
// another one would have to begin anew.
func (w *worker) stopUnlessBegun(since silence) {
	select {
	case <-w.begun:
		return
	case <-w.gone:
		return
	default:
	}
	if time.Since(since.from) < beginStarvedLimit && w.pool.isStarved(since) {
		time.AfterFunc(time.Second, func() { w.stopUnlessBegun(since) })
		return
	}
	w.stop("did not begin")
}

// finish waits for the end of the process and returns how it ended. A process that closed its output gets time to
// end by itself; after malformed frames it is stopped at once.
func (w *worker) finish(err error) string {
	if err == nil {
		select {
		case <-w.peer.Done():
		case <-time.After(process.StopGrace):
		}
	}
	w.peer.Stop()
	end := w.peer.Ending()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.cause != "":
		return w.cause
	case err != nil:
		return err.Error()
	case end.Kind == process.Crashed:
		return "died by " + end.How
	case end.Kind == process.Stopped:
		return "closed its output"
	}
	return fmt.Sprintf("ended with status %d", end.Exit)
}

// terminate removes the worker from the pool and ends all its open calls.
func (w *worker) terminate(how string) {
	w.pool.mu.Lock()
	w.retire()
	delete(w.pool.all, w)
	w.pool.mu.Unlock()
	w.mu.Lock()
	open := w.open
	w.open = nil
	w.mu.Unlock()
	for _, x := range open {
		x.frameMu.Lock()
		x.finishWithout(how)
		x.frameMu.Unlock()
	}
	if w.failed != nil {
		close(w.begun)
	}
	close(w.gone)
}

// stop ends the process in steps. Only the first reason is reported.
func (w *worker) stop(reason string) {
	w.mu.Lock()
	if w.cause == "" {
		w.cause = reason
	}
	w.mu.Unlock()
	w.end()
}

// handshake exchanges greetings. A greeting fits into the buffer of a pipe.
func (w *worker) handshake(in *protocol.Reader) error {
	hello, _ := protocol.AppendHello(nil, protocol.Hello{Version: protocol.Version})
	if _, err := w.peer.In.Write(hello); err != nil {
		return unsuitableWorker(w.path, "ended before it was greeted")
	}
	first, err := in.Next()
	if err != nil {
		return unsuitableWorker(w.path, "ended, or sent no frame, when it was greeted")
	}
	theirs, err := protocol.ParseHello(first)
	if err != nil {
		return unsuitableWorker(w.path, "is not a worker: it "+err.Error())
	}
	reason := mismatch(theirs, w.at.folder)
	if reason == "" && theirs.PID != uint32(w.peer.PID) {
		reason = "is not the worker that was started"
	}
	if reason != "" {
		return unsuitableWorker(w.path, reason)
	}
	w.pid = w.peer.PID
	return nil
}

// process handles one frame from the worker. An error ends the worker.
func (w *worker) process(f protocol.Frame) error {
	w.mu.Lock()
	x := w.open[f.ID]
	allowed := int64(0)
	if x != nil {
		allowed = x.allowed
	}
	w.mu.Unlock()
	if x == nil {
		return protocol.Malformedf("answered request %d, which is not open", f.ID)
	}
	x.frameMu.Lock()
	defer x.frameMu.Unlock()
	if x.left && f.Kind != protocol.KindReply {
		return nil
	}
	switch f.Kind {
	case protocol.KindOutput:
		before := x.sent
		x.sent += int64(len(f.Payload))
		if x.sent > allowed {
			return protocol.Malformedf("sent more of answer %d than it may", x.id)
		}
		if err := x.process(f); err != nil {
			return err
		}
		if before < allowed && x.sent == allowed {
			x.more <- struct{}{} // it is empty: await has received the previous value
		}
		return nil
	case protocol.KindChanging:
		files, err := protocol.ParseChanging(f)
		w.mu.Lock()
		x.changing = true
		x.files = files
		w.mu.Unlock()
		return err
	case protocol.KindCancelled:
		w.mu.Lock()
		x.cancelled = true
		w.mu.Unlock()
		return nil
	case protocol.KindReply:
		return w.processReply(x, f)
	}
	return x.process(f)
}

// processReply handles the last frame of an answer. The caller holds x.frameMu.
func (w *worker) processReply(x *exchange, f protocol.Frame) error {
	reply, err := protocol.ParseReply(f)
	if err != nil {
		return err
	}
	if reply.Last {
		w.pool.retire(w)
	}
	w.mu.Lock()
	delete(w.open, f.ID)
	<-w.slots
	_, writes := w.writes()
	last := w.doomed && !writes
	w.mu.Unlock()
	if last {
		defer w.stop(causeUnfinishedCall)
	}
	if !x.left {
		x.reply = reply
		x.left = true
		close(x.done)
	}
	return nil
}
