package process

import (
	"context"
	"io"
	"os"
	"runtime"
	"sync"
)

// Process is the resident embedded program or a server of this binary. It ends when In is
// closed, with the context it was started with, by Stop, and with this process.
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

// Start starts c and returns when it runs. Its standard error is dropped, and c.Stdin
// and c.Keep are not used. The caller reads Out and calls Stop in the end.
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
	p.In, p.Out, p.out = in, out, out

	started := make(chan error)
	go func() { // starts the server and waits for its end on one thread, see [Child.Run]
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		cmd, err := c.command(ctx)
		if err == nil {
			s := &stopper{cmd: cmd, embedded: c.Embedded}
			cmd.Cancel = s.ask
			cmd.Stdin, cmd.Stdout = stdin, stdout
			err = children.start(func() error { return start(cmd, c.Embedded) }, cmd)
			defer func() {
				s.done()
				if s.asked.Load() {
					p.end.End(Stopped, context.Canceled)
				}
			}()
		}
		stdin.Close()
		stdout.Close()
		if err == nil {
			p.PID = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			err = children.wait(cmd)
			p.end.read(cmd.ProcessState, err)
		}
	}()
	if err := <-started; err != nil {
		stop()
		p.Close()
		return nil, err
	}
	return p, nil
}

// AnswerPipe returns the ends of a pipe through which a process answers. Its buffer is large
// where the system allows it.
func AnswerPipe() (out, stdout *os.File, err error) {
	out, stdout, err = os.Pipe()
	if err == nil {
		widen(out)
	}
	return out, stdout, err
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ending waits for the end of the process and says how it ended. Its streams are nil.
func (p *Process) Ending() Ending {
	<-p.done
	return p.end
}

// Stop ends the process and returns when it is gone. One that has ended is left alone.
func (p *Process) Stop() {
	p.stop()
	<-p.done
	p.Close()
}

// KillGroup kills the processes that the process has started and left running.
func (p *Process) KillGroup() { killGroup(p.PID) }

// Close stops the process and closes the pipes, without waiting for its end. It may be called more than once.
func (p *Process) Close() {
	p.once.Do(func() {
		p.stop()
		_ = p.In.Close() // the caller may have closed it already
		_ = p.out.Close()
	})
}
