package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Session is the server's state for one client: the content of its handshake, and the requests of the
// server that it has not answered. It is safe for concurrent use.
type Session struct {
	closed chan struct{} // closed when the client can send no more responses; ends the requests of the server
	lastID atomic.Int64  // id of the last request of the server

	mu      sync.Mutex
	version string // protocol version, "" before the handshake
	client  clientInfo
	waiting map[int64]chan Message // requests of the server that wait for a response, by id
}

// clientInfo is the information that a client sends about itself.
type clientInfo struct {
	name         string
	capabilities mcp.ClientCapabilities
	level        mcp.LoggingLevel // minimum level of the log messages that it wants, "" if unspecified
}

// NewSession returns a session before its handshake.
func NewSession() *Session {
	return &Session{closed: make(chan struct{}), waiting: map[int64]chan Message{}}
}

// Version returns the protocol version of the handshake, "" before it.
func (s *Session) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// introduce records the content of the handshake.
func (s *Session) introduce(version string, client clientInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	client.level = s.client.level
	s.version = version
	s.client = client
}

func (s *Session) setLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client.level = level
}

// Answer passes a response on to the request of the server that it answers. It returns false if no such
// request is waiting.
func (s *Session) Answer(m Message) bool {
	number, _ := m.ID.(float64)
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.waiting[int64(number)]
	if asked == nil {
		return false
	}
	delete(s.waiting, int64(number))
	asked <- m // does not block: the channel has room for one
	return true
}

// Peer is the client that sent a request.
type Peer struct {
	*Session
	Caller     string    // identifies the sender, by a digest of the session or the token; "" on standard input
	Shared     bool      // Caller stands for all clients with the token, and not for one session
	AcceptedAt time.Time // when the request was read; it may have waited for minutes since
	// Send writes a message to the client before the response to the request. It returns an error if the
	// request is finished or the client has disconnected.
	Send func(message []byte) error

	modern *clientInfo // the client information in a request without a handshake, nil with one
}

// ErrNoClient is returned if there is no client that can answer.
var ErrNoClient = errors.New("no client is connected")

// readVersion records the client information in the _meta of a request. Since protocol version 2026-07-28 every
// request has its own. The error is an *[Error].
func (p *Peer) readVersion(meta *mcp.Meta) error {
	version := meta.ProtocolVersion()
	if !mcp.IsModernProtocol(version) {
		return nil
	}
	can := meta.ClientCapabilities()
	if can == nil {
		return &Error{Code: mcp.INVALID_PARAMS, Text: "missing or invalid _meta field " + mcp.MetaKeyClientCapabilities}
	}
	if !mcp.IsValidProtocolVersion(version) {
		unsupported := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}
		refusal := unsupported.JSONRPCError().Error
		return &Error{Code: refusal.Code, Text: refusal.Message, Data: refusal.Data}
	}
	p.modern = &clientInfo{capabilities: *can, level: meta.LogLevel()}
	if info := meta.ClientInfo(); info != nil {
		p.modern.name = info.Name
	}
	return nil
}

// Modern reports whether the request uses a protocol version without a handshake: 2026-07-28 or later.
func (p *Peer) Modern() bool { return p.modern != nil }

// Client returns the name that the client reports, which must not be trusted, and its capabilities.
func (p *Peer) Client() (name string, can mcp.ClientCapabilities) {
	info := p.info()
	return info.name, info.capabilities
}

// LogLevel returns the minimum level of the log messages that the client wants, "" if unspecified.
func (p *Peer) LogLevel() mcp.LoggingLevel { return p.info().level }

func (p *Peer) info() clientInfo {
	if p.modern != nil {
		return *p.modern
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.client
}

// MissingResource returns the error for a resource that does not exist. Its code depends on the protocol
// version.
func (p *Peer) MissingResource(text string) error {
	if p.Modern() {
		return &Error{Code: mcp.INVALID_PARAMS, Text: text}
	}
	return &Error{Code: mcp.RESOURCE_NOT_FOUND, Text: text}
}

// Notify sends a notification to the client. It is written before Notify returns, and before the response
// to the request. It returns an error if the request is cancelled or finished, or the client has
// disconnected.
func (p *Peer) Notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("notification %q: %w", method, err)
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

// Ask sends a request of the server to a client with a handshake, and waits for the response. It returns
// an error if the request cannot be sent or is answered with an error, [ErrNoClient] if the client has
// closed its input, or the error of ctx. Some clients never answer, so ctx must have a deadline; when it is
// done, the client is notified that the request is cancelled.
func Ask[Result any](ctx context.Context, p *Peer, method mcp.MCPMethod, params any) (*Result, error) {
	id := p.lastID.Add(1)
	answer := make(chan Message, 1)
	p.mu.Lock()
	p.waiting[id] = answer
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, id)
	}()
	if err := p.sendRequest(id, method, params); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		params := map[string]any{"requestId": id, "reason": "nobody waits for the answer any more"}
		_ = p.Notify(context.WithoutCancel(ctx), string(mcp.MethodNotificationCancelled), params) // the client may be gone
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrNoClient
	case m := <-answer:
		if m.Failure != nil {
			return nil, fmt.Errorf("%s failed: %s", method, Clip(string(m.Failure)))
		}
		result := new(Result)
		if err := json.Unmarshal(m.Result, result); err != nil {
			return nil, fmt.Errorf("response to %s: %w", method, err)
		}
		return result, nil
	}
}
