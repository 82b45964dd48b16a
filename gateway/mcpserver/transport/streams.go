package transport

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// streams has the open notification streams of a server.
type streams struct {
	mu   sync.Mutex
	open map[*Stream]struct{}
}

// Stream delivers notifications that do not belong to a request to a client: changes, and pings.
type Stream struct {
	server  *Server
	session *Session                // the session of the client
	filter  *mcp.SubscriptionFilter // the changes to report; nil for all, after the handshake
	changes chan mcp.JSONRPCNotification
}

// maxChanges is how many notifications a stream queues. Further ones are dropped until the client reads them.
const maxChanges = 16

// OpenStream opens a stream for a session. It delivers all changes after the handshake. The caller must
// close it.
func (s *Server) OpenStream(session *Session) *Stream { return s.openStream(session, nil) }

func (s *Server) openStream(session *Session, filter *mcp.SubscriptionFilter) *Stream {
	opened := &Stream{server: s, session: session, filter: filter, changes: make(chan mcp.JSONRPCNotification, maxChanges)}
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	if s.streams.open == nil {
		s.streams.open = map[*Stream]struct{}{}
	}
	s.streams.open[opened] = struct{}{}
	return opened
}

// Close closes a stream.
func (t *Stream) Close() {
	t.server.streams.mu.Lock()
	defer t.server.streams.mu.Unlock()
	delete(t.server.streams.open, t)
}

// Announce notifies the clients of a server of a change. method is that of the notification.
func (s *Server) Announce(method string) {
	change := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: method}}
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	for stream := range s.streams.open {
		if !stream.isFor(method) {
			continue
		}
		select {
		case stream.changes <- change:
		default: // the queue is full
		}
	}
}

// isFor reports whether the stream delivers a notification.
func (t *Stream) isFor(method string) bool {
	if t.filter == nil {
		return t.session.Version() != ""
	}
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return t.filter.ToolsListChanged
	case mcp.MethodNotificationPromptsListChanged:
		return t.filter.PromptsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return t.filter.ResourcesListChanged
	}
	return false
}

// SendTo sends the notifications to a client until ctx is done or sending fails. Every beat it sends a
// ping, so that proxies do not consider the connection dead; 0 disables pings.
func (t *Stream) SendTo(ctx context.Context, p *Peer, beat time.Duration) {
	var beats <-chan time.Time
	if beat > 0 {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		beats = ticker.C
	}
	var err error
	for err == nil {
		select {
		case change := <-t.changes:
			err = p.sendNotification(change)
		case <-beats:
			err = p.sendRequest(p.lastID.Add(1), mcp.MethodPing, nil)
		case <-ctx.Done():
			return
		}
	}
}

func (p *Peer) sendNotification(n mcp.JSONRPCNotification) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return p.Send(line)
}

// listen answers a subscription, which lasts until ctx is done. It sends an acknowledgement with the
// part of the subscription that the server supports, then the notifications, and returns the response.
// All of them have the id of the request. An empty subscription ends immediately.
func listen(ctx context.Context, s *Server, p *Peer, m Message) (any, error) {
	request, err := decode[mcp.SubscriptionsListenRequest](m)
	if err != nil {
		return nil, err
	}
	served := s.served(request.Params.Notifications)
	stream := s.openStream(p.Session, &served)
	defer stream.Close()
	send := func(n mcp.JSONRPCNotification) {
		n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: m.ID}
		_ = p.sendNotification(n) // if the client is gone, ctx ends
	}
	send(mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: mcp.MethodNotificationSubscriptionsAcknowledged,
		Params: mcp.NotificationParams{AdditionalFields: map[string]any{"notifications": served}},
	}})
	for isDone := served.IsEmpty(); !isDone; {
		select {
		case change := <-stream.changes:
			send(change)
		case <-ctx.Done():
			isDone = true
		}
	}
	for len(stream.changes) > 0 {
		send(<-stream.changes)
	}
	result := &mcp.SubscriptionsListenResult{}
	result.EnsureResultMeta().SetSubscriptionID(m.ID)
	return result, nil
}

// served returns the part of a subscription that the server supports.
func (s *Server) served(wanted mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	capabilities := &s.Capabilities
	served := mcp.SubscriptionFilter{
		ToolsListChanged:     wanted.ToolsListChanged && capabilities.Tools != nil && capabilities.Tools.ListChanged,
		PromptsListChanged:   wanted.PromptsListChanged && capabilities.Prompts != nil && capabilities.Prompts.ListChanged,
		ResourcesListChanged: wanted.ResourcesListChanged && capabilities.Resources != nil && capabilities.Resources.ListChanged,
	}
	if capabilities.Resources != nil && capabilities.Resources.Subscribe {
		served.ResourceSubscriptions = wanted.ResourceSubscriptions
	}
	return served
}
