package streamable

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headLimit = 10 * time.Second // for the head of a request
	idleLimit = 2 * time.Minute  // between two requests
	headSize  = 16 << 10         // of the head, in bytes; net/http adds 4 KiB

	// lastWords is how long requests that were cut off may take to end. A process
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
	l, err := listen(ctx, at, c.Addr)
	if err != nil {
		return err
	}
	if listening != nil {
		listening(urlOf(l, at, pair))
	}
	return d.serve(ctx, newConnLimiter(l, c.MaxConnections), pair)
}

func hostOf(a address) string { return bracketed(a.host) }

// serve answers on a listener until ctx ends.
func (d *handler) serve(ctx context.Context, g *connLimiter, pair *tls.Certificate) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx)) // requests outlive ctx, for the time of grace
	defer cut()
	s := d.server(base)
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

// server returns a server of HTTP/1.1: there a connection carries one request at
// a time, so the limit of connections is one of requests too.
func (d *handler) server(base context.Context) *http.Server {
	s := &http.Server{
		Handler:                      d,
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            headLimit,
		IdleTimeout:                  idleLimit,
		MaxHeaderBytes:               headSize,
		ErrorLog:                     slog.NewLogLogger(quiet{d.Log.Handler()}, slog.LevelDebug),
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnContext:                  withConn,
		ConnState:                    trackState,
		Protocols:                    &http.Protocols{},
	}
	s.Protocols.SetHTTP1(true)
	return s
}

func encrypted(l net.Listener, pair *tls.Certificate) net.Listener {
	if pair == nil {
		return l
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*pair}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12})
}

// close ends in this order: what would never end by itself, then what is idle, then
// what is running when its time is over, then every connection.
func (d *handler) close(s *http.Server, g *connLimiter, cut context.CancelFunc) error {
	d.stop()
	d.streams.close()
	g.closeUnauthenticated()
	grace, cancel := context.WithTimeout(context.Background(), d.Grace)
	defer cancel()
	d.mcp.CloseSessions(grace)
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
