package call

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Commits tracks the changes that the process is making on the disk, so that an orderly end of the process does not
// interrupt one. The zero Commits has none.
type Commits struct {
	// OwnsProcess reports that this program handles the signals of the process.
	OwnsProcess bool

	mu      sync.Mutex
	count   int           // changes being made
	closed  bool          // no further changes are allowed
	idle    chan struct{} // closed when count becomes 0; nil unless Close waits for that
	signals sync.Once     // starts the signal handler at the first change
}

// CommitLimit is how long the end of the process waits for a change.
const CommitLimit = time.Minute

// Begin registers a change that is about to be made. If it returns false, the process is ending and nothing may be
// changed. Otherwise the caller must call [Commits.End].
func (c *Commits) Begin() bool {
	if c.OwnsProcess {
		c.signals.Do(c.awaitSignal)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.count++
	return true
}

// awaitSignal starts to handle signals to terminate: the process ends after the present changes.
func (c *Commits) awaitSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		received := <-signals
		c.Close()
		signal.Reset(received)
		endBy(received)
	}()
}

// End unregisters a change that was made or rolled back.
func (c *Commits) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count--; c.count == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// endBy ends the process like an unhandled signal.
func endBy(received os.Signal) {
	process, err := os.FindProcess(os.Getpid())
	if err == nil && process.Signal(received) == nil {
		return
	}
	os.Exit(1)
}

// Close rejects further changes, and waits up to [CommitLimit] for those that are being made.
func (c *Commits) Close() {
	c.mu.Lock()
	c.closed = true
	var idle chan struct{}
	if c.count > 0 {
		if c.idle == nil {
			c.idle = make(chan struct{})
		}
		idle = c.idle
	}
	c.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-time.After(CommitLimit):
	}
}
