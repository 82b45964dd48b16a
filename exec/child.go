package exec

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// stopGrace is how long a child may take to end after it was asked to.
	stopGrace = 250 * time.Millisecond
	// pipeGrace is how long the pipes are read after a child has ended or was
	// asked to: a process that it started may hold them for ever. It is longer
	// than stopGrace and keeps a stopped call within its limit and half a second.
	pipeGrace = 400 * time.Millisecond
)

var errFlood = errors.New("output limit passed")

// child is one process to be run.
type child struct {
	path, name string
	args, env  []string
	stdin      string
	embedded   bool // our own program: its whole group may be stopped
	keep       int
}

// ending is how a child ended. With stopped or broken set, exit says nothing.
type ending struct {
	stdout, stderr *stream
	took           time.Duration
	started        bool
	exit           int
	crash          string // the signal or the exception that nobody here sent
	lost           string // how the worker ended that should have answered
	held           bool   // another process still held the pipes
	stopped        error  // why it was stopped by us
	broken         error  // why it could not be started
}

// run starts the child and waits for its end. It comes back at most pipeGrace
// after ctx has ended, with no process of ours left.
//
// The goroutine keeps its thread for that time. On Linux the kernel ends a
// child together with the thread that started it, not with the process, and the
// runtime ends a thread whose goroutine exits while locked to it. A thread that
// is locked here cannot become such a one before the child has ended.
func (c child) run(ctx context.Context) ending {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e := ending{exit: noExit}
	hold := holdOf(ctx)
	room := func() bool { return hold.take(ctx) }
	e.stdout = &stream{keep: c.keep, limit: floodLimit, flood: func() { stop(errFlood) }, room: room}
	e.stderr = &stream{keep: c.keep, limit: floodLimit, flood: func() { stop(errFlood) }, room: room}

	cmd, err := c.command(ctx)
	if err != nil {
		e.broken = err
		return e
	}
	cmd.Stdout, cmd.Stderr = e.stdout, e.stderr
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	s := &stopper{cmd: cmd, embedded: c.embedded}
	cmd.Cancel = s.ask
	begun := time.Now()
	if err := children.start(func() error { return start(cmd, c.embedded) }, cmd); err != nil {
		if e.stopped = stopCause(ctx); e.stopped == nil {
			e.broken = err
		}
		return e
	}
	e.started = true
	err = children.wait(cmd)
	s.done()
	e.took = time.Since(begun)
	e.read(cmd.ProcessState, err)
	if s.asked.Load() {
		e.stopped = stopCause(ctx)
	}
	if c.embedded && (e.held || e.stopped != nil) {
		killGroup(cmd.Process.Pid)
	}
	return e
}

// stopCause tells our own limit from the end of the call. The cause that a caller may
// have attached is its own affair.
func stopCause(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errFlood) {
		return errFlood
	}
	return ctx.Err()
}

func (e *ending) read(state *os.ProcessState, err error) {
	e.held = errors.Is(err, osexec.ErrWaitDelay)
	if state != nil {
		e.exit, e.crash = exitOf(state)
	}
}

// command prepares the process: an absolute path, a neutral folder, the given
// environment and no other descriptors than its streams.
func (c child) command(ctx context.Context) (*osexec.Cmd, error) {
	closeInherited()
	cmd := osexec.CommandContext(ctx, c.path, c.args...)
	cmd.Args[0] = c.name
	cmd.Env = c.env
	cmd.Dir = neutralFolder(c.path)
	cmd.WaitDelay = pipeGrace
	return cmd, confine(cmd, c.embedded)
}

// stopper ends a child in two steps: it is asked, and after a grace killed.
type stopper struct {
	cmd      *osexec.Cmd
	embedded bool
	asked    atomic.Bool
	timer    *time.Timer
}

// ask is called once, by os/exec, when the context ends before the child.
func (s *stopper) ask() error {
	if err := interrupt(s.cmd.Process, s.embedded); err != nil {
		return err
	}
	s.asked.Store(true)
	s.timer = time.AfterFunc(stopGrace, func() {
		if s.embedded {
			killGroup(s.cmd.Process.Pid)
		}
		_ = s.cmd.Process.Kill() // it may have ended meanwhile, which is the aim
	})
	return nil
}

// done is called after Wait, when ask can no longer be running.
func (s *stopper) done() {
	if s.timer != nil {
		s.timer.Stop()
	}
}
