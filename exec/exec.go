// Package exec runs permitted calls. Processes are started only by its subpackage exec/process. It imports policy so
// that nothing runs without a decision: it runs what a [policy.Permit] allows, and even the version probe needs a
// permit.
//
// It uses no shell, does not search for programs in the working folder or in a vault, and does not pass on the
// environment: a child gets only the variables named in program.go. Every call ends within its limit plus a short
// grace, with bounded memory. It never kills the Obsidian app: it stops only the small Obsidian CLI process, and
// kills a whole process group only for the embedded program.
//
// An answer is classified by texts recorded from the Obsidian CLI (texts.go, classify.go) and not by its exit status,
// which is 0 for nearly every error (1.12.7 and 1.13.7).
package exec

import (
	"context"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

const (
	defaultCLI     = "obsidian"       // the name under which the app registers its CLI
	defaultTimeout = 15 * time.Second // a call takes well under a second, unless a dialog in the app blocks it
	defaultKept    = 16 << 20         // more than any note; an agent reads a fraction of it
	minKept        = 1 << 10          // error texts and facts must be complete
)

// Config configures a [Runner]: what it may start, and its limits.
type Config struct {
	// CLI is the name or the absolute path of the official CLI, "" for "obsidian". A name is looked up in PATH and in
	// the folders of the app; a path is used as it is.
	CLI        string
	Self       string          // the absolute path of this binary, for the embedded program
	Timeout    time.Duration   // time limit of one call, including its time in the queue; 0 means 15 seconds
	MaxKept    int             // maximum bytes kept of each stream; the middle of longer ones is dropped; 0 means 16 MiB
	Vaults     func() []string // returns the folders that must not contain a program, each time one is inspected; nil means none
	Resident   bool            // keeps one resident process of the embedded program per vault; the caller must then call Close
	Session    string          // the session that changes notes, for the journal
	DayStart   int             // the hour at which a day begins for the embedded program, 0 for midnight
	Embeddings Embeddings
	SecretsKey func() []byte       // returns the key for the marks of secrets; nil means a random one for this process
	Watch      Watcher             // nil for none
	Getenv     func(string) string // os.Getenv when nil
}

// Runner starts programs. It is safe for concurrent use. Calls to the app run one at a time, because the app was
// seen to swap the answers of concurrent calls.
type Runner struct {
	config Config
	client client
	// marker and strict return what replaces secrets by marks, see [Runner.Marker].
	marker, strict func() *guard.Marker
	queue          chan struct{} // semaphore for the app
	middle, large  *shares.Line  // for answers of that size, see Hold
	env            func(backend) []string
	pool           *pool         // resident workers
	narrowed       narrowedCache // answers to protocol.AskNarrowed

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
	limits := workerLimits{
		idle:        maxIdle,
		checkHealth: healthInterval,
		retireAbove: memoryRetire,
		stopAbove:   memoryStop,
		commit:      commitLimit,
		perFile:     commitPerFile,
		late:        lateLimit,
		unheard:     unheardLimit,
	}
	r := &Runner{
		config:   c,
		narrowed: narrowedCache{getenv: c.Getenv},
		queue:    make(chan struct{}, 1),
		middle:   shares.NewLine(maxMediumAnswers),
		large:    shares.NewLine(1),
		pool:     &pool{keep: c.MaxKept, limits: limits, demandOf: process.DemandOf},
	}
	// The environment of each kind of program is computed once, at its first use.
	app := sync.OnceValue(func() []string {
		env := pick(c.Getenv, sharedVariables, appVariables)
		// Launchers that are scripts search PATH for their tools.
		if path := absoluteEntries(c.Getenv("PATH")); len(path) > 0 {
			env = append(env, "PATH="+strings.Join(path, string(os.PathListSeparator)))
		}
		return env
	})
	embedded := sync.OnceValue(func() []string {
		env := append(pick(c.Getenv, sharedVariables, embeddedVariables), parentVariable+"="+strconv.Itoa(os.Getpid()))
		if c.Session != "" {
			env = append(env, sessionVariable+"="+c.Session)
		}
		if c.DayStart > 0 {
			env = append(env, dayStartVariable+"="+strconv.Itoa(c.DayStart))
		}
		return env
	})
	r.env = func(b backend) []string {
		if b == embeddedBackend {
			return embedded()
		}
		return app()
	}
	key := sync.OnceValue(func() []byte {
		if c.SecretsKey == nil {
			return []byte(rand.Text())
		}
		return c.SecretsKey()
	})
	r.marker = sync.OnceValue(func() *guard.Marker { return guard.NewMarker(key(), false) })
	r.strict = sync.OnceValue(func() *guard.Marker { return guard.NewMarker(key(), true) })
	return r
}

// Embeddings is a server that computes embedding vectors of texts for the embedded program. The zero value means
// none.
type Embeddings struct {
	Server    string // its address, a space, and the name of a model
	KeyFile   string // file with its API key, "" for none
	Elsewhere bool   // it is on another machine: only calls that may send texts there use it
}

// Timeout returns the limit of one call.
func (r *Runner) Timeout() time.Duration { return r.config.Timeout }

// Close ends resident programs and returns when they are gone. Calls in flight on them fail, and so do all later
// ones. It may be called more than once.
func (r *Runner) Close() {
	r.pool.mu.Lock()
	r.pool.closed = true
	for w := range r.pool.all {
		if w.inFlight > 0 {
			w.stop("was ended with the gateway")
		}
		w.retire()
	}
	r.pool.mu.Unlock()
	r.narrowed.close()
	r.pool.lives.Wait()
}

// Outcome is the result of a permitted call. If the error beside it is nil, the call succeeded if Failure is nil;
// otherwise Failure is the error that the program answered with. Beside an error it has what was collected until
// then.
type Outcome struct {
	Stdout, Stderr string // the output without noise lines, not necessarily valid UTF-8
	// ExitCode is the exit status. It is 128 plus the signal number for a program that a signal ended, and -1 if no
	// process ran.
	ExitCode int
	Duration time.Duration // how long the program ran, in total if it was asked twice
	// Total is the length of the complete Stdout in bytes. If Cut is true, its middle was dropped at offset CutAt.
	Total   int64
	Cut     bool
	CutAt   int
	Notices []string // messages for people: noise lines, why an answer is empty, an outdated installer
	// Path, Hash and Before are the path of the note, the hash of its content, and the hash before the change, as the
	// embedded program reports them; the app reports none. Change is the journal entry with which to undo the change.
	Path, Hash, Before, Change string
	// Part is the hash of the printed section, block or line, "" for other answers.
	Part string
	// Added and Removed count the lines of all changed notes. Destructive means that so much was removed that the
	// change requires approval.
	Added, Removed int
	Destructive    bool
	// Image is the media type of an image, whose bytes are the last line of Stdout in
	// base64; "" for other answers.
	Image string
	// State identifies the data that the embedded program answered from, "" if unknown. Unchanged means that it
	// equals the state given to [UnlessState], so the answer was left out.
	State     string
	Unchanged bool
	Closed    string   // identifies which notes were hidden by their own properties, "" if none
	Rows      int      // rows of a listing by the embedded program, 0 for other answers
	Unread    int      // notes and folders that could not be read for the answer
	Ambiguous bool     // other files have the name of the note, too; a notice of the embedded program lists them
	Headed    bool     // the app printed a line that names a version before its text; the line is not in Stdout
	Nothing   bool     // the requested change had been made already: no byte was changed
	Planned   int      // operations of the batch planned so far, see [Program.InBatch]
	Stale     bool     // no operation of the batch was made: they have to be planned again
	Failure   *Failure // nil when the call succeeded
	// Partly is set with Failure if the embedded program could neither complete nor undo a change. It has the files
	// of that change.
	Partly *protocol.Partly
}

func notRun() Outcome { return Outcome{ExitCode: process.NoExit} }

// Children are counts of running processes.
type Children struct {
	Processes    int   // processes that were started for one call each
	Workers      int   // resident processes, including those that are starting or ending
	WorkerMemory int64 // resident memory of all workers in bytes; 0 if unknown, as on all systems but Linux
	Waiting      int   // calls in the queue for the app
}

// Children counts the running processes. It may be called at any time and does not wait for calls.
func (r *Runner) Children() Children {
	c := Children{Processes: int(r.processes.Load()), Waiting: int(r.queued.Load())}
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	c.Workers = len(r.pool.all)
	for w := range r.pool.all {
		select {
		case <-w.begun:
			c.WorkerMemory += process.MemoryOf(w.pid)
		default: // it does not accept requests yet
		}
	}
	return c
}

// ReapOrphans reaps orphaned children of the Obsidian CLI until ctx ends. Only the first process of a Linux container
// inherits orphans; in any other process it returns at once.
func ReapOrphans(ctx context.Context) { process.ReapOrphans(ctx) }
