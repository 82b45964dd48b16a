package ui

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

const (
	// ownConnections is how many connections the page of a server for its own questions takes.
	ownConnections = 16
	// ownLinger is how long it is open after its last question, so that a browser can read what became of it.
	ownLinger = 2 * time.Minute
	ownLook   = time.Second // between two looks whether a question waits
)

// OwnPage is the page of one server for the questions of its own session, on a loopback address. It is open while one
// waits, and serves nothing else. It is safe for concurrent use.
type OwnPage struct {
	state, session string
	log            *slog.Logger
	linger         time.Duration

	mu      sync.Mutex
	address string    // "" while it is closed
	until   time.Time // it closes then, unless a question waits
	ended   chan struct{}
}

// NewOwnPage returns the page of a session. It opens nothing yet.
func NewOwnPage(state, session string, log *slog.Logger) *OwnPage {
	return &OwnPage{state: state, session: session, log: log, linger: ownLinger}
}

// Open opens the page, unless it is open, until ctx ends or no question of the session has waited for two minutes. It
// returns its address, "" where it cannot be opened.
func (o *OwnPage) Open(ctx context.Context) (address string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until = time.Now().Add(o.linger)
	if o.address != "" {
		return o.address
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		o.log.Debug("the page for questions cannot be opened", "error", err.Error())
		return ""
	}
	o.address = "http://" + l.Addr().String()
	o.ended = make(chan struct{})
	go o.serve(ctx, l)
	return o.address
}

// serve serves the page, and closes it.
func (o *OwnPage) serve(ctx context.Context, l net.Listener) {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	defer close(o.ended)
	guard := newGuard(time.Now, newLinkPages(o.state, o.session, o.session, time.Now, o.log), nil)
	limited := httpguard.NewConnLimiter(l, httpguard.ConnLimit(ownConnections))
	s := httpguard.NewServer(base, guard, slog.NewLogLogger(o.log.Handler(), slog.LevelDebug))
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(limited) }()
	look := time.NewTicker(ownLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if !o.isOver() {
				continue
			}
		case <-ctx.Done():
			o.close()
		case <-failed:
			o.close()
			return
		}
		break
	}
	limited.CloseUnauthenticated() // browsers open connections ahead, which Shutdown would wait for
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	_ = s.Shutdown(grace)
	cut()
	_ = s.Close()
	<-failed
}

// close has the next question open the page anew.
func (o *OwnPage) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.address = ""
}

// isOver reports whether the page closes, because no question of the session waits. It has no address then.
func (o *OwnPage) isOver() bool {
	all, _, err := consent.OpenStore(consent.Folder(o.state), time.Now).List()
	waits := false
	for _, q := range all {
		waits = waits || q.State == consent.Pending && ownerfiles.SessionOf(q.Session) == o.session
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if waits || err != nil {
		o.until = now.Add(o.linger)
	}
	if now.Before(o.until) {
		return false
	}
	o.address = ""
	return true
}

// Wait waits until the page is closed, if it was opened. The context of [OwnPage.Open] has ended.
func (o *OwnPage) Wait() {
	o.mu.Lock()
	ended := o.ended
	o.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
