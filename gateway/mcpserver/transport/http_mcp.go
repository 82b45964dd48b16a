package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/shares"
)

// heartbeat is the time between two pings on the stream of a session, so that no proxy takes the
// connection for dead.
const heartbeat = time.Minute

// serveMCP answers a request to the endpoint that has a token. own is the server of its agent.
func (d *handler) serveMCP(w http.ResponseWriter, r *http.Request, payer shares.Payer, by owner, own *Server) {
	if !allowed(w, r, http.MethodPost, http.MethodGet, http.MethodDelete) {
		return
	}
	for _, name := range singleHeaders {
		if len(r.Header.Values(name)) > 1 {
			refuse(w, http.StatusBadRequest, "the header "+name+" must appear once")
			return
		}
	}
	switch modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case r.Method == http.MethodPost:
		d.post(w, r, payer, by, own)
	case modern:
		w.Header().Set("Allow", http.MethodPost)
		refuse(
			w,
			http.StatusMethodNotAllowed,
			"protocol "+mcp.ProtocolVersion20260728+" has no "+r.Method+"; send subscriptions/listen instead",
		)
	case r.Method == http.MethodDelete: // a session and its requests end
		if x := d.session(w, r, by); x != nil {
			d.sessions.finish(x)
			d.sessions.leave(x)
			w.WriteHeader(http.StatusOK)
		}
	case !accepts(r.Header, eventStream):
		refuse(w, http.StatusNotAcceptable, "Accept must include "+eventStream)
	default:
		// Open the stream of a session, for messages that belong to no request.
		x := d.session(w, r, by)
		if x == nil {
			return
		}
		defer d.sessions.leave(x)
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(x.ctx, cancel)()
		done, ok := d.stream(w, cancel)
		if !ok {
			return
		}
		defer done()
		d.sessions.listen(x, cancel)
		d.bearer.endWithToken(ctx, r, by, cancel)
		httpguard.EndReadLimit(w)
		changes := own.OpenStream(x.Session)
		defer changes.Close()
		answer := &httpResponse{w: w}
		answer.stream() // no one else has it yet
		changes.SendTo(ctx, &Peer{Session: x.Session, Caller: x.caller, Send: answer.send}, heartbeat)
	}
}

// stream adds a stream that cancel ends, or answers that there are too many. done must be called
// at its end.
func (d *handler) stream(w http.ResponseWriter, cancel func()) (done func(), ok bool) {
	if done, ok = d.streams.Add(cancel); !ok {
		refuseBusy(w, "too many streams are open")
	}
	return done, ok
}

// post accepts a message for a server.
func (d *handler) post(w http.ResponseWriter, r *http.Request, payer shares.Payer, by owner, own *Server) {
	if !d.checkHeaders(w, r) {
		return
	}
	sender := remoteHost(r) // whose share of the memory budget the message has: its session, or its address
	if id := r.Header.Get(sessionHeader); d.sessions.has(id, by) {
		sender = id
	}
	p := d.budget.begin(payer, sender, func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })
	defer p.end()
	body, ok := readBody(w, r, p, d.MaxBody)
	if !ok {
		return
	}
	p.arrived()
	m, ok := readMessage(w, r.Header, body)
	if !ok {
		return
	}
	var x *session // none in the protocol without sessions
	switch {
	case m.modern && m.Cancels != nil:
		// Its client closes the connection instead. Without sessions, nothing tells the
		// requests of one client from those of another.
		w.WriteHeader(http.StatusAccepted)
		return
	case m.modern:
		if code, wrong := checkModern(r.Header, m); wrong != "" {
			replyWith(w, http.StatusBadRequest, ErrorResponse(m.ID, code, wrong))
			return
		}
	case m.Method == string(mcp.MethodInitialize) && m.Kind == Request:
		var err error
		if x, err = d.sessions.begin(by, clientOf(payer, r)); err != nil {
			refuseBusy(w, err.Error())
			return
		}
	default:
		if x = d.session(w, r, by); x == nil {
			return
		}
	}
	if x != nil { // if its client does not learn of a new one, it ends at once
		defer d.sessions.leave(x)
	}
	if m.Kind == Request && own.Large != nil && own.Large(m.Tool, m.Arguments) {
		if err := p.awaitLarge(r.Context()); err != nil {
			refuseBusy(w, err.Error())
			return
		}
	}
	empty := m.Failure == nil &&
		(IsNull(m.Result) || len(bytes.Trim(m.Result, "{}"+Space)) == 0) // as the response to a ping
	switch {
	case m.Kind == Request:
		d.postRequest(w, r, by, m, x, own)
	case m.Cancels != nil:
		x.ongoing.Range(func(key, _ any) bool { // one, if the client follows the protocol
			if request := key.(*cancellable); request.id == m.Cancels {
				request.end()
			}
			return true
		})
		w.WriteHeader(http.StatusAccepted)
	case m.Kind == Response && !x.Answer(m.Message) && !empty:
		refuse(w, http.StatusBadRequest, "No pending sampling request found for the given request ID")
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// unanswered answers a request that ended with its session or the server.
const unanswered = "the request was interrupted; what it has changed is unknown"

// postRequest answers a request of a session, or of a client without one. It ends with the
// connection, with its session, and when its client cancels it (specification of 2025-11-25,
// "Cancellation"), which gets no answer.
func (d *handler) postRequest(
	w http.ResponseWriter,
	r *http.Request,
	by owner,
	m received,
	x *session,
	own *Server,
) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answer := &httpResponse{w: w}
	client := &Peer{Send: answer.send}
	opens := x != nil && m.Method == string(mcp.MethodInitialize)
	if x == nil {
		client.Session = NewSession()
		client.Caller = callerOf("token", by[:])
		client.Shared = true
	} else {
		client.Session = x.Session
		client.Caller = x.caller
		defer context.AfterFunc(x.ctx, cancel)()
	}
	if x != nil && !opens { // a handshake cannot be cancelled
		request := &cancellable{m.ID, func() {
			answer.dropped.Store(true)
			cancel()
		}}
		x.ongoing.Store(request, nil)
		defer x.ongoing.Delete(request)
	}
	listens := m.Method == string(mcp.MethodSubscriptionsListen)
	if listens {
		done, ok := d.stream(w, cancel)
		if !ok {
			return
		}
		defer done()
		d.bearer.endWithToken(ctx, r, by, cancel)
	}
	httpguard.EndReadLimit(w)
	reply, code := own.Respond(ctx, client, m.Message)
	interrupted := ctx.Err() != nil
	switch {
	case !opens:
	case code == 0 && !interrupted:
		w.Header().Set(sessionHeader, x.id)
	default:
		d.sessions.finish(x) // which interrupts its requests
	}
	status := http.StatusOK
	switch {
	case interrupted && listens:
		reply = nil
	case interrupted:
		status = http.StatusServiceUnavailable
		reply = (&Error{Code: mcp.INTERNAL_ERROR, ID: m.ID, Text: unanswered}).Encode()
	case m.modern:
		// The status that protocol 2026-07-28 has for the code of an error response, so that a proxy sees a
		// failure without reading the body; 0 is a result.
		switch code {
		case mcp.METHOD_NOT_FOUND:
			status = http.StatusNotFound
		case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
			mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
			status = http.StatusBadRequest
		}
	}
	if own.Lacks != nil && m.Tool != "" && status == http.StatusOK {
		// The call was denied, and a client can get a token with which it would not be.
		if scopes := own.Lacks(m.Tool, m.Arguments); scopes != "" {
			d.Resource.challenge(w.Header(), insufficientScope, scopes)
			status = http.StatusForbidden
		}
	}
	answer.finish(status, reply)
}

func clientOf(payer shares.Payer, r *http.Request) client {
	return client{payer, shares.Network(remoteHost(r))}
}

// remoteHost returns the address that a request comes from, without the port.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// session enters the session that a request names, or answers the request.
func (d *handler) session(w http.ResponseWriter, r *http.Request, by owner) *session {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		refuse(w, http.StatusBadRequest, "the header "+sessionHeader+" is missing; send initialize first")
		return nil
	}
	x := d.sessions.enter(id, by)
	if x == nil {
		refuse(w, http.StatusNotFound, "session not found; send initialize for a new one")
		return nil
	}
	if version := r.Header.Get(mcp.HeaderProtocolVersion); version != "" && version != x.Version() {
		d.sessions.leave(x)
		refuse(
			w,
			http.StatusBadRequest,
			"this session uses protocol "+x.Version()+"; the header "+mcp.HeaderProtocolVersion+" has another version",
		)
		return nil
	}
	return x
}

// replyWith answers with a JSON document.
func replyWith(w http.ResponseWriter, status int, reply []byte) {
	httpguard.LimitWrite(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(reply) // the client may have gone
}

const eventStream = "text/event-stream"

var errAnswered = errors.New("the request has its answer")

// httpResponse is the answer to one request: a JSON document or, as soon as the server has sent
// anything else, a stream of events that ends with it.
type httpResponse struct {
	w http.ResponseWriter

	mu        sync.Mutex
	streaming bool // the head of a stream has been sent
	over      bool
	failed    error

	dropped atomic.Bool // the client has cancelled the request
}

// send sends a message before the answer. The error says that the request is over, or that
// the client has gone.
func (r *httpResponse) send(message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.dropped.Load() {
		return errAnswered
	}
	return r.event(message)
}

// stream sends the head of a stream, with mu held.
func (r *httpResponse) stream() {
	if r.streaming {
		return
	}
	r.streaming = true
	r.w.Header().Set("Content-Type", eventStream)
	r.w.Header().Set("X-Accel-Buffering", "no") // a proxy must not collect events
	r.w.WriteHeader(http.StatusOK)
	_ = r.write(nil)
}

// event sends one message of a stream, with mu held.
func (r *httpResponse) event(message []byte) error {
	r.stream()
	return r.write(fmt.Appendf(nil, "event: message\ndata: %s\n\n", bytes.TrimSpace(message)))
}

// write writes and flushes, with mu held. If that fails, no one will read the answer, and
// net/http ends the context of the request.
func (r *httpResponse) write(p []byte) error {
	if r.failed != nil {
		return r.failed
	}
	httpguard.LimitWrite(r.w)
	_, err := r.w.Write(p)
	if err == nil {
		err = http.NewResponseController(r.w).Flush()
	}
	r.failed = err
	return err
}

// finish sends the answer; nil ends a stream without one. A request that was cancelled gets
// the end of a stream: to the protocol that is no answer, and a document would have to be one.
func (r *httpResponse) finish(status int, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	switch {
	case r.dropped.Load():
		r.stream()
	case !r.streaming:
		r.w.Header().Set("Content-Type", "application/json")
		r.w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		r.w.WriteHeader(status)
		_ = r.write(answer)
	case len(answer) > 0:
		_ = r.event(answer)
	}
}
