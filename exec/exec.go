// Package exec runs permitted calls. Only exec/process below it starts processes, and it imports
// policy so that nothing runs without a decision: it runs what a [policy.Permit] says, and our own
// question for the version of the client needs a permit as well.
//
// It uses no shell, does not look for programs in the working folder or in a vault, and does not
// pass on the environment: a child gets only the variables named in program.go. Every call ends within
// its limit plus a short grace, with bounded memory. It never kills the Obsidian app: only the
// small client process is stopped, and a whole process group only if it is our own program.
//
// An answer is classified by the texts recorded from the client (texts.go, classify.go) and not
// by its exit status, which is 0 for nearly every error (1.12.7 and 1.13.7).
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
	defaultCLI     = "obsidian"       // the name under which the app registers its client
	defaultTimeout = 15 * time.Second // a call takes well under a second; a dialog in the app blocks one
	defaultKept    = 16 << 20         // more than any note; an agent reads a fraction of it
	minKept        = 1 << 10          // error texts and facts must stay whole
)

// Config configures a [Runner]: what it may start, and its limits.
type Config struct {
	// CLI is the name or the absolute path of the official CLI, "" for "obsidian". A name is
	// searched in PATH and in the folders of the app, a path is used as it is.
	CLI        string
	Self       string          // the absolute path of this binary, for the embedded program
	Timeout    time.Duration   // the limit of one call, with the time in the queue; 0 means 15 seconds
	MaxKept    int             // the maximum bytes kept of each stream, without its middle; 0 means 16 MiB
	Vaults     func() []string // returns the folders in which no program may be, at each inspection of one; nil means none
	Resident   bool            // keeps one process of the embedded program a vault. The caller then calls Close.
	Session    string          // the session that changes notes, for the journal
	DayStart   int             // the hour at which a day begins for the embedded program, 0 for midnight
	Embeddings Embeddings
	SecretsKey func() []byte       // returns the key of the marks of secrets; nil draws one for the process
	Watch      Watcher             // nil for none
	Getenv     func(string) string // os.Getenv when nil
}

// Runner starts programs. It is safe for concurrent use; calls to the app are in one queue,
// because the app was seen to swap the answers of concurrent calls.
type Runner struct {
	config Config
	client client
	// marker and strict replace secrets by marks, see [Runner.Marker].
	marker, strict func() *guard.Marker
	queue          chan struct{} // semaphore of the app
	middle, large  *shares.Line  // of answers, see Hold
	env            func(backend) []string
	pool           *pool // of resident workers
	standing       standing

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
	r := &Runner{config: c, standing: standing{getenv: c.Getenv}, queue: make(chan struct{}, 1), middle: shares.NewLine(middleAnswers), large: shares.NewLine(1), pool: &pool{
		keep: c.MaxKept,
		limits: workerLimits{
			idle:        maxIdle,
			checkHealth: checkInterval,
			full:        memoryRetire,
			stopAbove:   memoryStop,
			commit:      commitLimit,
			perFile:     commitPerFile,
			late:        lateLimit,
			unheard:     unheardLimit,
		},
	}}
	// The environment of each kind of program is computed once, at its first use.
	app := sync.OnceValue(func() []string {
		env := pick(c.Getenv, sharedVariables, appVariables)
		// Launchers that are scripts look for their tools here.
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

// Embeddings is a server that makes vectors of texts for the embedded program. The zero Embeddings is none.
type Embeddings struct {
	Server    string // its address, a space, and the name of a model
	KeyFile   string // of a key for it, "" for none
	Elsewhere bool   // it is on another machine: only calls that may send texts there use it
}

// Timeout returns the limit of one call.
func (r *Runner) Timeout() time.Duration { return r.config.Timeout }

// Close ends resident programs and returns when they are gone. A call in flight ends with an
// error, and so does every later one of a resident program. It may be called more than once.
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
	r.standing.close()
	r.pool.lives.Wait()
}

// Outcome is the result of a permitted call. With a nil error the call succeeded if Failure is nil,
// otherwise Failure is the answer of the client. With an error it has what was collected until then.
type Outcome struct {
	Stdout, Stderr string // and Stderr are the output without noise, not necessarily valid UTF-8
	// ExitCode is the exit status, 128 and the number of the signal for a
	// program that died by one, and -1 when no process ran.
	ExitCode int
	Duration time.Duration // the time that the program ran, the sum when it was asked again
	// Total is the length of Stdout before anything was dropped. With Cut its middle was
	// dropped, at the offset CutAt.
	Total   int64
	Cut     bool
	CutAt   int
	Notices []string // remarks for people: noise, the sentence of an empty answer, an outdated installer
	// Path, Hash and Before are the note, the hash of its content and the hash before, as the embedded program
	// reports them; the app reports none. Change is the entry of the journal that can undo the change.
	Path, Hash, Before, Change string
	// Part is the hash of the section, block or line that was printed, "" for other answers.
	Part string
	// Added and Removed count the lines of all changed notes; Destructive says that so much was
	// removed that the change requires approval.
	Added, Removed int
	Destructive    bool
	// Image is the media type of an image, whose bytes are the last line of Stdout in
	// base64; "" for other answers.
	Image string
	// State identifies the data that the embedded program answered from, "" if unknown.
	// Unchanged says that it equals the state of [UnlessState], and nothing was answered.
	State     string
	Unchanged bool
	Closed    string   // tells which notes were hidden by their own texts, "" for none
	Rows      int      // of a listing of the embedded program; 0 if it has none, or is no listing
	Unread    int      // notes and folders that could not be read for the answer
	Ambiguous bool     // the name of the note is that of other files, too, which a notice of the embedded program names
	Headed    bool     // the app printed a line before the text of a version that names it; it is not in Stdout
	Nothing   bool     // the call was to change what is so already: no byte was changed
	Planned   int      // operations of the batch that are planned so far, see [Program.InBatch]
	Stale     bool     // nothing of the batch was made: its operations are to be worked out anew
	Failure   *Failure // nil when the call succeeded
	// Partly are the files of a change that the embedded program could neither complete nor take back, with that Failure; nil for
	// others.
	Partly *protocol.Partly
}

func notRun() Outcome { return Outcome{ExitCode: process.NoExit} }

// Children are counts of running processes.
type Children struct {
	Processes    int   // started for one call each
	Workers      int   // resident programs, including those that begin or end
	WorkerMemory int64 // resident memory of all workers in bytes; 0 where it is unknown, as on all systems but Linux
	Waiting      int   // calls in the queue of the app
}

// Children counts the running processes. It may be called at any time, and waits for no call.
func (r *Runner) Children() Children {
	c := Children{Processes: int(r.processes.Load()), Waiting: int(r.queued.Load())}
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	c.Workers = len(r.pool.all)
	for w := range r.pool.all {
		select {
		case <-w.begun:
			c.WorkerMemory += process.MemoryOf(w.pid)
		default: // it takes no requests yet
		}
	}
	return c
}

// ReapOrphans reaps orphaned children of the Obsidian CLI until ctx ends. Only the first
// process of a Linux container gets any; in another it returns at once.
func ReapOrphans(ctx context.Context) { process.ReapOrphans(ctx) }
