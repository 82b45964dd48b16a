package exec

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"vaultwicket/exec/process"
	"vaultwicket/policy"
)

// Peer is our own binary as an MCP server, with us as its client. It ends when
// In is closed, with the context it was started with, by Stop, and with this
// process.
type Peer struct {
	In  io.WriteCloser
	Out io.Reader

	process *process.Process
	path    string
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
	p, err := process.Start(ctx, process.Child{Path: self, Name: self, Args: permit.Args(), Env: r.env(embeddedBackend), Embedded: true})
	if err != nil {
		return nil, cannotStart(self, err)
	}
	return &Peer{In: p.In, Out: p.Out, process: p, path: self}, nil
}

// Wait waits for the end of the server and closes the pipes: read Out to its
// end before. The error is nil when the server ended with status 0 or was
// stopped by us, else an [*Unavailable] with CodeCrashed.
func (p *Peer) Wait() error {
	end := p.process.Ending()
	p.process.Close()
	switch {
	case end.Kind == process.Stopped, end.Kind == process.Exited && end.Exit == 0:
		return nil
	case end.Kind == process.Crashed:
		return crashed(p.path, end.How, false)
	}
	return &Unavailable{code: CodeCrashed, program: p.path, reason: fmt.Sprintf("ended as a server with status %d", end.Exit),
		hint: "the user can look for its messages in the log of the gateway"}
}

// Stop ends the server and comes back when it is gone. A server that has ended
// is left alone.
func (p *Peer) Stop() { p.process.Stop() }
