package transport

// [ServeHTTP] serves MCP over Streamable HTTP.
//
// Before a [Server] answers a request, [handler] checks, in this order: Host header, origin, path, token, method,
// headers and form of the message, session. A client without a token learns only that there is a server, and cannot
// lock others out: at the limit on connections, those without a token are closed first.
//
// It opens no connections, reads no cookies, and rejects requests of web pages whose origins are not listed.

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
)

const (
	// bodyLimit is how long a client may take to send a message after the headers. unreadLimit is how
	// long net/http waits for the body of a request that is refused: it reads short ones before it sends
	// the answer.
	bodyLimit   = 30 * time.Second
	unreadLimit = 5 * time.Second
)

// Paths of the server.
const (
	endpoint    = "/mcp"
	healthPath  = "/healthz"
	readyPath   = "/readyz"
	metricsPath = "/metrics"
)

// handler checks HTTP requests and passes valid ones on to a [Server].
type handler struct {
	HTTPConfig
	hosts    httpguard.Hosts
	proxies  proxies
	origins  httpguard.Origins
	bearer   *bearer
	sessions *sessions
	budget   *messageBudget // memory of messages in progress
	streams  *httpguard.Streams

	mu        sync.Mutex
	isStopped bool
	running   sync.WaitGroup // running requests
}

// newHandler returns a handler. The config must have its defaults.
func newHandler(c HTTPConfig, h httpguard.Hosts) (*handler, error) {
	allowed := httpguard.Origins{}
	for _, entry := range c.Origins {
		origin, err := parseOrigin(entry)
		if err != nil {
			return nil, err
		}
		allowed[origin] = true
	}
	trusted, err := parseProxies(c.Proxies)
	if err != nil {
		return nil, err
	}
	d := &handler{
		HTTPConfig: c,
		hosts:      h,
		proxies:    trusted,
		origins:    allowed,
		bearer:     newBearer(c.Token, c.Log),
		sessions:   newSessions(c.MaxSessions, c.Idle),
		budget:     newMessageBudget(c.MaxBody),
		streams:    httpguard.NewStreams(max(1, c.MaxConnections/2)),
	}
	d.bearer.holder = c.HolderOf
	d.bearer.resource = c.Resource
	d.bearer.ended = c.TokenEnded
	d.sessions.opened = func(x *session) {
		if d.Opened != nil {
			d.Opened(x.caller)
		}
	}
	d.sessions.ended = func(x *session) {
		if d.Ended != nil {
			d.Ended(x.caller)
		}
	}
	return d, nil
}

// ServeHTTP answers a request. While the server is stopping it refuses requests. A panic is logged and
// answered.
func (d *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httpguard.LimitRead(w, unreadLimit)
	httpguard.LimitWrite(w) // net/http may send "100 Continue" by itself
	r.RemoteAddr = d.proxies.remote(r)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	d.mu.Lock()
	isStopped := d.isStopped
	if !isStopped {
		d.running.Add(1)
	}
	d.mu.Unlock()
	if isStopped {
		h.Set("Connection", "close")
		refuseBusy(w, "the server is stopping")
		return
	}
	defer d.running.Done()
	if panicked := panics.Try(func() { d.answer(w, r) }); panicked != nil {
		d.answerPanic(w, panicked)
	}
}

// serves reports whether there is something at a path that requires a token.
func (d *handler) serves(path string) bool {
	switch path {
	case endpoint, readyPath:
		return true
	case metricsPath:
		return d.Metrics != nil
	}
	return false
}

// isPreflight reports whether a request is a CORS preflight request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answer checks a request and answers it. The checks that depend on the fewest parts of the request come
// first: the Host header against DNS rebinding, the origin against CSRF, the path, and the token.
func (d *handler) answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if len(r.TransferEncoding) > 0 {
		// net/http ignores a Content-Length next to Transfer-Encoding. A proxy before us may not, so
		// later requests on this connection cannot be trusted (request smuggling).
		h.Set("Connection", "close")
	}
	if !httpguard.IsPath(r) {
		refuse(w, http.StatusBadRequest, "the request target must be a path")
		return
	}
	if !d.hosts.Allow(r.Host) {
		refuse(w, http.StatusForbidden, "the Host header is not allowed")
		return
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if d.SignIn != nil && d.SignIn.Owns(path) {
		d.SignIn.ServeHTTP(w, r)
		return
	}
	h.Set("Vary", "Origin")
	origin := d.origins.Judge(r.Header)
	switch origin {
	case httpguard.Foreign:
		refuse(w, http.StatusForbidden, "requests from this origin are not allowed")
		return
	case httpguard.Listed:
		h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
	}
	switch {
	case path == healthPath:
		if allowed(w, r, http.MethodGet, http.MethodHead) {
			refuse(w, http.StatusOK, "ok")
		}
		return
	case d.Resource.describes(w, r, path):
		return
	case !d.serves(path):
		refuse(w, http.StatusNotFound, "not found; the MCP endpoint is "+endpoint)
		return
	case path == endpoint && origin == httpguard.Listed && isPreflight(r):
		h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE") // for pages of listed origins
		h.Set(
			"Access-Control-Allow-Headers",
			"Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name",
		)
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	by, ok := d.bearer.admit(w, r)
	if !ok {
		return
	}
	if by.server == nil {
		by.server = d.Server // the token is that of the settings
	}
	httpguard.MarkAuthenticated(r.Context())
	switch {
	case path == endpoint:
		d.serveMCP(w, r, by.payer(), by.owner, by.server)
	case !allowed(w, r, http.MethodGet, http.MethodHead):
	case path == metricsPath:
		h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		d.Metrics(w, by.agent)
	default:
		if d.Ready != nil {
			if err := d.Ready(); err != nil {
				refuse(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
				return
			}
		}
		refuse(w, http.StatusOK, "ok")
	}
}

// allowed reports whether the method of a request is among methods. If not, it answers the request.
func allowed(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	refuse(w, http.StatusMethodNotAllowed, "allowed methods: "+strings.Join(methods, ", "))
	return false
}

func refuse(w http.ResponseWriter, status int, text string) {
	httpguard.LimitWrite(w)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// refuseBusy refuses a request that may succeed later.
func refuseBusy(w http.ResponseWriter, text string) {
	w.Header().Set("Retry-After", "30")
	refuse(w, http.StatusServiceUnavailable, text)
}

// answerPanic answers a request whose handler panicked; net/http would send an empty 200. It logs the text of
// a runtime error, but only the type of any other value, which can contain note text.
func (d *handler) answerPanic(w http.ResponseWriter, panicked *panics.Recovered) {
	text := fmt.Sprintf("%T", panicked.Value)
	if err, ok := panicked.Value.(runtime.Error); ok {
		text = err.Error()
	}
	d.Log.Error("a request panicked", "panic", text, "stack", string(panicked.Stack))
	refuse(w, http.StatusInternalServerError, "internal error")
}

// stop makes the handler refuse further requests. The channel is closed when no request is running.
func (d *handler) stop() <-chan struct{} {
	d.mu.Lock()
	d.isStopped = true
	d.mu.Unlock()
	empty := make(chan struct{})
	go func() {
		d.running.Wait()
		close(empty)
	}()
	return empty
}
