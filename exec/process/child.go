// Package process starts the programs that package exec has decided to run. It is the only package that starts
// processes. It limits their output, ends them within a short grace period, and leaves behind no child, grandchild,
// goroutine or descriptor.
//
// It uses no shell. A child has only the environment and the descriptors that it is given. A whole process group is
// ended only if it is that of the embedded program: the group of the Obsidian CLI may contain the user's app.
package process

import (
	"context"
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	StopGrace = 250 * time.Millisecond // how long a child may take to end after it was asked to
	// PipeGrace is how long the pipes are read after a child has ended or was asked to: a grandchild may keep them
	// open. It is longer than StopGrace, and still ends a stopped call within its limit plus half a second.
	PipeGrace = 400 * time.Millisecond
)

// ErrFlood is the cause for stopping a child that prints more than [FloodLimit].
var ErrFlood = errors.New("output limit passed")

// Child describes a process to run.
type Child struct {
	Path, Name string // the absolute path, and the name that it is called by, as argument 0
	Args, Env  []string
	Stdin      string
	Embedded   bool                                                  // the embedded program: its whole process group may be ended
	Keep       int                                                   // bytes kept of each stream
	Capacity   func(ctx context.Context, size int64) (allowed int64) // waits for memory for a large answer, see [NewStream]; nil means unlimited
	// Hear reads the output to its end and writes the answer in it to kept. If it is nil, the output is kept as it
	// is.
	Hear  func(out io.Reader, kept *Stream)
	Ended func() // called on Linux, unless nil, once the process has ended, even if its output is not read to the end yet
}

// Kind tells how a child ended.
type Kind uint8

const (
	Exited     Kind = iota // exited by itself, see Exit
	Crashed                // ended by a signal or an exception that was not sent by this package, see How
	Lost                   // the worker that should have answered ended before it did, see How
	Stopped                // stopped by this package, see Cause
	NotStarted             // could not be started, see Cause
)

// NoExit is the exit status of a process that did not run.
const NoExit = -1

// Ending describes how a child ended.
type Ending struct {
	Stdout, Stderr *Stream
	Took           time.Duration
	Started        bool
	Held           bool // another process still had the pipes open
	Kind           Kind
	Exit           int    // exit status as a shell reports it, for Exited and Crashed
	How            string // for Crashed and Lost
	Cause          error  // for Stopped and NotStarted
}

// End sets the kind and the cause of an ending for which there is a cause.
func (e *Ending) End(kind Kind, cause error) {
	e.Kind = kind
	e.Cause = cause
}

// Run starts the child and waits for its end. It returns at most PipeGrace after ctx has ended, and leaves no
// process of ours running.
//
// The goroutine stays locked to its thread until then: Linux ends a child together with the thread that started it,
// and the runtime may end an unlocked thread.
func (c Child) Run(ctx context.Context) Ending {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e := Ending{Exit: NoExit}
	flood := func() { stop(ErrFlood) }
	var capacity func(size int64) (allowed int64)
	if c.Capacity != nil {
		capacity = func(size int64) int64 { return c.Capacity(ctx, size) }
	}
	e.Stdout = NewStream(c.Keep, flood, capacity)
	e.Stderr = NewStream(c.Keep, flood, capacity)

	outputs, err := c.outputs(&e)
	if err != nil {
		e.End(NotStarted, err)
		return e
	}
	cmd, err := c.command(outputs.contextOfCommand(ctx))
	if err != nil {
		outputs.close()
		e.End(NotStarted, err)
		return e
	}
	outputs.connect(cmd)
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	s := &stopper{cmd: cmd, embedded: c.Embedded}
	cmd.Cancel = s.ask
	begun := time.Now()
	begin := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return start(cmd, c)
	}
	if err := children.start(begin, cmd); err != nil {
		outputs.close()
		if cause := StopCause(ctx); cause != nil {
			e.End(Stopped, cause)
			return e
		}
		e.End(NotStarted, err)
		return e
	}
	e.Started = true
	isHeld := outputs.await(ctx, s, c.Ended)
	err = children.wait(cmd)
	s.done()
	e.Took = time.Since(begun)
	e.read(cmd.ProcessState, err)
	e.Held = e.Held || isHeld
	if s.isAsked() {
		if cause := StopCause(ctx); cause != nil {
			e.End(Stopped, cause)
		}
	}
	if c.Embedded && (e.Held || e.Kind == Stopped) {
		killGroup(cmd.Process.Pid)
	}
	return e
}

// outputReader passes the output of a program to hear, in the goroutine that would otherwise copy it.
type outputReader struct {
	*Stream
	hear func(out io.Reader, kept *Stream)
}

// ReadFrom implements [io.ReaderFrom], so that [io.Copy] calls it.
func (h outputReader) ReadFrom(out io.Reader) (int64, error) {
	h.hear(out, h.Stream)
	return h.Total, nil
}

// StopCause returns why ctx has ended: [ErrFlood], the end of its time, or the error of ctx. Other causes are ignored.
func StopCause(ctx context.Context) error {
	for _, cause := range []error{ErrFlood, context.DeadlineExceeded} {
		if errors.Is(context.Cause(ctx), cause) {
			return cause
		}
	}
	return ctx.Err()
}

// read sets the exit status of a process and how it ended. err is the result of waiting for it.
func (e *Ending) read(state *os.ProcessState, err error) {
	e.Held = errors.Is(err, osexec.ErrWaitDelay)
	if state == nil {
		return
	}
	e.Exit, e.How = exitOf(state)
	if e.How != "" {
		e.Kind = Crashed
	}
}

// command prepares the process: with an absolute path, a neutral working folder, the given environment, and no
// descriptors but its streams.
func (c Child) command(ctx context.Context) (*osexec.Cmd, error) {
	closeInherited()
	cmd := osexec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Args[0] = c.Name
	cmd.Env = c.Env
	// The root of the volume with the program, because the Obsidian CLI would use the vault that contains its working
	// folder.
	cmd.Dir = filepath.VolumeName(c.Path) + string(filepath.Separator)
	cmd.WaitDelay = PipeGrace
	return cmd, confine(cmd, c)
}

// stopper ends a child in two steps: it asks it to end, and kills it after a grace period.
type stopper struct {
	cmd      *osexec.Cmd
	embedded bool
	askedAt  atomic.Pointer[time.Time] // nil until the child is asked
	timer    *time.Timer
}

// isAsked reports whether the child was asked to end.
func (s *stopper) isAsked() bool { return s.askedAt.Load() != nil }

// grace returns how long the pipes of a child that has ended may still be read.
func (s *stopper) grace() time.Duration {
	if at := s.askedAt.Load(); at != nil {
		return max(0, PipeGrace-time.Since(*at))
	}
	return PipeGrace
}

// ask is called once if the context ends before the child.
func (s *stopper) ask() error {
	interrupt := interruptClient
	if s.embedded {
		interrupt = interruptEmbedded
	}
	if err := interrupt(s.cmd.Process); err != nil {
		return err
	}
	now := time.Now()
	s.askedAt.Store(&now)
	s.timer = time.AfterFunc(StopGrace, func() {
		if s.embedded {
			killGroup(s.cmd.Process.Pid)
		}
		_ = s.cmd.Process.Kill() // an error means that it has ended already
	})
	return nil
}

// done is called after Wait, when ask is no longer running.
func (s *stopper) done() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// childSet contains the children of this process that os/exec waits for. If one of them were reaped elsewhere, it
// would have no exit status.
type childSet struct {
	startMutex sync.RWMutex // held for reading while a child is started, and for writing while orphans are reaped
	pids       sync.Map     // the ids of the running children, without values
}

var children childSet

// start starts a child and records it. While startMutex is held for writing, pids contains every running child.
func (f *childSet) start(begin func() error, cmd *osexec.Cmd) error {
	f.startMutex.RLock()
	defer f.startMutex.RUnlock()
	err := begin()
	if err == nil {
		f.pids.Store(cmd.Process.Pid, nil)
	}
	return err
}

// wait waits for a child that was started with start.
func (f *childSet) wait(cmd *osexec.Cmd) error {
	err := cmd.Wait()
	f.pids.Delete(cmd.Process.Pid)
	return err
}

// Process is the resident embedded program. It ends when In is closed, when the context it was started with ends,
// when Stop is called, and when this process ends.
type Process struct {
	In  io.WriteCloser
	Out io.Reader
	PID int

	out  *os.File
	stop context.CancelFunc
	done chan struct{}
	end  Ending
	once sync.Once
}

// Start starts c and returns once it runs. Its standard error is dropped, and c.Stdin and c.Keep are ignored. The
// caller must read Out, and call Stop in the end.
func Start(ctx context.Context, c Child) (*Process, error) {
	ctx, stop := context.WithCancel(ctx)
	p := &Process{stop: stop, done: make(chan struct{})}
	stdin, in, err := os.Pipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, stdout, err := AnswerPipe()
	if err != nil {
		stdin.Close()
		in.Close()
		stop()
		return nil, err
	}
	p.In = in
	p.Out = out
	p.out = out

	started := make(chan error)
	go p.live(ctx, c, stdin, stdout, started)
	if err := <-started; err != nil {
		stop()
		p.Close()
		return nil, err
	}
	return p, nil
}

// live starts c with the given streams, sends the result to started, and waits for the end of the process. It does so
// on one thread, see [Child.Run].
func (p *Process) live(ctx context.Context, c Child, stdin, stdout *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	s := &stopper{embedded: c.Embedded}
	cmd, err := c.command(ctx)
	if err == nil {
		s.cmd = cmd
		cmd.Cancel = s.ask
		cmd.Stdin = stdin
		cmd.Stdout = stdout
		err = children.start(func() error { return start(cmd, c) }, cmd)
	}
	stdin.Close()
	stdout.Close()
	if err == nil {
		p.PID = cmd.Process.Pid
	}
	started <- err
	if err != nil {
		s.done() // it may have been asked to end before its start failed
		return
	}
	err = children.wait(cmd)
	p.end.read(cmd.ProcessState, err)
	s.done()
	if s.isAsked() {
		p.end.End(Stopped, context.Canceled)
	}
}

// AnswerPipe returns the ends of a pipe through which a process answers. Its buffer is enlarged if the system allows
// it.
func AnswerPipe() (out, stdout *os.File, err error) {
	out, stdout, err = os.Pipe()
	if err == nil {
		widen(out)
	}
	return out, stdout, err
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ending waits for the end of the process and returns how it ended. Its streams are nil.
func (p *Process) Ending() Ending {
	<-p.done
	return p.end
}

// Stop ends the process and returns when it has ended. A process that has ended already is left alone.
func (p *Process) Stop() {
	p.stop()
	<-p.done
	p.Close()
}

// KillGroup kills the processes that the process started and left running.
func (p *Process) KillGroup() { killGroup(p.PID) }

// Close stops the process and closes the pipes, without waiting for its end. It may be called more than once.
func (p *Process) Close() {
	p.once.Do(func() {
		p.stop()
		_ = p.In.Close() // the caller may have closed it already
		_ = p.out.Close()
	})
}
