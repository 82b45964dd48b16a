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

// parentLookEvery is the polling interval for a parent: not every system reports its end.
const parentLookEvery = time.Second

// maxAncestors bounds the walk up the process tree.
const maxAncestors = 64

var (
	// errNoProcess is the error for a process that has ended, also for a zombie.
	errNoProcess = errors.New("there is no such process")
	// errHidden is the error for a process that exists and that this user may not inspect.
	errHidden = errors.New("nothing can be known of the process")
)

// processInfo is what the system reports about a process.
type processInfo struct {
	started uint64 // distinguishes it from a later process with the same id; 0 if unknown
	parent  int    // 0 if unknown
}

// parentProcess is a process that the server must not outlive.
type parentProcess struct {
	pid    int
	first  processInfo                        // as it was at the start
	above  bool                               // it was an ancestor at the start
	lookUp func(pid int) (processInfo, error) // its error is errNoProcess or errHidden
	direct func() int                         // the id of the parent of this process
}

// newParent records the current state of a process. The error is a [*terminal.UsageError] if it does not exist.
func newParent(pid int, lookUp func(int) (processInfo, error), direct func() int) (*parentProcess, error) {
	p := &parentProcess{pid: pid, lookUp: lookUp, direct: direct}
	first, err := lookUp(pid)
	if pid == os.Getpid() || errors.Is(err, errNoProcess) {
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("flag --parent-pid: no other running process has the id %d", pid),
			Advice: "use the id of the process that starts the server",
		}
	}
	p.first = first
	isAbove, isKnown := p.isAbove()
	p.above = isAbove && isKnown
	return p, nil
}

// gone reports whether the process has ended, its id was reused, or it is no longer an ancestor because a process in
// between has ended.
func (p *parentProcess) gone() bool {
	now, err := p.lookUp(p.pid)
	switch {
	case errors.Is(err, errNoProcess):
		return true
	case err != nil:
		return false
	case p.first.started == 0: // it could not be looked at before
		p.first = now
	case now.started != p.first.started:
		return true
	}
	isAbove, isKnown := p.isAbove()
	return p.above && isKnown && !isAbove
}

// isAbove reports whether the process is an ancestor of this one, as far as that can be known.
func (p *parentProcess) isAbove() (isAbove, isKnown bool) {
	pid := p.direct()
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

func (p *parentProcess) wait(ctx context.Context) bool {
	look := time.NewTicker(parentLookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
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
	if held, err := os.FindProcess(pid); err == nil { // on Windows, the open handle keeps the id from being reused
		release = func() { _ = held.Release() }
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
