package call

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Commits are the changes of the process that are being made on the disk. None is cut in the middle by an end of the
// process that it can know of. The zero Commits has none.
type Commits struct {
	// OwnsProcess says that signals to the process are for this program alone to handle.
	OwnsProcess bool

	mu      sync.Mutex
	count   int
	closed  bool
	idle    chan struct{} // closed when the last one has ended, nil unless something waits for it
	signals sync.Once     // that ask the process to end are waited for from the first one on
}

// CommitLimit is how long the end of a process waits for a change that is being made.
const CommitLimit = time.Minute

// Begin notes that a change is about to be made. It is false if the process ends, and then nothing may be changed.
// Otherwise the caller calls [Commits.End].
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

// awaitSignal has a signal that asks the process to end do so, but not in the middle of a change.
func (c *Commits) awaitSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		asked := <-signals
		c.Close()
		signal.Reset(asked)
		endBy(asked)
	}()
}

// End notes that a change is made, or taken back.
func (c *Commits) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count--; c.count == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// endBy ends the process as a signal does that nobody handles.
func endBy(asked os.Signal) {
	process, err := os.FindProcess(os.Getpid())
	if err == nil && process.Signal(asked) == nil {
		return
	}
	os.Exit(1)
}

// Close refuses further changes, and waits for those that are being made, up to [CommitLimit].
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
