package exec

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"vaultwicket/policy"
)

// Peer is our own binary as an MCP server, with us as its client. It ends when
// In is closed, with the context it was started with, by Stop, and with this
// process.
type Peer struct {
	In  io.WriteCloser
	Out io.Reader

	out  *os.File
	stop context.CancelFunc
	done chan struct{}
	end  ending
	path string
	pid  int
	once sync.Once
}

// Serve starts a server. The error is [ErrNoPermit], or an [*Unavailable] when
// this binary cannot be started.
//
// What the server prints on standard error is dropped. The caller reads Out and
// calls Wait or Stop in the end.
func (r *Runner) Serve(ctx context.Context, permit policy.ServerPermit) (*Peer, error) {
	if !permit.Valid() {
		return nil, ErrNoPermit
	}
	self := r.config.Self
	if !filepath.IsAbs(self) {
		return nil, selfNotAbsolute(self)
	}
	return startPeer(ctx, child{path: self, name: self, args: permit.Args(), env: r.env(embeddedBackend), embedded: true})
}

// startPeer starts our own binary and comes back when it runs. The error is an
// [*Unavailable].
func startPeer(ctx context.Context, c child) (*Peer, error) {
	ctx, stop := context.WithCancel(ctx)
	p := &Peer{stop: stop, done: make(chan struct{}), path: c.path}
	theirs, err := p.connect()
	if err != nil {
		stop()
		return nil, cannotStart(c.path, err)
	}
	started := make(chan error)
	go p.live(ctx, c, theirs, started)
	if err := <-started; err != nil {
		stop()
		p.closePipes()
		return nil, cannotStart(c.path, err)
	}
	return p, nil
}

// connect makes the two pipes and returns the ends of the server.
func (p *Peer) connect() (theirs [2]*os.File, err error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		stdin.Close()
		in.Close()
		return theirs, err
	}
	p.In, p.Out, p.out = in, out, out
	return [2]*os.File{stdin, stdout}, nil
}

// live starts the server and stays with it on one thread, for the reason given
// at child.run.
func (p *Peer) live(ctx context.Context, c child, theirs [2]*os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	cmd, err := c.command(ctx)
	if err == nil {
		s := &stopper{cmd: cmd, embedded: c.embedded}
		cmd.Cancel = s.ask
		cmd.Stdin, cmd.Stdout = theirs[0], theirs[1]
		err = children.start(func() error { return start(cmd, c.embedded) }, cmd)
		defer func() { s.done(); p.end.asked(s) }()
	}
	theirs[0].Close()
	theirs[1].Close()
	if err == nil {
		p.pid = cmd.Process.Pid
	}
	started <- err
	if err == nil {
		err = children.wait(cmd)
		p.end.read(cmd.ProcessState, err)
	}
}

// asked notes that the server was stopped by us.
func (e *ending) asked(s *stopper) {
	if s.asked.Load() {
		e.stopped = context.Canceled
	}
}

// Wait waits for the end of the server and closes the pipes: read Out to its
// end before. The error is nil when the server ended with status 0 or was
// stopped by us, else an [*Unavailable] with CodeCrashed.
func (p *Peer) Wait() error {
	<-p.done
	p.closePipes()
	switch {
	case p.end.stopped != nil || p.end.crash == "" && p.end.exit == 0:
		return nil
	case p.end.crash != "":
		return crashed(p.path, p.end.crash, false)
	}
	return &Unavailable{code: CodeCrashed, program: p.path, reason: fmt.Sprintf("ended as a server with status %d", p.end.exit),
		hint: "the user can look for its messages in the log of the gateway"}
}

// Stop ends the server and comes back when it is gone. A server that has ended
// is left alone.
func (p *Peer) Stop() {
	p.stop()
	<-p.done
	p.closePipes()
}

// closePipes closes our ends, once.
func (p *Peer) closePipes() {
	p.once.Do(func() {
		p.stop()
		_ = p.In.Close() // the caller may have closed it already
		_ = p.out.Close()
	})
}
