package streamable

import (
	"context"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Here mcp-go's idea of a session meets ours. It asks for a manager of ids for each
// request, and gets one that knows the session of this request and no other.

type sessionKey struct{}

// sessionIDs hands out managers. A request without a session, or none at all, gets
// one to which every id is wrong.
type sessionIDs struct{}

func (sessionIDs) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	if r == nil {
		return sessionIDManager{}
	}
	x, _ := r.Context().Value(sessionKey{}).(*session)
	return sessionIDManager{x}
}

var errNoSession = errors.New("session not found")

type sessionIDManager struct{ session *session }

// Generate is asked when a session is opened. Without one no id must come out that
// anybody could use.
func (t sessionIDManager) Generate() string {
	if t.session == nil {
		return ""
	}
	return t.session.id
}

// Validate is asked for each request in a session.
func (t sessionIDManager) Validate(id string) (ended bool, err error) {
	if t.session == nil || id != t.session.id {
		return false, errNoSession
	}
	return t.session.ctx.Err() != nil, nil
}

// Terminate has nothing to do: sessions end in [sessions.finish], which has mcp-go
// forget them.
func (sessionIDManager) Terminate(string) (notAllowed bool, err error) { return false, nil }

// Hooks adds what the calls of [Config.Tools] need to know of sessions. It must be called
// before the server is made.
func Hooks(h *server.Hooks) {
	h.AddOnRegisterSession(func(ctx context.Context, known server.ClientSession) {
		if x, ok := ctx.Value(sessionKey{}).(*session); ok && x.id == known.SessionID() {
			x.known.Store(&known)
		}
	})
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

// forget has mcp-go drop what it keeps of a session. DELETE is the one way to ask
// for that.
func (d *handler) forget(x *session) {
	d.mcp.Handle(newResponse(nil), &server.HTTPRequest{
		Method: http.MethodDelete, Context: context.Background(),
		Header: http.Header{server.HeaderKeySessionID: {x.id}, mcp.HeaderProtocolVersion: {x.version}},
	})
}
