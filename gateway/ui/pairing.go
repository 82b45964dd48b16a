package ui

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

// Pairing is a page that pairs a browser, and shows nothing else.
type Pairing struct {
	guard *guard
	log   *slog.Logger
	once  sync.Once
	done  chan struct{}
}

// NewPairing returns the page for the state folder. It opens nothing yet.
func NewPairing(state string, log *slog.Logger) *Pairing {
	p := &Pairing{log: log, done: make(chan struct{})}
	links := newLinkPages(state, "", "", time.Now, log)
	p.guard = newGuard(time.Now, links, func(w http.ResponseWriter, r *http.Request, _ visit) {
		writeBare(w, http.StatusOK, barePage{
			Title: "This browser is paired",
			Text:  "When a client opens the link to a question of an agent, you decide about it here. You can close this page.",
		})
		p.once.Do(func() { close(p.done) })
	})
	return p
}

// Link returns the path of a link that pairs one browser within [LinkLife].
func (p *Pairing) Link() string { return p.guard.Open() }

// Paired returns a channel that is closed when a browser has opened the link.
func (p *Pairing) Paired() <-chan struct{} { return p.done }

// Serve answers requests on a listener until ctx ends.
func (p *Pairing) Serve(ctx context.Context, l net.Listener) {
	baseCtx, cancelBase := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelBase()
	limited := httpguard.NewConnLimiter(l, httpguard.ConnLimit(ownConnections))
	server := httpguard.NewServer(baseCtx, p.guard, slog.NewLogLogger(p.log.Handler(), slog.LevelDebug))
	var serving conc.WaitGroup
	serving.Go(func() { _ = server.Serve(limited) }) // returns when the server is closed
	<-ctx.Done()
	limited.CloseUnauthenticated()
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	_ = server.Shutdown(grace)
	_ = server.Close()
	serving.Wait()
}
