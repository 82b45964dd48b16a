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

// heartbeat is the time between pings on the stream of a session. They keep proxies from considering the
// connection dead.
const heartbeat = time.Minute

// serveMCP answers an authenticated request to the MCP endpoint. own is the server of its agent.
func (d *handler) serveMCP(w http.ResponseWriter, r *http.Request, payer shares.Payer, owner owner, server *Server) {
	if !allowed(w, r, http.MethodPost, http.MethodGet, http.MethodDelete) {
		return
	}
	for _, name := range singleHeaders {
		if len(r.Header.Values(name)) > 1 {
			refuse(w, http.StatusBadRequest, "the header "+name+" must appear once")
			return
		}
	}
	switch isModern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case r.Method == http.MethodPost:
		d.post(w, r, payer, owner, server)
	case isModern:
		w.Header().Set("Allow", http.MethodPost)
		refuse(
			w,
			http.StatusMethodNotAllowed,
			"protocol "+mcp.ProtocolVersion20260728+" has no "+r.Method+"; send subscriptions/listen instead",
		)
	case r.Method == http.MethodDelete: // end the session and its requests
		if x := d.session(w, r, owner); x != nil {
			d.sessions.finish(x)
			d.sessions.leave(x)
			w.WriteHeader(http.StatusOK)
		}
	case !accepts(r.Header, eventStream):
		refuse(w, http.StatusNotAcceptable, "Accept must include "+eventStream)
	default:
		// Open the stream of a session, for notifications that do not belong to a request.
		x := d.session(w, r, owner)
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
		d.bearer.endWithToken(ctx, r, owner, cancel)
		httpguard.EndReadLimit(w)
		changes := server.OpenStream(x.Session)
		defer changes.Close()
		answer := &httpResponse{w: w}
		answer.stream() // needs no lock: nobody else uses answer yet
		changes.SendTo(ctx, &Peer{Session: x.Session, Caller: x.caller, Send: answer.send}, heartbeat)
	}
}

// stream registers a stream that cancel ends. If there are too many, it answers the request, and ok is
// false. The caller must call done when the stream ends.
func (d *handler) stream(w http.ResponseWriter, cancel func()) (done func(), ok bool) {
	done, ok = d.streams.Add(cancel)
	if !ok {
		refuseBusy(w, "too many streams are open")
	}
	return done, ok
}

// post handles a POST request, which contains a message for the server own.
func (d *handler) post(w http.ResponseWriter, r *http.Request, payer shares.Payer, owner owner, server *Server) {
	if !d.checkHeaders(w, r) {
		return
	}
	sender := remoteHost(r) // the message counts for its session or, without one, for its address
	if id := r.Header.Get(sessionHeader); d.sessions.has(id, owner) {
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
	var x *session // nil in protocol versions without sessions
	switch {
	case m.modern && m.Cancels != nil:
		// Clients close the connection instead. Without sessions, the requests of different clients
		// cannot be distinguished.
		w.WriteHeader(http.StatusAccepted)
		return
	case m.modern:
		if code, reason := checkModern(r.Header, m); reason != "" {
			replyWith(w, http.StatusBadRequest, ErrorResponse(m.ID, code, reason))
			return
		}
	case m.Method == string(mcp.MethodInitialize) && m.Kind == Request:
		var err error
		if x, err = d.sessions.begin(owner, clientOf(payer, r)); err != nil {
			refuseBusy(w, err.Error())
			return
		}
	default:
		if x = d.session(w, r, owner); x == nil {
			return
		}
	}
	if x != nil { // a new session ends again if its client does not learn of it, see postRequest
		defer d.sessions.leave(x)
	}
	if m.Kind == Request && server.Large != nil && server.Large(m.Tool, m.Arguments) {
		if err := p.awaitLarge(r.Context()); err != nil {
			refuseBusy(w, err.Error())
			return
		}
	}
	isEmpty := m.Failure == nil &&
		(IsNull(m.Result) || len(bytes.Trim(m.Result, "{}"+Space)) == 0) // for example the response to a ping
	switch {
	case m.Kind == Request:
		d.postRequest(w, r, owner, m, x, server)
	case m.Cancels != nil:
		x.ongoing.Range(func(key, _ any) bool { // matches one request, if the client follows the protocol
			if request := key.(*cancellable); request.id == m.Cancels {
				request.end()
			}
			return true
		})
		w.WriteHeader(http.StatusAccepted)
	case m.Kind == Response && !x.Answer(m.Message) && !isEmpty:
		refuse(w, http.StatusBadRequest, "No pending sampling request found for the given request ID")
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// interruptedText is the error text for a request that was ended by its session or the server.
const interruptedText = "the request was interrupted; what it has changed is unknown"

// postRequest answers a request of a session x, or of a client without one if x is nil. The request ends
// with the connection and with the session. The client can also cancel it (specification of 2025-11-25,
// section "Cancellation"); then there is no answer.
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
	isHandshake := x != nil && m.Method == string(mcp.MethodInitialize)
	if x == nil {
		client.Session = NewSession()
		client.Caller = callerOf("token", by[:])
		client.Shared = true
	} else {
		client.Session = x.Session
		client.Caller = x.caller
		defer context.AfterFunc(x.ctx, cancel)()
	}
	if x != nil && !isHandshake { // a handshake cannot be cancelled
		request := &cancellable{m.ID, func() {
			answer.isCancelled.Store(true)
			cancel()
		}}
		x.ongoing.Store(request, nil)
		defer x.ongoing.Delete(request)
	}
	isSubscription := m.Method == string(mcp.MethodSubscriptionsListen)
	if isSubscription {
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
	case !isHandshake:
	case code == 0 && !interrupted:
		w.Header().Set(sessionHeader, x.id)
	default:
		d.sessions.finish(x) // also interrupts its requests
	}
	status := http.StatusOK
	switch {
	case interrupted && isSubscription:
		reply = nil
	case interrupted:
		status = http.StatusServiceUnavailable
		reply = (&Error{Code: mcp.INTERNAL_ERROR, ID: m.ID, Text: interruptedText}).Encode()
	case m.modern:
		// Protocol 2026-07-28 defines the status for the code of an error response, so that proxies see
		// failures without reading the body. The code of a result is 0.
		switch code {
		case mcp.METHOD_NOT_FOUND:
			status = http.StatusNotFound
		case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
			mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
			status = http.StatusBadRequest
		}
	}
	if own.Lacks != nil && m.Tool != "" && status == http.StatusOK {
		// If the call was denied for lack of scopes, tell the client which ones to request.
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

// remoteHost returns the address of the client, without the port.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// session enters the session that a request names. If that fails, it answers the request and returns
// nil.
func (d *handler) session(w http.ResponseWriter, r *http.Request, owner owner) *session {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		refuse(w, http.StatusBadRequest, "the header "+sessionHeader+" is missing; send initialize first")
		return nil
	}
	x := d.sessions.enter(id, owner)
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

// replyWith answers a request with a JSON document.
func replyWith(w http.ResponseWriter, status int, reply []byte) {
	httpguard.LimitWrite(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(reply) // the client may have gone
}

const eventStream = "text/event-stream"

var errAnswered = errors.New("the request has its answer")

// httpResponse is the answer to one request: a JSON document or, if the server sends other messages
// before it, a stream of events that ends with it.
type httpResponse struct {
	w http.ResponseWriter

	mu         sync.Mutex
	streaming  bool // the headers of a stream were sent
	isFinished bool // the answer was sent
	writeErr   error

	isCancelled atomic.Bool // the client cancelled the request
}

// send sends a message before the answer. It returns an error if the request is finished or the client
// has disconnected.
func (r *httpResponse) send(message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isFinished || r.isCancelled.Load() {
		return errAnswered
	}
	return r.event(message)
}

// stream sends the headers of a stream. The caller holds mu.
func (r *httpResponse) stream() {
	if r.streaming {
		return
	}
	r.streaming = true
	r.w.Header().Set("Content-Type", eventStream)
	r.w.Header().Set("X-Accel-Buffering", "no") // disables buffering in proxies
	r.w.WriteHeader(http.StatusOK)
	_ = r.write(nil)
}

// event sends one message of a stream. The caller holds mu.
func (r *httpResponse) event(message []byte) error {
	r.stream()
	return r.write(fmt.Appendf(nil, "event: message\ndata: %s\n\n", bytes.TrimSpace(message)))
}

// write writes and flushes. The caller holds mu. If it fails, nobody will read the answer, and net/http
// cancels the context of the request.
func (r *httpResponse) write(p []byte) error {
	if r.writeErr != nil {
		return r.writeErr
	}
	httpguard.LimitWrite(r.w)
	_, err := r.w.Write(p)
	if err == nil {
		err = http.NewResponseController(r.w).Flush()
	}
	r.writeErr = err
	return err
}

// finish sends the answer, and ends the response; nil ends a stream without an answer. For a cancelled
// request it ends a stream, which the protocol does not treat as an answer, unlike a document.
func (r *httpResponse) finish(status int, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isFinished = true
	switch {
	case r.isCancelled.Load():
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
