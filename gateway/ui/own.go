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
	// ownConnections is the maximum number of connections to an OwnPage or a Pairing.
	ownConnections = 16
	// ownLinger is how long an OwnPage stays open after its last question, so that a browser can read the outcome.
	ownLinger = 2 * time.Minute
	// ownPollInterval is the time between two checks for pending questions.
	ownPollInterval = time.Second
)

// OwnPage is the page of one server for the questions of its own session, on a loopback address. It is open while
// a question waits, and serves nothing else. It is safe for concurrent use.
type OwnPage struct {
	state, session string
	log            *slog.Logger
	linger         time.Duration

	mu      sync.Mutex
	address string    // "" while the page is closed
	until   time.Time // when the page closes, unless a question waits
	ended   chan struct{}
}

// NewOwnPage returns the page of a session. It opens nothing yet.
func NewOwnPage(state, session string, log *slog.Logger) *OwnPage {
	return &OwnPage{state: state, session: session, log: log, linger: ownLinger}
}

// Open opens the page, unless it is already open, until ctx ends or no question of the session has waited for two
// minutes. It returns the address of the page, or "" if it cannot be opened.
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

// serve serves the page until it closes.
func (o *OwnPage) serve(ctx context.Context, l net.Listener) {
	baseCtx, cancelBase := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelBase()
	defer close(o.ended)
	guard := newGuard(time.Now, newLinkPages(o.state, o.session, o.session, time.Now, o.log), nil)
	limited := httpguard.NewConnLimiter(l, httpguard.ConnLimit(ownConnections))
	server := httpguard.NewServer(baseCtx, guard, slog.NewLogLogger(o.log.Handler(), slog.LevelDebug))
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limited) }()
	ticker := time.NewTicker(ownPollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if !o.closeIfIdle() {
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
	limited.CloseUnauthenticated() // browsers preconnect, and Shutdown would wait for these connections
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	_ = server.Shutdown(grace)
	cancelBase()
	_ = server.Close()
	<-failed
}

// close marks the page as closed, so that the next question opens it again.
func (o *OwnPage) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.address = ""
}

// closeIfIdle closes the page if no question of the session waits and the linger time is over. It returns whether the
// page is closed.
func (o *OwnPage) closeIfIdle() bool {
	questions, _, err := consent.OpenStore(consent.Folder(o.state), time.Now).List()
	isWaiting := false
	for _, q := range questions {
		isWaiting = isWaiting || q.State == consent.Pending && ownerfiles.SessionOf(q.Session) == o.session
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if isWaiting || err != nil {
		o.until = now.Add(o.linger)
	}
	if now.Before(o.until) {
		return false
	}
	o.address = ""
	return true
}

// Wait waits until the page is closed, if it was opened. Call it after the context of [OwnPage.Open] has ended.
func (o *OwnPage) Wait() {
	o.mu.Lock()
	ended := o.ended
	o.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
