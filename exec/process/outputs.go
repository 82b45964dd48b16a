package process

import (
	"context"
	"io"
	osexec "os/exec"
)

// outputs reads what a child prints, until the child has ended.
type outputs interface {
	// contextOfCommand returns the context for os/exec, which asks the child to end when that context ends. ctx is
	// the context of the child.
	contextOfCommand(ctx context.Context) context.Context
	// connect sets the streams of cmd, which is not started yet.
	connect(cmd *osexec.Cmd)
	// await waits for the end of the child, which it does not reap, and then calls ended, unless that is nil. Output
	// that follows is read during the grace of s. isHeld reports that another process had the pipes open for
	// longer. The child is asked to end when ctx ends.
	await(ctx context.Context, s *stopper, ended func()) (isHeld bool)
	// close closes the pipes of a child that was not started.
	close()
}

// copiedOutputs leaves the reading, the waiting and the stopping to os/exec, which starts a goroutine for each. It
// reports by itself if the pipes are held.
type copiedOutputs struct {
	stdout io.Writer
	stderr io.Writer
}

// copied returns the outputs of c that are copied into the streams of e.
func (c Child) copied(e *Ending) outputs {
	if c.Hear != nil {
		return copiedOutputs{stdout: outputReader{e.Stdout, c.Hear}, stderr: e.Stderr}
	}
	return copiedOutputs{stdout: e.Stdout, stderr: e.Stderr}
}

func (copiedOutputs) contextOfCommand(ctx context.Context) context.Context { return ctx }

func (o copiedOutputs) connect(cmd *osexec.Cmd) {
	cmd.Stdout = o.stdout
	cmd.Stderr = o.stderr
}

func (copiedOutputs) await(_ context.Context, s *stopper, ended func()) (isHeld bool) {
	if ended != nil && awaitEnd(s.cmd.Process.Pid) {
		ended()
	}
	return false
}

func (copiedOutputs) close() {}
