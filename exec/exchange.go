package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
)

// exchange is a call in flight on a worker. The goroutine that reads from the worker owns it
// until done is closed, then the call.
type exchange struct {
	heard
	id        uint32
	sent      int64         // of the output
	more      chan struct{} // has one when the worker has sent all that it may
	allowed   int64         // how much it may send; under the lock of the worker
	lost      string        // how the worker ended, if it did before the call
	done      chan struct{}
	writes    bool // it may begin to change files
	changing  bool // files, so that it is not cancelled any more; under the lock of the worker
	files     int  // how many it changes
	cancelled bool // the worker has confirmed that it is; under the lock of the worker

	hearing sync.Mutex // while a frame is taken
	left    bool       // done is closed: what still comes is dropped; under hearing
}

// ask has the worker answer one command. It returns at most half a second after ctx has ended; a call that has not ended
// by then goes on alone for a while, see lateLimit. A call that has begun to change files is waited for, see
// [workerLimits.commitOf]: it is not cut. With unrun set nothing was begun, and another worker may be asked.
func (w *worker) ask(ctx context.Context, command Command) (e process.Ending, reply protocol.Reply, unrun bool) {
	e = w.pool.nothing()
	if unrun, e.Kind, e.Cause = w.ready(ctx); unrun || e.Kind != process.Exited {
		return e, reply, unrun
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	x := &exchange{
		heard:   heard{stdout: e.Stdout, tell: protocol.ProgressOf(ctx)},
		more:    make(chan struct{}, 1),
		allowed: protocol.Window,
		done:    make(chan struct{}),

		writes: command.request.Write.Allowed,
	}
	x.stdout.Flood = func() { stop(process.ErrFlood) }
	w.mu.Lock()
	if w.open == nil { // it has ended, and its slots are not counted any more
		w.mu.Unlock()
		return e, reply, true
	}
	w.last++
	x.id = w.last
	w.open[x.id] = x
	w.mu.Unlock()
	begun := time.Now()
	inTime := context.AfterFunc(ctx, func() { w.cancelCall(x) })
	started, err := w.send(ctx, x, command)
	w.await(ctx, x, command)
	e.Took = time.Since(begun)
	e.Started = started
	if x.lost == "" || x.lost == causeUnfinishedCall { // then all is heard that the worker said
		w.mu.Lock()
		e.Started = x.changing
		w.mu.Unlock()
	}
	w.mu.Lock()
	isMade := x.changing && x.lost == ""
	w.mu.Unlock()
	stopped := !inTime() && !isMade
	switch {
	case x.lost != "":
		e.Kind = process.Lost
		e.How = x.lost
	case !x.reply.Unrun:
		e.Exit = int(x.reply.Status)
	}
	neverSent := x.lost != "" && !started && err == nil
	unrun = x.reply.Unrun || neverSent
	switch {
	case err != nil:
		e.End(process.NotStarted, err)
	case stopped:
		e.End(process.Stopped, process.StopCause(ctx))
	}
	return e, x.reply, unrun && !stopped
}

// await returns when the call has ended. It waits for memory before accepting more of a response.
func (w *worker) await(ctx context.Context, x *exchange, command Command) {
	call := callHash(command.request)
	isLarge := false
	for {
		select {
		case <-x.done:
			if isLarge {
				w.sizes.keep(call, x.stdout.Total)
			}
			return
		case <-x.more: // nothing is written to its stream before the worker may go on
		}
		isLarge = true
		expected := w.sizes.of(call)
		allowed := holdOf(ctx).take(ctx, max(expected, x.sent+1))
		if allowed <= x.sent {
			<-x.done
			return
		}
		x.stdout.Expect(expected)
		w.mu.Lock()
		credit := allowed - x.allowed
		x.allowed = allowed
		w.mu.Unlock()
		_, _ = w.write(x, func(b []byte) ([]byte, bool) { // if it cannot be sent, the worker ends
			return protocol.AppendMore(b, x.id, credit), true
		})
	}
}

// ready waits until the worker accepts requests. A worker that does not start within the limit
// of a call is stopped; calls that waited with it may use another one.
func (w *worker) ready(ctx context.Context) (unrun bool, kind process.Kind, cause error) {
	select {
	case <-w.begun:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.stopUnlessBegun()
		}
		select {
		case <-w.life.Done():
			<-w.gone
		default:
		}
		return false, process.Stopped, ctx.Err()
	}
	if w.failed != nil {
		<-w.gone
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.cause != "", process.NotStarted, w.failed
	}
	select {
	case w.slots <- struct{}{}: // until the worker has answered
		return false, process.Exited, nil
	case <-w.gone:
		return true, process.Lost, nil
	case <-ctx.Done():
		return false, process.Stopped, ctx.Err()
	}
}

// send writes the request and its input. The error says that the command does not fit into a
// request. If the worker does not read any more, its end ends the call.
func (w *worker) send(ctx context.Context, x *exchange, command Command) (started bool, err error) {
	input := command.Stdin
	started, err = w.write(x, func(b []byte) ([]byte, bool) {
		b, ok := protocol.AppendRequest(b, x.id, command.request)
		if command.StdinParam != "" && len(input) <= protocol.MaxChunk {
			if input != "" {
				b = protocol.Append(b, protocol.Frame{Kind: protocol.KindInput, ID: x.id, Payload: []byte(input)})
			}
			b = protocol.Append(b, protocol.Frame{Kind: protocol.KindInput, ID: x.id})
			input = ""
		}
		return b, ok
	})
	if !started || command.StdinParam == "" {
		return started, err
	}
	for more := len(input) > 0; more && err == nil && ctx.Err() == nil; {
		more = len(input) > 0 // the piece after the last one is empty and ends the input
		_, err = w.write(x, func(b []byte) ([]byte, bool) {
			n := min(len(input), protocol.MaxChunk)
			b = protocol.Append(b, protocol.Frame{Kind: protocol.KindInput, ID: x.id, Payload: []byte(input[:n])})
			input = input[n:]
			return b, true
		})
	}
	return started, err
}

// write sends the frames that fill appends, in one write.
func (w *worker) write(x *exchange, fill func([]byte) ([]byte, bool)) (started bool, err error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	text, fits := fill(w.scratch[:0])
	if cap(text) <= 2*protocol.MaxChunk {
		w.scratch = text
	}
	if !fits { // nothing was sent
		w.mu.Lock()
		if w.open[x.id] == x {
			delete(w.open, x.id)
			<-w.slots
			close(x.done)
		}
		w.mu.Unlock()
		return false, fmt.Errorf("send the command to the worker: %w", syscall.E2BIG)
	}
	n, err := w.peer.In.Write(text)
	if err != nil {
		w.stop("does not read its requests")
	}
	return n > 0, nil
}

// causeUnfinishedCall is why a worker was stopped that did not end a call in time.
const causeUnfinishedCall = "was stopped because a call did not end"

// cancelCall cancels a call without waiting for its end: the call returns when the worker has
// ended it, or has ended itself.
func (w *worker) cancelCall(x *exchange) {
	select {
	case <-x.done:
		return
	default:
	}
	late := time.AfterFunc(cancelGrace, func() {
		if !w.leaveAlone(x) {
			time.AfterFunc(confirmGrace, func() {
				switch {
				case w.leaveAlone(x):
				case w.mayWrite(x):
					w.leave(x)
				default:
					w.leaveUnheard(x)
				}
			})
		}
	})
	defer late.Stop()
	_, _ = w.write(x, func(b []byte) ([]byte, bool) {
		return protocol.Append(b, protocol.Frame{Kind: protocol.KindCancel, ID: x.id}), true
	})
	<-x.done
}

// How long a call may take to change files: that, and the second one for each of them.
const (
	commitLimit   = 30 * time.Second
	commitPerFile = 20 * time.Millisecond
)

// leaveAlone ends the waiting for a call that the worker has confirmed to be cancelled, and has not ended in time: on a busy machine
// that is no fault. The worker goes on with the other calls. If the call does not end at all, the worker takes no more, and is
// stopped once the others are done.
func (w *worker) leaveAlone(x *exchange) bool {
	w.mu.Lock()
	isAlone := w.open[x.id] == x && x.cancelled
	w.mu.Unlock()
	if !isAlone {
		return false
	}
	time.AfterFunc(w.pool.limits.late, func() {
		w.mu.Lock()
		isOpen := w.open[x.id] == x
		w.mu.Unlock()
		if isOpen {
			w.pool.retire(w)
		}
	})
	x.hearing.Lock()
	defer x.hearing.Unlock()
	x.endWith("")
	return true
}

// mayWrite reports whether a call changes files, or may begin to.
func (w *worker) mayWrite(x *exchange) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return x.writes || x.changing
}

// leaveUnheard ends the waiting for a call that only reads, and of which the worker has not even confirmed in time that it is
// cancelled: on a busy machine it may not have been given a processor yet. Only a worker that stays silent is stopped.
func (w *worker) leaveUnheard(x *exchange) {
	x.hearing.Lock()
	x.endWith("")
	x.hearing.Unlock()
	time.AfterFunc(w.pool.limits.unheard, func() {
		if !w.leaveAlone(x) {
			w.leave(x)
		}
	})
}

// leave ends a call that the worker did not end in time, nor confirmed to be cancelled, and the worker with it: at once, or
// after the calls in flight that write. One that writes itself is given the time for that.
func (w *worker) leave(x *exchange) {
	w.mu.Lock()
	if w.open[x.id] != x {
		w.mu.Unlock()
		return
	}
	if x.changing {
		limit := w.pool.limits.commitOf(x.files)
		w.mu.Unlock()
		late := time.AfterFunc(limit, func() { w.stop(causeUnfinishedCall) })
		go func() {
			<-x.done
			late.Stop()
		}()
		return
	}
	w.doomed = true
	files, writes := w.writes()
	if !writes {
		w.mu.Unlock()
		w.stop(causeUnfinishedCall)
		return
	}
	w.mu.Unlock()
	w.pool.retire(w)
	time.AfterFunc(w.pool.limits.commitOf(files), func() { w.stop(causeUnfinishedCall) })
	x.hearing.Lock()
	defer x.hearing.Unlock()
	x.endWith(causeUnfinishedCall)
}

// endWith ends a call without an answer, unless it has ended. It is called with hearing held.
func (x *exchange) endWith(how string) {
	if !x.left {
		x.left = true
		x.lost = how
		close(x.done)
	}
}

// writes reports whether open calls change files, and how many. It is called under the lock.
func (w *worker) writes() (files int, writes bool) {
	for _, x := range w.open {
		if x.changing {
			files = files + x.files
			writes = true
		}
	}
	return files, writes
}
