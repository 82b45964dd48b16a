package streamable

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"vaultwicket/gateway/httpguard"
)

const (
	// bodyLimit bounds how long a client may take to send a message after its head,
	// and unreadLimit how long net/http waits for one that is refused unread: it takes
	// in a short one before it answers.
	bodyLimit   = 30 * time.Second
	unreadLimit = 5 * time.Second
)

// The paths there are.
const (
	endpoint    = "/mcp"
	healthPath  = "/healthz"
	readyPath   = "/readyz"
	metricsPath = "/metrics"
)

// handler checks HTTP requests before mcp-go sees them.
type handler struct {
	Config
	hosts    httpguard.Hosts
	origins  httpguard.Origins
	bearer   *bearer
	sessions *sessions
	budget   *messageBudget // bytes of messages that are being worked on
	streams  *httpguard.Streams

	mu      sync.Mutex
	running int
	stopped bool
	empty   chan struct{} // closed when stopped and none is running
}

// newHandler returns a handler for a complete config.
func newHandler(c Config, h httpguard.Hosts) (*handler, error) {
	allowed, err := newOrigins(c.Origins)
	if err != nil {
		return nil, err
	}
	d := &handler{
		Config: c, hosts: h, origins: allowed, bearer: newBearer(c.Token, c.Log),
		sessions: newSessions(c.MaxSessions, c.Idle), budget: newMessageBudget(c.MaxBody), empty: make(chan struct{}),
		streams: httpguard.NewStreams(max(1, c.MaxConnections/2)),
	}
	d.sessions.opened, d.sessions.ended = d.opened, d.ended
	return d, nil
}

// ServeHTTP lets a request through, or says why not. What is decided first is
// what needs the least of the request.
func (d *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpguard.LimitRead(w, unreadLimit)
	httpguard.LimitWrite(w) // net/http may say "100 Continue" by itself
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if !d.enter() {
		h.Set("Connection", "close")
		refuseBusy(w, "the server is stopping")
		return
	}
	defer d.leave()
	defer d.rescue(w)
	if len(r.TransferEncoding) > 0 {
		// net/http drops a Content-Length beside it. Whoever forwards to us may not
		// have, so nothing that follows on this connection is to be trusted.
		h.Set("Connection", "close")
	}
	if d.rejectForeign(w, r) {
		return
	}
	d.route(w, r)
}

// rejectForeign rejects requests with a foreign Host header, and those of web pages that are
// not listed. It reports whether it did.
func (d *handler) rejectForeign(w http.ResponseWriter, r *http.Request) bool {
	if !httpguard.IsPath(r) {
		refuse(w, http.StatusBadRequest, "the request target must be a path")
		return true
	}
	if !d.hosts.Allow(r.Host) {
		refuse(w, http.StatusForbidden, "the Host header is not allowed")
		return true
	}
	w.Header().Set("Vary", "Origin")
	switch d.origins.Judge(r.Header) {
	case httpguard.Foreign:
		refuse(w, http.StatusForbidden, "requests from this origin are not allowed")
		return true
	case httpguard.Listed:
		share(w.Header(), r.Header.Get("Origin"))
	}
	return false
}

// route answers one of the paths. All but the health need the token.
func (d *handler) route(w http.ResponseWriter, r *http.Request) {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	handler, ok := map[string]func(http.ResponseWriter, *http.Request, owner){
		endpoint: d.serveMCP, readyPath: d.serveReady, metricsPath: d.serveMetrics,
	}[path]
	switch {
	case path == healthPath:
		serveHealth(w, r)
		return
	case !ok || path == metricsPath && d.Metrics == nil:
		refuse(w, http.StatusNotFound, "not found; the MCP endpoint is "+endpoint)
		return
	case path == endpoint && isPreflight(r) && r.Header.Get("Origin") != "": // which is listed
		preflight(w)
		return
	}
	if by, ok := d.bearer.admit(w, r); ok {
		httpguard.MarkAuthenticated(r.Context())
		handler(w, r, by)
	}
}

func serveHealth(w http.ResponseWriter, r *http.Request) {
	if allowed(w, r, http.MethodGet, http.MethodHead) {
		say(w, http.StatusOK, "ok")
	}
}

func (d *handler) serveReady(w http.ResponseWriter, r *http.Request, _ owner) {
	if !allowed(w, r, http.MethodGet, http.MethodHead) {
		return
	}
	if d.Ready != nil {
		if err := d.Ready(); err != nil {
			refuse(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
			return
		}
	}
	say(w, http.StatusOK, "ok")
}

func (d *handler) serveMetrics(w http.ResponseWriter, r *http.Request, _ owner) {
	if allowed(w, r, http.MethodGet, http.MethodHead) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		d.Metrics(w)
	}
}

// allowed answers other methods than those of the list.
func allowed(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	for _, m := range methods {
		if r.Method == m {
			return true
		}
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	refuse(w, http.StatusMethodNotAllowed, "allowed methods: "+strings.Join(methods, ", "))
	return false
}

func refuse(w http.ResponseWriter, status int, text string) { say(w, status, text) }

func say(w http.ResponseWriter, status int, text string) {
	httpguard.LimitWrite(w)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// rescue answers a request of which the handler panicked. It must be deferred
// itself. Without an answer net/http would send an empty 200.
func (d *handler) rescue(w http.ResponseWriter) {
	if fault := recover(); fault != nil {
		d.report(fault)
		refuse(w, http.StatusInternalServerError, "internal error")
	}
}

// report tells who runs the server of a panic: what Go itself found in full, any
// other by its type, because what is in it may be of a note.
func (d *handler) report(fault any) {
	what := fmt.Sprintf("%T", fault)
	if found, ok := fault.(runtime.Error); ok {
		what = found.Error()
	}
	d.Log.Error("a request panicked", "panic", what, "stack", string(debug.Stack()))
}

// enter and leave count the requests that are going on.
func (d *handler) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return false
	}
	d.running++
	return true
}

func (d *handler) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running--; d.running == 0 && d.stopped {
		close(d.empty)
	}
}

// stop lets no more requests in. The channel is closed when none is left.
func (d *handler) stop() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped {
		d.stopped = true
		if d.running == 0 {
			close(d.empty)
		}
	}
	return d.empty
}

// opened and ended pass on what becomes of sessions.
func (d *handler) opened(x *session) {
	if d.Opened != nil {
		d.Opened(x.caller)
	}
}

func (d *handler) ended(x *session) {
	d.forget(x)
	if d.Ended != nil {
		d.Ended(x.caller)
	}
}

// forget has mcp-go drop what it keeps of a session.
func (d *handler) forget(x *session) { d.Server.MCP.UnregisterSession(context.Background(), x.id) }
