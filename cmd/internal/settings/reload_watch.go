package settings

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vaultwicket/cmd/internal/terminal"
)

const (
	lookEvery = time.Second            // one look is one system call
	settleFor = 250 * time.Millisecond // an editor may be in the middle of writing
)

// ReloadOnChange has the settings read again while a server runs: at SIGHUP, and when
// their file has changed and stays as it is for a moment. It returns what ends
// that.
func ReloadOnChange(ctx context.Context, g Tightener, f *Flags, s Settings, std terminal.Streams, log *slog.Logger) (stop func()) {
	r := newReloader(g, f, s, std, log)
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP) // on Windows it never comes
	done := make(chan struct{})
	go func() {
		defer close(done)
		w := watch{seen: f.file.info, asked: asked}
		if f.file.name != "" {
			w.look = lookAt(f.file.name)
		}
		w.run(ctx, r.reload)
	}()
	return func() {
		signal.Stop(asked)
		cancel()
		<-done
	}
}

// lookAt returns what looks at a file. What cannot be looked at is as if it were
// not there.
func lookAt(name string) func() fs.FileInfo {
	return func() fs.FileInfo {
		info, err := os.Lstat(name)
		if err != nil {
			return nil
		}
		os.SameFile(info, info) // on Windows which file it is would be looked up later, by its name
		return info
	}
}

// watch waits for reasons to read the settings again.
type watch struct {
	look  func() fs.FileInfo // nil where there is no file to look at
	seen  fs.FileInfo        // of the file when it was read, nil if it was not there
	asked <-chan os.Signal

	changing bool        // the file is another than the one that was read
	last     fs.FileInfo // and this is how it was at the last look
}

// run calls reload until ctx is done. It does nothing for the first second.
func (w *watch) run(ctx context.Context, reload func()) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.asked:
			if w.look != nil {
				w.seen, w.changing = w.look(), false
			}
			reload()
		case <-timer.C:
			if w.look == nil {
				continue // and the timer stands still
			}
			if w.settled() {
				reload()
			}
			timer.Reset(w.pause())
		}
	}
}

// settled looks at the file, and reports whether it is another than the one that
// was read and as it was at the last look.
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

// same reports whether a file was not touched between two looks.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}
