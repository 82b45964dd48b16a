package streamable

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"vaultwicket/gateway/httpguard"
)

const (
	// shutdownLimit is how long requests that were cut off may take to end. A process
	// that one of them started is stopped within less.
	shutdownLimit = 2 * time.Second
)

// Serve listens and answers until ctx ends, and returns when nothing is left of
// it. Requests that run then may go on for the time of grace; those that must be
// cut off are ErrCut. A setting that is wrong or unsafe is a *SettingError, and
// nothing was served. listening is called with the address of the endpoint once
// clients can connect; it may be nil.
func Serve(ctx context.Context, c Config, listening func(url string)) error {
	c, err := c.complete()
	if err != nil {
		return err
	}
	at, err := parseAddr(c.Addr)
	if err != nil {
		return err
	}
	pair, err := certificate(c, at)
	if err != nil {
		return err
	}
	names, err := newHosts(hostOf(at), c.Hosts, leaf(pair))
	if err != nil {
		return err
	}
	d, err := newHandler(c, names)
	if err != nil {
		return err
	}
	l, err := listener(ctx, c, at)
	if err != nil {
		return err
	}
	if listening != nil {
		listening(urlOf(l, at, pair))
	}
	return d.serve(ctx, httpguard.NewConnLimiter(l, c.MaxConnections), pair)
}

func hostOf(a address) string { return httpguard.Bracketed(a.host) }

// serve answers on a listener until ctx ends.
func (d *handler) serve(ctx context.Context, g *httpguard.ConnLimiter, pair *tls.Certificate) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx)) // requests outlive ctx, for the time of grace
	defer cut()
	s := httpguard.NewServer(base, d, slog.NewLogLogger(quiet{d.Log.Handler()}, slog.LevelDebug))
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(encrypted(g, pair)) }()
	select {
	case err := <-failed: // the listener broke
		d.close(s, g, cut)
		return err
	case <-ctx.Done():
		err := d.close(s, g, cut)
		<-failed
		return err
	}
}

func encrypted(l net.Listener, pair *tls.Certificate) net.Listener {
	if pair == nil {
		return l
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*pair}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12})
}

// close ends in this order: what would never end by itself, then what is idle, then
// what is running when its time is over, then every connection.
func (d *handler) close(s *http.Server, g *httpguard.ConnLimiter, cut context.CancelFunc) error {
	d.stop()
	d.streams.Close()
	g.CloseUnauthenticated()
	grace, cancel := context.WithTimeout(context.Background(), d.Grace)
	defer cancel()
	err := s.Shutdown(grace)
	cut()
	left := d.stop()
	if err != nil {
		select {
		case <-left:
		case <-time.After(shutdownLimit):
		}
		err = ErrCut
	}
	_ = s.Close() // what is still open has had its time
	d.sessions.close()
	return err
}
