// Package exec runs permitted calls. It is the only package that starts a
// process, and it imports policy so that nothing can be run unjudged: what is
// run is what a [policy.Permit] says, and our own question for the version of
// the client needs a permit as well.
//
// It uses no shell, does not look for programs in the working folder or in a
// vault, and does not pass on the environment: a child sees only the variables
// named in env.go. Every call ends within its limit plus a short grace, with
// bounded memory whatever the child prints. It never kills the Obsidian app:
// only the small client process is stopped, and a whole process group only when
// it is our own program.
//
// What an answer means is told by the texts that were recorded from the client
// and not by its exit status, which is 0 for nearly every error (1.12.7 and
// 1.13.7). Those texts are in texts.go, the rules in classify.go.
package exec

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultCLI     = "obsidian"       // the name under which the app registers its client
	defaultTimeout = 15 * time.Second // a call takes well under a second; a dialog in the app holds one for ever
	defaultKept    = 16 << 20         // more than any note; an agent reads a fraction of it
	minKept        = 1 << 10          // error texts and facts must stay whole
)

// Config says what a [Runner] may start and within which limits.
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

// New returns a Runner. It only allocates: nothing is looked up or started.
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

// Close ends what was kept running, and comes back when it is gone. A call that
// is open ends with an error, and so does every later one of a resident program.
// It may be called more than once.
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
