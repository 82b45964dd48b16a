package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/mcpserver/message"
)

// heartbeat is the time between two signs of life on the stream of a session, so
// that what lies between does not take it for dead.
const heartbeat = time.Minute

// serveMCP answers a request to the endpoint from who has the token.
func (d *handler) serveMCP(w http.ResponseWriter, r *http.Request, by owner) {
	if !allowed(w, r, http.MethodPost, http.MethodGet, http.MethodDelete) || !rejectDuplicates(w, r.Header) {
		return
	}
	switch modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)); {
	case r.Method == http.MethodPost:
		d.post(w, r, by)
	case modern:
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "protocol "+mcp.ProtocolVersion20260728+" has no "+r.Method+"; send subscriptions/listen instead")
	case r.Method == http.MethodGet:
		d.get(w, r, by)
	default:
		d.delete(w, r, by)
	}
}

// get opens the stream of a session, on which the server speaks unasked.
func (d *handler) get(w http.ResponseWriter, r *http.Request, by owner) {
	if !accepts(r.Header, eventStream) {
		refuse(w, http.StatusNotAcceptable, "Accept must include "+eventStream)
		return
	}
	x := d.session(w, r, by)
	if x == nil {
		return
	}
	defer d.sessions.leave(x)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	done, ok := d.stream(w, cancel)
	if !ok {
		return
	}
	defer done()
	d.sessions.listen(x, cancel)
	d.forward(ctx, cancel, w, exchange{request: r, session: x, caller: x.caller})
}

// stream takes in a stream that cancel ends, or answers that there are too many.
// done must be called at its end.
func (d *handler) stream(w http.ResponseWriter, cancel func()) (done func(), ok bool) {
	if done, ok = d.streams.Add(cancel); !ok {
		refuseBusy(w, "too many streams are open")
	}
	return done, ok
}

// delete ends a session, and all that is going on in it.
func (d *handler) delete(w http.ResponseWriter, r *http.Request, by owner) {
	if x := d.session(w, r, by); x != nil {
		d.sessions.finish(x)
		d.sessions.leave(x)
		w.WriteHeader(http.StatusOK)
	}
}

// post takes a message.
func (d *handler) post(w http.ResponseWriter, r *http.Request, by owner) {
	if !d.checkHeaders(w, r) {
		return
	}
	p := d.budget.begin(d.senderOf(r, by), func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })
	defer p.end()
	body, ok := readBody(w, r, p, d.MaxBody)
	if !ok {
		return
	}
	p.arrived()
	m, ok := d.readMessage(w, r.Header, body)
	if !ok {
		return
	}
	switch {
	case m.Method == string(mcp.MethodNotificationCancelled):
		d.postCancelled(w, r, by, m)
	case m.modern:
		d.postModern(w, r, by, m)
	case m.Method == string(mcp.MethodInitialize):
		d.postInitialize(w, r, by, m)
	default:
		d.postInSession(w, r, by, m)
	}
}

// postModern takes a message that belongs to no session.
func (d *handler) postModern(w http.ResponseWriter, r *http.Request, by owner, m received) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if m.Method == string(mcp.MethodSubscriptionsListen) {
		done, ok := d.stream(w, cancel)
		if !ok {
			return
		}
		defer done()
	}
	d.forward(ctx, cancel, w, exchange{request: r, message: m, caller: callerOf(byToken, by[:])})
}

// postInitialize opens a session. If its client does not learn of it, it ends at
// once.
func (d *handler) postInitialize(w http.ResponseWriter, r *http.Request, by owner, m received) {
	x, err := d.sessions.begin(by, clientOf(r, m), mcp.NegotiateLegacyVersion(m.params.ProtocolVersion))
	switch {
	case errors.Is(err, errFull):
		refuseBusy(w, "too many sessions, and all of them are active; end one with DELETE, or try again later")
		return
	case err != nil:
		refuseBusy(w, err.Error())
		return
	}
	defer d.sessions.leave(x)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	d.forward(ctx, cancel, w, exchange{request: r, message: m, session: x, caller: x.caller, opens: true})
}

// maxClientName bounds what is kept of the name of a client.
const maxClientName = 64

// clientOf returns which program a request is from, as far as it can be told.
func clientOf(r *http.Request, m received) client {
	var info struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m.params.ClientInfo, &info) // what is wrong with it, mcp-go says
	return client{remoteHost(r), strings.Clone(info.Name[:min(len(info.Name), maxClientName)])}
}

// remoteHost returns where a request comes from.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// postInSession takes a message of a session.
func (d *handler) postInSession(w http.ResponseWriter, r *http.Request, by owner, m received) {
	x := d.session(w, r, by)
	if x == nil {
		return
	}
	defer d.sessions.leave(x)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	d.forward(ctx, cancel, w, exchange{request: r, message: m, session: x, caller: x.caller})
}

// session enters the session that a request names, or answers it.
func (d *handler) session(w http.ResponseWriter, r *http.Request, by owner) *session {
	id := r.Header.Get(server.HeaderKeySessionID)
	if id == "" {
		refuse(w, http.StatusBadRequest, "the header "+server.HeaderKeySessionID+" is missing; send initialize first")
		return nil
	}
	x := d.sessions.enter(id, by)
	if x == nil {
		refuse(w, http.StatusNotFound, "session not found; send initialize for a new one")
		return nil
	}
	if version := r.Header.Get(mcp.HeaderProtocolVersion); version != "" && version != x.version {
		d.sessions.leave(x)
		refuse(w, http.StatusBadRequest, "this session uses protocol "+x.version+"; the header "+mcp.HeaderProtocolVersion+" has another version")
		return nil
	}
	return x
}

// exchange is a request that may pass.
type exchange struct {
	request *http.Request
	message received // of a POST
	session *session // nil where there are none
	caller  string
	opens   bool // it opens the session
}

// forward has a request answered. ctx ends with the connection, and here with the
// session too.
func (d *handler) forward(ctx context.Context, cancel context.CancelFunc, w http.ResponseWriter, e exchange) {
	if e.session != nil {
		defer context.AfterFunc(e.session.ctx, cancel)()
		ctx = context.WithValue(ctx, sessionKey{}, e.session)
	}
	answer := newResponse(w)
	defer e.allowCancel(answer, cancel)()
	ctx = context.WithValue(withCaller(ctx, e.caller), responseKey{}, answer)
	clearReadDeadline(w)
	d.handle(ctx, answer, e)
	if e.opens && !answer.result() {
		answer.header.Del(server.HeaderKeySessionID)
		d.sessions.finish(e.session)
	}
	if e.opens && e.session.ctx.Err() != nil {
		d.forget(e.session) // it ended before mcp-go had registered it
	}
	answer.finish(http.StatusServiceUnavailable, &message.Error{Code: mcp.INTERNAL_ERROR, ID: e.message.ID, Text: unanswered})
}

// unanswered is what a client is told whose request was ended: its session was, or
// the server, or there was a fault.
const unanswered = "the request was interrupted; what it has changed is unknown"

// handle has a handler of a tool or mcp-go work on a request. A fault in mcp-go costs the
// request its answer, not the connection.
func (d *handler) handle(ctx context.Context, answer *response, e exchange) {
	defer func() {
		if fault := recover(); fault != nil {
			d.report(fault)
		}
	}()
	if !d.callDirectly(ctx, answer, e) {
		d.mcp.Handle(answer, &server.HTTPRequest{Method: e.request.Method, Header: e.request.Header, Body: e.message.body, Context: ctx})
	}
}

// callDirectly answers a call of a tool without mcp-go, and reports whether it is one that
// can be. The answer to a question to the user would not find its way back: calls that may
// ask one are for mcp-go, and so is what is of no session.
func (d *handler) callDirectly(ctx context.Context, answer *response, e exchange) bool {
	call, ok := d.Tools.CallOf(e.message.Message)
	if !ok || e.session == nil || e.message.modern || d.Asks == nil {
		return false
	}
	known := e.session.known.Load()
	if known == nil {
		return false
	}
	ctx = server.WithRequestProtocolInfo(d.Server.WithContext(ctx, *known), &server.RequestProtocolInfo{})
	if d.Asks(ctx, e.message.Tool, e.message.Arguments) {
		return false
	}
	reply := append(call.AppendResponse(ctx, nil, e.message.ID, d.Log), '\n')
	if ctx.Err() == nil {
		answer.reply(reply)
	}
	return true
}

// clearReadDeadline takes the limit of time from a request that has come in whole: net/http
// waits for the client to go away by reading on.
func clearReadDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// refuseBusy refuses what may work later.
func refuseBusy(w http.ResponseWriter, text string) {
	w.Header().Set("Retry-After", "30")
	refuse(w, http.StatusServiceUnavailable, text)
}

func replyWith(w http.ResponseWriter, status int, reply []byte) {
	httpguard.LimitWrite(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(reply) // a client that has gone is no matter here
}
