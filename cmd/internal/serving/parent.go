package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

// ParseProcessID reads the value of --parent-pid. It is a flag only, not a setting, because it applies to a single
// run.
func ParseProcessID(text string) (int, error) {
	pid, err := strconv.ParseInt(text, 10, 32)
	if err != nil || pid <= 0 {
		return 0, errors.New("invalid process id")
	}
	return int(pid), nil
}

// parentPollInterval is the polling interval for the parent: not every system can notify about its end.
const parentPollInterval = time.Second

// maxAncestors limits the walk up the process tree.
const maxAncestors = 64

var (
	// errNoProcess is the error for a process that has ended, including zombies.
	errNoProcess = errors.New("there is no such process")
	// errHidden is the error for an existing process that this user may not inspect.
	errHidden = errors.New("nothing can be known of the process")
)

// processInfo is what the system reports about a process.
type processInfo struct {
	started uint64 // distinguishes it from a later process with the same id; 0 if unknown
	parent  int    // the id of its parent, 0 if it has none or it is unknown
}

// parentProcess is a process that the server must not outlive.
type parentProcess struct {
	pid         int
	initial     processInfo                        // what was known at the start
	wasAncestor bool                               // the process was an ancestor at the start
	lookUp      func(pid int) (processInfo, error) // inspects a process; its error is errNoProcess or errHidden
	getppid     func() int                         // returns the id of the parent of this process
}

// newParent records the current state of a process. The error is a [*terminal.UsageError] if the process does not exist
// or is this process.
func newParent(pid int, lookUp func(int) (processInfo, error), getppid func() int) (*parentProcess, error) {
	p := &parentProcess{pid: pid, lookUp: lookUp, getppid: getppid}
	initial, err := lookUp(pid)
	if pid == os.Getpid() || errors.Is(err, errNoProcess) {
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("flag --parent-pid: no other running process has the id %d", pid),
			Advice: "use the id of the process that starts the server",
		}
	}
	p.initial = initial
	isAncestor, isKnown := p.isAncestor()
	p.wasAncestor = isAncestor && isKnown
	return p, nil
}

// gone reports whether the process has ended, its id was reused, or it is no longer an ancestor because a process in
// between has ended.
func (p *parentProcess) gone() bool {
	current, err := p.lookUp(p.pid)
	switch {
	case errors.Is(err, errNoProcess):
		return true
	case err != nil:
		return false
	case p.initial.started == 0: // it could not be inspected before
		p.initial = current
	case current.started != p.initial.started:
		return true
	}
	isAncestor, isKnown := p.isAncestor()
	return p.wasAncestor && isKnown && !isAncestor
}

// isAncestor reports whether the process is an ancestor of this one. isKnown is false if that cannot be determined.
func (p *parentProcess) isAncestor() (isAncestor, isKnown bool) {
	pid := p.getppid()
	for range maxAncestors {
		if pid == p.pid {
			return true, true
		}
		if pid <= 1 {
			return false, true
		}
		up, err := p.lookUp(pid)
		if err != nil || up.parent == 0 && up.started == 0 {
			return false, false
		}
		pid = up.parent
	}
	return false, false
}

// wait polls until the process is gone. It returns false if ctx is done first.
func (p *parentProcess) wait(ctx context.Context) bool {
	ticker := time.NewTicker(parentPollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
			if p.gone() {
				return true
			}
		}
	}
}

// watchParent returns a context that is cancelled when process pid is gone. The caller must call stop. With pid 0
// nothing is watched.
func watchParent(ctx context.Context, pid int, log *slog.Logger) (_ context.Context, stop func(), err error) {
	if pid == 0 {
		return ctx, func() {}, nil
	}
	release := func() {}
	if process, err := os.FindProcess(pid); err == nil { // on Windows, the open handle keeps the id from being reused
		release = func() { _ = process.Release() }
	}
	p, err := newParent(pid, lookUpProcess, os.Getppid)
	if err != nil {
		release()
		return ctx, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if p.wait(ctx) {
			log.Log(ctx, terminal.LevelNote, "parent process has ended, stopping the server", "pid", pid)
			cancel()
		}
	}()
	return ctx, func() {
		cancel()
		<-done
		release()
	}, nil
}
