package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// maxNotifications is how many notifications mcp-go can put into the queue of a session before
// they are sent.
const maxNotifications = 16

// Session is what the server keeps of one client: what it said in its handshake, and the
// requests of the server that it has not answered. It is safe for concurrent use.
type Session struct {
	id            string
	subscription  bool                         // it is of a subscription, and gets what that is for
	notifications chan mcp.JSONRPCNotification // those of mcp-go, to no request
	initialized   atomic.Bool
	closed        chan struct{} // when the client can send no response: that ends the requests of the server
	lastID        atomic.Int64  // of those requests

	mu           sync.Mutex
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	filter       mcp.SubscriptionFilter
	level        mcp.LoggingLevel
	asked        map[int64]chan Message // requests of the server without a response
}

// NewSession returns a session with an id that no other has.
func NewSession(id string) *Session {
	return &Session{
		id: id, notifications: make(chan mcp.JSONRPCNotification, maxNotifications), closed: make(chan struct{}),
		asked: map[int64]chan Message{}, level: mcp.LoggingLevelError,
	}
}

// Answer passes a response to the request of the server that it answers. It is false if there
// is none.
func (s *Session) Answer(m Message) bool {
	number, _ := m.ID.(float64)
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked[int64(number)]
	if asked == nil {
		return false
	}
	delete(s.asked, int64(number))
	asked <- m // it has room for one
	return true
}

// Peer is the client of one request, as handlers find it in their context with [PeerOf] and
// mcp-go as the session.
type Peer struct {
	*Session
	Caller     string    // who sent it, "" on standard input: a digest of the session or the token
	Shared     bool      // Caller is every client with the token, and not one session
	AcceptedAt time.Time // when the request was read: it may have waited for minutes
	// Send writes a message to the client before the response to the request. The error says
	// that it could not be sent: the request is over, or the client has gone.
	Send func(message []byte) error
}

// PeerOf returns the client of the request that ctx belongs to. Without one it is the zero Peer,
// to which nothing can be sent.
func PeerOf(ctx context.Context) *Peer {
	if p, ok := server.ClientSessionFromContext(ctx).(*Peer); ok {
		return p
	}
	return &Peer{Send: func([]byte) error { return ErrNoClient }}
}

// ErrNoClient is returned where no client can be reached, or none that can answer.
var ErrNoClient = errors.New("no client is connected")

// Notify sends a notification to the client of the request that ctx belongs to. It has been
// written when Notify returns, before the response to the request. The error says that the
// request is cancelled or finished, or that the client has gone.
func Notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("notification %q: %w", method, err)
	}
	return PeerOf(ctx).Send(line)
}

// SendNotifications sends the notifications of mcp-go that belong to no request, until ctx ends or
// nothing can be sent. Every beat it sends a ping, so that no proxy takes the connection for dead; 0
// is for none.
func (p *Peer) SendNotifications(ctx context.Context, beat time.Duration) {
	var beats <-chan time.Time
	if beat > 0 {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		beats = ticker.C
	}
	var err error
	for err == nil {
		select {
		case n := <-p.notifications:
			err = p.sendNotification(n, nil)
		case <-beats:
			err = p.sendRequest(p.lastID.Add(1), mcp.MethodPing, nil)
		case <-ctx.Done():
			return
		}
	}
}

// sendNotification sends a notification of mcp-go, marked with the id of the subscription that
// it belongs to, if there is one.
func (p *Peer) sendNotification(n mcp.JSONRPCNotification, subscription any) error {
	if subscription != nil {
		meta := map[string]any{mcp.MetaKeySubscriptionID: subscription}
		maps.Copy(meta, n.Params.Meta) // which other sessions share
		meta[mcp.MetaKeySubscriptionID] = subscription
		n.Params.Meta = meta
	}
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return p.Send(line)
}

func (p *Peer) sendRequest(id int64, method mcp.MCPMethod, params any) error {
	line, err := json.Marshal(struct {
		JSONRPC string        `json:"jsonrpc"`
		ID      int64         `json:"id"`
		Method  mcp.MCPMethod `json:"method"`
		Params  any           `json:"params,omitempty"`
	}{mcp.JSONRPC_VERSION, id, method, params})
	if err != nil {
		return err
	}
	return p.Send(line)
}

// ask sends a request of the server and waits for the response. The error is that of ctx,
// [ErrNoClient] after the client has closed its input, or says that the request could not be
// sent or was answered with an error.
func ask[R any](ctx context.Context, p *Peer, method mcp.MCPMethod, params any) (*R, error) {
	id, answer := p.lastID.Add(1), make(chan Message, 1)
	p.mu.Lock()
	p.asked[id] = answer
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.asked, id)
	}()
	if err := p.sendRequest(id, method, params); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrNoClient
	case m := <-answer:
		if m.Failure != nil {
			return nil, fmt.Errorf("%s failed: %s", method, Clip(string(m.Failure)))
		}
		result := new(R)
		if err := json.Unmarshal(m.Result, result); err != nil {
			return nil, fmt.Errorf("response to %s: %w", method, err)
		}
		return result, nil
	}
}

// The methods below are what mcp-go wants of a session. The gateway needs no log level and no
// sampling: they are for the server that the conformance suite tests this transport with.

var (
	_ server.SessionWithClientInfo         = (*Peer)(nil)
	_ server.SessionWithElicitation        = (*Peer)(nil)
	_ server.SessionWithLogging            = (*Peer)(nil)
	_ server.SessionWithSampling           = (*Peer)(nil)
	_ server.SessionWithSubscriptionFilter = (*Peer)(nil)
)

// RequestElicitation has the client ask its user, and returns the answer, see [ask].
func (p *Peer) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return ask[mcp.ElicitationResult](ctx, p, mcp.MethodElicitationCreate, r.Params)
}

// RequestSampling has the client ask its model, and returns the answer, see [ask].
func (p *Peer) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return ask[mcp.CreateMessageResult](ctx, p, mcp.MethodSamplingCreateMessage, r.CreateMessageParams)
}

// SessionID returns the id of the session.
func (s *Session) SessionID() string { return s.id }

// Initialize records that the client has introduced itself.
func (s *Session) Initialize() { s.initialized.Store(true) }

// Initialized reports whether the client has introduced itself.
func (s *Session) Initialized() bool { return s.initialized.Load() }

// NotificationChannel is the queue for notifications that belong to no request.
func (s *Session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notifications }

// GetClientInfo returns the name and version that the client gave itself.
func (s *Session) GetClientInfo() mcp.Implementation { return get(s, &s.info) }

// SetClientInfo records the name and version that the client gave itself.
func (s *Session) SetClientInfo(info mcp.Implementation) { set(s, &s.info, info) }

// GetClientCapabilities returns what the client declared in its handshake.
func (s *Session) GetClientCapabilities() mcp.ClientCapabilities { return get(s, &s.capabilities) }

// SetClientCapabilities records what the client declared.
func (s *Session) SetClientCapabilities(c mcp.ClientCapabilities) { set(s, &s.capabilities, c) }

// GetLogLevel returns the level that the client wants messages of.
func (s *Session) GetLogLevel() mcp.LoggingLevel { return get(s, &s.level) }

// SetLogLevel records the level that the client wants messages of.
func (s *Session) SetLogLevel(level mcp.LoggingLevel) { set(s, &s.level, level) }

// SetSubscriptionFilter records which notifications a subscription is for.
func (s *Session) SetSubscriptionFilter(filter mcp.SubscriptionFilter) { set(s, &s.filter, filter) }

// SubscriptionFilter returns which notifications a subscription is for, and false where the
// session is of no subscription.
func (s *Session) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	return get(s, &s.filter), s.subscription
}

func get[T any](s *Session, field *T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *field
}

func set[T any](s *Session, field *T, value T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*field = value
}
