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

// exchange is a call in flight on a worker. Until done is closed it is owned by the goroutine that reads from the
// worker, then by the call.
type exchange struct {
	receiver
	id        uint32
	sent      int64         // bytes of output received so far
	more      chan struct{} // receives a value when the worker has sent all that it was allowed
	allowed   int64         // bytes of output that the worker may send; guarded by worker.mu
	lost      string        // how the worker ended, if it did so before the call
	done      chan struct{}
	writes    bool // the call may begin to change files
	changing  bool // the call has begun to change files and is no longer cancelled; guarded by worker.mu
	files     int  // how many files it changes
	cancelled bool // the worker has confirmed the cancellation; guarded by worker.mu

	frameMu sync.Mutex // held while a frame is processed
	left    bool       // done is closed, and further frames are dropped; guarded by frameMu
}

// ask sends one command to the worker and waits for its answer. It returns at most half a second after ctx has
// ended. A call that has not ended by then continues for a while without a caller, see lateLimit. A call that has
// begun to change files is waited for, see [workerLimits.commitOf]: it is not interrupted. If unrun is true nothing
// was started, and another worker may be asked.
func (w *worker) ask(ctx context.Context, command Command) (e process.Ending, reply protocol.Reply, unrun bool) {
	e = w.pool.notSent()
	unrun, e.Kind, e.Cause = w.ready(ctx)
	if unrun || e.Kind != process.Exited {
		return e, reply, unrun
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	x := &exchange{
		receiver: receiver{stdout: e.Stdout, tell: protocol.ProgressOf(ctx)},
		more:     make(chan struct{}, 1),
		allowed:  protocol.Window,
		done:     make(chan struct{}),
		writes:   command.request.Write.Allowed,
	}
	x.stdout.Flood = func() { stop(process.ErrFlood) }
	if !w.register(x) { // the worker has ended, and its slots no longer count
		return e, reply, true
	}
	begun := time.Now()
	inTime := context.AfterFunc(ctx, func() { w.cancelCall(x) })
	started, err := w.send(ctx, x, command)
	w.await(ctx, x, command)
	e.Took = time.Since(begun)
	w.mu.Lock()
	isChanging := x.changing
	w.mu.Unlock()
	isLost := x.lost != ""
	e.Started = started
	if !isLost || x.lost == causeUnfinishedCall { // then everything that the worker sent has arrived
		e.Started = isChanging
	}
	isCommitted := isChanging && !isLost
	stopped := !inTime() && !isCommitted
	switch {
	case isLost:
		e.Kind = process.Lost
		e.How = x.lost
	case !x.reply.Unrun:
		e.Exit = int(x.reply.Status)
	}
	neverSent := isLost && !started && err == nil
	unrun = x.reply.Unrun || neverSent
	switch {
	case err != nil:
		e.End(process.NotStarted, err)
	case stopped:
		e.End(process.Stopped, process.StopCause(ctx))
	}
	return e, x.reply, unrun && !stopped
}

// register gives the call an id and adds it to the open calls. It returns false if the worker has ended.
func (w *worker) register(x *exchange) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		return false
	}
	w.last++
	x.id = w.last
	w.open[x.id] = x
	return true
}

// await returns when the call has ended. It waits for memory before it lets the worker send more of a large answer.
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
		case <-x.more: // its stream is not written to until the worker is allowed to continue
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
		_, _ = w.write(x, func(b []byte) ([]byte, bool) { // if this fails, the worker ends
			return protocol.AppendMore(b, x.id, credit), true
		})
	}
}

// ready waits until the worker accepts requests. A worker that does not start within the time limit of a call is
// stopped, unless it is given no processor; calls that waited for it too may use another one.
func (w *worker) ready(ctx context.Context) (unrun bool, kind process.Kind, cause error) {
	select {
	case <-w.begun:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.mu.Lock()
			since := w.start
			w.mu.Unlock()
			w.stopUnlessBegun(since)
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
	case w.slots <- struct{}{}: // released when the worker has answered
		return false, process.Exited, nil
	case <-w.gone:
		return true, process.Lost, nil
	case <-ctx.Done():
		return false, process.Stopped, ctx.Err()
	}
}

// send sends the request and its input. The error means that the command does not fit into a request. If the worker
// no longer reads, the call ends when the worker does.
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
	isInputSent := command.StdinParam == "" || input == ""
	if !started || isInputSent {
		return started, err
	}
	for err == nil && ctx.Err() == nil {
		isLast := input == "" // an empty piece ends the input
		_, err = w.write(x, func(b []byte) ([]byte, bool) {
			n := min(len(input), protocol.MaxChunk)
			b = protocol.Append(b, protocol.Frame{Kind: protocol.KindInput, ID: x.id, Payload: []byte(input[:n])})
			input = input[n:]
			return b, true
		})
		if isLast {
			break
		}
	}
	return started, err
}

// write sends the frames that fill appends, in a single write. If fill reports that they do not fit, nothing is sent
// and the call is removed.
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

// causeUnfinishedCall is the reason for stopping a worker that did not end a call in time.
const causeUnfinishedCall = "was stopped because a call did not end"

// cancelCall cancels a call. It returns when the worker has ended the call, when the worker itself has ended, or
// when the call was abandoned after the grace period.
func (w *worker) cancelCall(x *exchange) {
	select {
	case <-x.done:
		return
	default:
	}
	late := time.AfterFunc(cancelGrace, func() {
		if w.abandonConfirmed(x) {
			return
		}
		since := w.pool.listen(w.pid)
		time.AfterFunc(confirmGrace, func() { w.giveUpOn(x, since) })
	})
	defer late.Stop()
	_, _ = w.write(x, func(b []byte) ([]byte, bool) {
		return protocol.Append(b, protocol.Frame{Kind: protocol.KindCancel, ID: x.id}), true
	})
	<-x.done
}

// giveUpOn ends the waiting for a call that did not end within the grace periods after its cancellation.
func (w *worker) giveUpOn(x *exchange, since silence) {
	if w.abandonConfirmed(x) {
		return
	}
	if w.mayWrite(x) {
		w.stopUnlessStarved(x, since, w.pool.limits.unheard)
		return
	}
	w.abandonUnconfirmed(x, since)
}

// silence is a time in which the process of a worker has said nothing. The zero silence is that of no process.
type silence struct {
	pid    int
	from   time.Time
	before process.Demand // at its beginning
}

// listen begins a silence of a process.
func (p *pool) listen(pid int) silence {
	before, _ := p.demandOf(pid)
	return silence{pid, time.Now(), before}
}

// isStarved reports whether a process is silent because other programs have the processors: it would run, and was
// given less than half of the time of one processor. One that hangs does not want to run, and one that computes
// without end gets more of a processor that is free. On systems where that is unknown it is false.
func (p *pool) isStarved(since silence) bool {
	if since.pid == 0 {
		return false
	}
	now, isKnown := p.demandOf(since.pid)
	return isKnown && now.IsRunnable && now.Used-since.before.Used < time.Since(since.from)/2
}

// stopUnlessStarved calls [worker.stopOverdue] once the worker is not starved any more and still silent, or after the
// longest time of silence.
func (w *worker) stopUnlessStarved(x *exchange, since silence, longest time.Duration) {
	if w.abandonConfirmed(x) {
		return
	}
	if time.Since(since.from) < longest && w.pool.isStarved(since) {
		time.AfterFunc(confirmGrace, func() { w.stopUnlessStarved(x, since, longest) })
		return
	}
	w.stopOverdue(x)
}

// The time that a call may take to change files: commitLimit, plus commitPerFile for each file.
const (
	commitLimit   = 30 * time.Second
	commitPerFile = 20 * time.Millisecond
)

// abandonConfirmed stops waiting for a call whose cancellation the worker has confirmed but which has not ended in
// time. On a busy machine that is no error. It reports whether the call was abandoned. The worker continues with its
// other calls. If the call does not end at all, the worker gets no new calls, and is stopped once the others are
// done.
func (w *worker) abandonConfirmed(x *exchange) bool {
	w.mu.Lock()
	isConfirmed := w.open[x.id] == x && x.cancelled
	w.mu.Unlock()
	if !isConfirmed {
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
	x.frameMu.Lock()
	defer x.frameMu.Unlock()
	x.finishWithout("")
	return true
}

// mayWrite reports whether a call changes files or may begin to.
func (w *worker) mayWrite(x *exchange) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return x.writes || x.changing
}

// abandonUnconfirmed stops waiting for a read-only call whose cancellation the worker has not even confirmed in
// time. On a busy machine it may not have been given a processor yet. The worker is stopped only if it stays silent
// without being starved.
func (w *worker) abandonUnconfirmed(x *exchange, since silence) {
	x.frameMu.Lock()
	x.finishWithout("")
	x.frameMu.Unlock()
	time.AfterFunc(w.pool.limits.unheard, func() {
		w.stopUnlessStarved(x, since, w.pool.limits.late)
	})
}

// stopOverdue ends a call that the worker neither ended nor confirmed as cancelled in time, and the worker with it:
// at once, or after the calls in flight that write. A call that writes itself gets the time for that.
func (w *worker) stopOverdue(x *exchange) {
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
	x.frameMu.Lock()
	defer x.frameMu.Unlock()
	x.finishWithout(causeUnfinishedCall)
}

// finishWithout ends a call without an answer, unless it has ended. how says how the worker ended, "" if it did not.
// The caller holds x.frameMu.
func (x *exchange) finishWithout(how string) {
	if !x.left {
		x.left = true
		x.lost = how
		close(x.done)
	}
}

// writes reports whether open calls change files, and how many. The caller holds w.mu.
func (w *worker) writes() (files int, writes bool) {
	for _, x := range w.open {
		if x.changing {
			files += x.files
			writes = true
		}
	}
	return files, writes
}
