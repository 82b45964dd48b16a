// Package exec runs permitted calls. Only exec/process below it starts processes, and it imports
// policy so that nothing runs without a decision: it runs what a [policy.Permit] says, and our own
// question for the version of the client needs a permit as well.
//
// It uses no shell, does not look for programs in the working folder or in a vault, and does not
// pass on the environment: a child gets only the variables named in env.go. Every call ends within
// its limit plus a short grace, with bounded memory whatever the child prints. It never kills the
// Obsidian app: only the small client process is stopped, and a whole process group only if it is
// our own program.
//
// The meaning of an answer is decided by the texts that were recorded from the client and not by
// its exit status, which is 0 for nearly every error (1.12.7 and 1.13.7). The texts are in
// texts.go, the rules in classify.go.
package exec

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/exec/process"
	"vaultwicket/policy"
)

const (
	defaultCLI     = "obsidian"       // the name under which the app registers its client
	defaultTimeout = 15 * time.Second // a call takes well under a second; a dialog in the app holds one for ever
	defaultKept    = 16 << 20         // more than any note; an agent reads a fraction of it
	minKept        = 1 << 10          // error texts and facts must stay whole
)

// Config configures a [Runner]: what it may start, and its limits.
type Config struct {
	// CLI is the name or the absolute path of the official CLI; "" means
	// "obsidian". A name is looked up, a path is taken alone.
	CLI string
	// Self is the absolute path of this binary, for the embedded program and
	// the demo server.
	Self string
	// Timeout is the limit of one call, with the time in the queue; 0 means 15
	// seconds.
	Timeout time.Duration
	// MaxKept is how many bytes are kept of each stream; 0 means 16 MiB. What
	// is between the head and the tail of a longer one is read and dropped.
	MaxKept int
	// Vaults returns the folders in which no program may be. It is called when
	// a program is inspected, so that it may itself look at the disk; nil means
	// none.
	Vaults func() []string
	// Resident keeps the embedded program running, one process a vault, in
	// place of one process a call. Whoever sets it calls Close in the end.
	Resident bool
	// Session names the session on whose behalf notes are changed, for the
	// journal.
	Session string
	// DayStart is the hour at which a day begins for the embedded program, 0 for midnight.
	DayStart int
	// Watch is told of every program that is asked; nil is nobody.
	Watch Watcher
	// Getenv is os.Getenv when nil.
	Getenv func(string) string
}

// Runner starts programs. It is safe for use by many goroutines; calls to the
// app are in one queue, because the app was seen to swap the answers of calls
// that ran at once.
type Runner struct {
	config Config
	client client
	queue  chan struct{} // holds the one call the app works on
	large  chan struct{} // holds the one call that has a large answer, see Hold
	env    func(backend) []string
	pool   *pool // of resident workers

	processes, queued atomic.Int64 // see Children
}

// New returns a Runner. It only allocates and starts nothing.
func New(c Config) *Runner {
	if c.CLI == "" {
		c.CLI = defaultCLI
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxKept <= 0 {
		c.MaxKept = defaultKept
	}
	c.MaxKept = max(c.MaxKept, minKept)
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	r := &Runner{config: c, queue: make(chan struct{}, 1), large: make(chan struct{}, 1), pool: newPool(c.MaxKept)}
	r.env = r.environments()
	return r
}

// Timeout returns the limit of one call.
func (r *Runner) Timeout() time.Duration { return r.config.Timeout }

// Close ends resident programs and returns when they are gone. A call in flight ends with an
// error, and so does every later one of a resident program. It may be called more than once.
func (r *Runner) Close() { r.pool.close() }

// environments computes the environment of each kind of program once, at its
// first use.
func (r *Runner) environments() func(backend) []string {
	app := sync.OnceValue(func() []string { return appEnvironment(r.config.Getenv) })
	embedded := sync.OnceValue(func() []string { return embeddedEnvironment(r.config.Getenv, r.config.Session, r.config.DayStart) })
	return func(b backend) []string {
		if b == embeddedBackend {
			return embedded()
		}
		return app()
	}
}

// Outcome is the result of a permitted call. With a nil error the call succeeded if Failure is
// nil, otherwise Failure is the answer of the client. With an error it has what was collected
// until then.
type Outcome struct {
	// Stdout and Stderr are what the program printed, cleaned of noise. They are
	// bytes as they came: nothing makes sure that they are valid UTF-8.
	Stdout, Stderr string
	// ExitCode is the exit status, 128 and the number of the signal for a
	// program that died by one, and -1 when no process ran.
	ExitCode int
	// Duration is how long the program ran, both times when it was asked again.
	Duration time.Duration
	// Total is how long Stdout would be if nothing had been dropped. Cut says
	// that its middle was dropped, at the offset CutAt.
	Total int64
	Cut   bool
	CutAt int
	// Notices are remarks for people: noise that was taken out of the streams,
	// the sentence of an empty answer, an outdated installer.
	Notices []string
	// Path, Hash and Before are what the embedded program reported: the note,
	// the hash of its content and the hash it had before. The app reports none.
	// Change is the entry of the journal that can take the change back.
	Path, Hash, Before, Change string
	// Added and Removed are the lines of all notes that a change made and took away;
	// Loses says that it took away so much that it was destructive.
	Added, Removed int
	Destructive    bool
	// Image is the media type of an image, whose bytes are the last line of Stdout in
	// base64; "" for other answers.
	Image string
	// State names what the answer of the embedded program was made from, "" where it cannot
	// say. Unchanged says that it is the state of [UnlessState], and nothing was answered.
	State     string
	Unchanged bool
	// Kept is the answer of which Stdout is the first part, see [FirstPart]; nil where
	// Stdout is all of it.
	Kept *KeptAnswer
	// Failure is nil when the call did what it was asked to.
	Failure *Failure
}

// notRun is the outcome of a call for which no process was started.
func notRun() Outcome { return Outcome{ExitCode: process.NoExit} }

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

// Stop ends the server and returns when it is gone. It does nothing if the server has ended.
func (p *Peer) Stop() { p.process.Stop() }

// Children counts the running processes. It may be called at any time, and waits for no call.
type Children struct {
	// Processes are programs that were started for one call each.
	Processes int
	// Workers are resident programs, those included that begin or end.
	Workers int
	// WorkerMemory is the resident memory of the workers together in bytes, 0
	// where it is not known: it is on Linux.
	WorkerMemory int64
	// Waiting are calls in the queue of the app.
	Waiting int
}

// Children counts the running processes. It may be called at any time, and waits for no call.
func (r *Runner) Children() Children {
	c := Children{Processes: int(r.processes.Load()), Waiting: int(r.queued.Load())}
	for _, pid := range r.pool.pids() {
		c.Workers++
		if pid > 0 {
			c.WorkerMemory += process.MemoryOf(pid)
		}
	}
	return c
}

// pids returns the process of each worker, 0 for one that takes no requests yet.
func (p *pool) pids() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pids []int
	for w := range p.all {
		pid := 0
		select {
		case <-w.begun:
			pid = w.pid
		default:
		}
		pids = append(pids, pid)
	}
	return pids
}

// ReapOrphans reaps processes that the Obsidian CLI has started and left behind, until
// ctx ends. Only the first process of a Linux container gets such ones; in another it
// returns at once.
func ReapOrphans(ctx context.Context) { process.ReapOrphans(ctx) }
