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

// beginLimit is how long a worker may take to begin while no call waits for it.
const beginLimit = 15 * time.Second

const (
	// cancelGrace is how long a call that timed out or was cancelled is waited for. Then it is left to itself, if the worker
	// has confirmed that it is cancelled.
	cancelGrace = 150 * time.Millisecond
	// confirmGrace is how much longer a worker may take to confirm that. Then it is stopped in the steps of every child, which
	// together keep a call within its limit and half a second; for a call that only reads it has unheardLimit more.
	confirmGrace = 150 * time.Millisecond
	// unheardLimit is how long a worker may be silent: longer than a busy machine leaves one without a processor.
	unheardLimit = 3 * time.Second
	// lateLimit is how long a call may go on that was left to itself: far longer than its budget lasts on any machine.
	lateLimit = 20 * time.Second
)

// worker is the resident embedded program of one vault. It is stopped after any error, and after a cancelled call that
// does not end, because its state is unknown. The next call starts another one.
type worker struct {
	pool *pool
	at   workerKey
	life context.Context
	end  context.CancelFunc // stops the process in steps

	begun  chan struct{} // closed when the worker takes requests, and peer is set, or when it has failed: why is failed
	peer   *process.Process
	path   string // of the program
	pid    int
	failed error
	gone   chan struct{} // closed when the process has ended and every call knows
	slots  chan struct{} // as many as a worker has open at once

	writing sync.Mutex // of peer.In
	scratch []byte     // what is being written

	mu     sync.Mutex
	open   map[uint32]*exchange // nil when there will be no more answers
	last   uint32
	cause  string // why we stopped it
	doomed bool   // a call did not end: the worker ends when none that writes is open

	sizes sizes

	// The rest belongs to the pool.
	inFlight     int
	retired      bool
	inputClosed  bool
	idleSince    time.Time
	healthTimer  *time.Timer // nil before the first check
	checksPaused bool        // until the worker has been idle for the limit
}

// live starts the process, reads its answers and returns when it has ended.
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
	go func() { // close the pipes of a process that has ended while another one has them open
		<-peer.Done()
		select {
		case <-w.gone:
		case <-time.After(process.PipeGrace):
			peer.KillGroup()
			peer.Close()
		}
	}()
	defer time.AfterFunc(beginLimit, w.stopUnlessBegun).Stop()
	in := protocol.NewReader(peer.Out)
	if w.failed = w.handshake(in); w.failed == nil {
		w.pool.mu.Lock()
		w.healthTimer = time.AfterFunc(w.pool.limits.checkHealth, w.checkHealth)
		w.pool.mu.Unlock()
		close(w.begun)
		for err == nil {
			var f protocol.Frame
			if f, err = in.Next(); err == nil {
				err = w.take(f)
			}
		}
		if _, malformed := errors.AsType[*protocol.Malformed](err); !malformed {
			err = nil // io.EOF, or its like on a pipe that we closed
		}
	}
	w.terminate(w.finish(errors.Join(w.failed, err)))
}

// stopUnlessBegun ends a process that does not take requests.
func (w *worker) stopUnlessBegun() {
	select {
	case <-w.begun:
	default:
		w.stop("did not begin")
	}
}

// finish returns how the process ended, when it is gone. A process whose output has ended
// gets time to end by itself; after malformed frames it is stopped at once.
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
		x.hearing.Lock()
		x.endWith(how)
		x.hearing.Unlock()
	}
	if w.failed != nil {
		close(w.begun)
	}
	close(w.gone)
}

// stop ends the process in steps. The first reason is reported.
func (w *worker) stop(reason string) {
	w.mu.Lock()
	if w.cause == "" {
		w.cause = reason
	}
	w.mu.Unlock()
	w.end()
}

// handshake exchanges greetings. The buffer of a pipe has room for a greeting.
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
	reason := unlike(theirs, w.at.folder)
	if reason == "" && theirs.PID != uint32(w.peer.PID) {
		reason = "is not the worker that was started"
	}
	if reason != "" {
		return unsuitableWorker(w.path, reason)
	}
	w.pid = w.peer.PID
	return nil
}

func (w *worker) take(f protocol.Frame) error {
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
	x.hearing.Lock()
	defer x.hearing.Unlock()
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
		if err := x.take(f); err != nil {
			return err
		}
		if before < allowed && x.sent == allowed {
			x.more <- struct{}{} // taken before there is another one
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
		return w.takeReply(x, f)
	}
	return x.take(f)
}

// takeReply takes the last frame of an answer. It is called with hearing held.
func (w *worker) takeReply(x *exchange, f protocol.Frame) error {
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
