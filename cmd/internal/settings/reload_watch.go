package settings

import (
	"context"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"vaultwicket/policy"
)

// What changes in the files acts in running servers within a second: a look at each of two files
// is one system call, and an editor may be in the middle of writing.
const (
	lookEvery = 500 * time.Millisecond
	settleFor = 200 * time.Millisecond
)

// running are the gateways of a process, which take stricter settings together: the files are
// read once for all of them.
type running struct {
	mu   sync.Mutex
	all  []*reloader
	read *source // the last that was read, nil for none
	// agents are those of the last that could be read, nil before the first reload.
	agents atomic.Pointer[policy.Agents]
}

func (r *running) reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = nil
	for _, one := range r.all {
		r.read = one.reload(r.read)
	}
	if r.read != nil && r.read.err == nil {
		r.agents.Store(&r.read.agents)
	}
}

// unchanged returns what was read last, nil if the files are others since.
func (r *running) unchanged() *source {
	if r.read == nil || !same(lookAt(r.read.file.name, r.read.bounds.name)(), r.read.infos()) {
		return nil
	}
	return r.read
}

// ReloadOnChange has the settings read again while a server runs: at SIGHUP, and when
// a file of theirs has changed and stays as it is for a moment. It returns what ends
// that.
func (o Opened) ReloadOnChange(ctx context.Context) (stop func()) {
	o.running.all = append(o.running.all, newReloader(o.Gateway, o.Flags, o.Settings, o.Std, o.Log))
	o.running.read = o.Flags.source
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP) // on Windows it never comes
	done := make(chan struct{})
	go func() {
		defer close(done)
		w := watch{look: lookAt(o.Flags.file.name, o.Flags.bounds.name), seen: o.Flags.source.infos(), asked: asked}
		w.run(ctx, o.running.reload)
	}()
	return func() {
		signal.Stop(asked)
		cancel()
		<-done
	}
}

// lookAt returns what looks at files. What cannot be looked at is as if it were not there.
func lookAt(names ...string) func() []fs.FileInfo {
	return func() (seen []fs.FileInfo) {
		for _, name := range names {
			info, err := os.Lstat(name)
			if err != nil {
				info = nil
			} else {
				os.SameFile(info, info) // on Windows which file it is would be looked up later, by its name
			}
			seen = append(seen, info)
		}
		return seen
	}
}

// watch waits for reasons to read the settings again.
type watch struct {
	look  func() []fs.FileInfo
	seen  []fs.FileInfo // of the files when they were read, nil for one that was not there
	asked <-chan os.Signal

	changing bool          // a file is another than the one that was read
	last     []fs.FileInfo // and this is how they were at the last look
}

// run calls reload until ctx is done.
func (w *watch) run(ctx context.Context, reload func()) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.asked:
			w.seen, w.changing = w.look(), false
			reload()
		case <-timer.C:
			if w.settled() {
				reload()
			}
			timer.Reset(w.pause())
		}
	}
}

// settled looks at the files, and reports whether one is another than the one that
// was read and all are as they were at the last look.
func (w *watch) settled() bool {
	now := w.look()
	switch {
	case same(now, w.seen):
		w.changing = false
	case w.changing && same(now, w.last):
		w.seen, w.changing = now, false
		return true
	default:
		w.changing, w.last = true, now
	}
	return false
}

func (w *watch) pause() time.Duration {
	if w.changing {
		return settleFor
	}
	return lookEvery
}

// same reports whether no file was touched between two looks.
func same(a, b []fs.FileInfo) bool {
	return slices.EqualFunc(a, b, func(a, b fs.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
	})
}
