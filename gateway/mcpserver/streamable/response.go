package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/mcpserver/message"
)

const eventStream = "text/event-stream"

var errAnswered = errors.New("the request has its answer")

// response stands between mcp-go and the client of one request. mcp-go hands
// notifications of a request to whoever reads the channel of its session first:
// another request, the stream of the session, or nobody before the answer has left.
// So notifications are written here, by [Notify], and have left when it returns.
// With the first of them the answer becomes a stream of events, whether mcp-go
// knows or not; an answer that it writes as one JSON document is kept until the
// end, and is then sent as that or as the last event.
type response struct {
	w http.ResponseWriter

	mu        sync.Mutex
	header    http.Header // as mcp-go sets it
	status    int
	body      bytes.Buffer // what mcp-go wrote as a document
	events    bool         // the answer is a stream, and its head has left
	passing   bool         // mcp-go writes events itself
	over      bool
	writeFail error

	dropped atomic.Bool // the client has taken its request back

	passed chan struct{} // closed with the first event that mcp-go wrote
	first  sync.Once
}

var _ server.HTTPResponseWriter = (*response)(nil)

type responseKey struct{}

func newResponse(w http.ResponseWriter) *response {
	return &response{w: w, header: http.Header{}, passed: make(chan struct{})}
}

// Notify sends a notification to the client of the request that ctx is the context
// of. Over HTTP it has left when Notify returns, in the answer to that very
// request and before the result; on other ways mcp-go delivers it. The error says
// that it could not be sent: the request is over, or the client has gone.
func Notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, ok := ctx.Value(responseKey{}).(*response)
	if !ok {
		return server.ServerFromContext(ctx).SendNotificationToClient(ctx, method, params)
	}
	message, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("notification %q: %w", method, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.dropped.Load() {
		return errAnswered
	}
	return r.event(message)
}

// Header returns the header that mcp-go fills. It is never the one of the client,
// which other goroutines write.
func (r *response) Header() http.Header { return r.header }

// WriteHeader notes the status, and begins the stream if mcp-go begins one.
func (r *response) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.status != 0 {
		return
	}
	r.status = status
	if r.header.Get("Content-Type") == eventStream {
		r.passing = true
		r.begin()
	}
}

// Write takes a whole event, or a piece of a document.
func (r *response) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over, r.dropped.Load():
		return 0, errAnswered
	case r.passing:
		defer r.first.Do(func() { close(r.passed) })
		return len(p), r.send(p)
	}
	return r.body.Write(p)
}

// Flush does nothing: every event is flushed when it is written.
func (r *response) Flush() {}

// CanStream is true: every connection here can.
func (r *response) CanStream() bool { return true }

// begin sends the head of a stream.
func (r *response) begin() {
	if r.events {
		return
	}
	r.events = true
	r.w.Header().Set("Content-Type", eventStream)
	r.w.Header().Set("X-Accel-Buffering", "no") // a proxy must not collect events
	r.w.WriteHeader(http.StatusOK)
	_ = r.send(nil)
}

// event sends one message of a stream.
func (r *response) event(message []byte) error {
	r.begin()
	return r.send(fmt.Appendf(nil, "event: message\ndata: %s\n\n", bytes.TrimSpace(message)))
}

// send writes to the client and has it leave. When that fails nobody will read the
// answer, and net/http ends the context of the request.
func (r *response) send(p []byte) error {
	if r.writeFail != nil {
		return r.writeFail
	}
	httpguard.LimitWrite(r.w)
	_, err := r.w.Write(p)
	if err == nil {
		err = http.NewResponseController(r.w).Flush()
	}
	r.writeFail = err
	return err
}

// drop has the response end without an answer. What has left has left.
func (r *response) drop() { r.dropped.Store(true) }

// reply takes a document as the answer.
func (r *response) reply(document []byte) {
	r.header.Set("Content-Type", "application/json")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.body = http.StatusOK, *bytes.NewBuffer(document)
}

// finish sends what there is left to send. A request without an answer,
// because it was ended, gets status and refusal instead. Of one that was taken back
// only a stream without an answer is left: to the protocol that is no answer, and a
// document would have to be one.
func (r *response) finish(status int, refusal *message.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.dropped.Load() {
		r.begin()
		return
	}
	if r.status == 0 {
		r.status, r.body = status, *bytes.NewBuffer(refusal.Encode())
		r.header.Set("Content-Type", "application/json")
	}
	switch {
	case !r.events:
		r.document()
	case r.body.Len() > 0:
		_ = r.event(r.body.Bytes())
	}
}

// document sends an answer in one piece.
func (r *response) document() {
	for _, name := range []string{"Content-Type", "Allow", server.HeaderKeySessionID} {
		if value := r.header.Get(name); value != "" {
			r.w.Header().Set(name, value)
		}
	}
	r.w.Header().Set("Content-Length", strconv.Itoa(r.body.Len()))
	r.w.WriteHeader(r.status)
	_ = r.send(r.body.Bytes())
}

// result reports whether mcp-go answered with a result, and not with an error.
func (r *response) result() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	return r.status == http.StatusOK && json.Unmarshal(r.body.Bytes(), &answer) == nil && answer.Result != nil
}

// Acknowledged waits until the client of subscriptions/listen has been told what it
// will hear of, or has gone. It is for a hook behind that request: where there is
// nothing to hear of, mcp-go has the answer ready at once, and drops the
// acknowledgement if the goroutine that delivers it comes second. Other requests
// must not wait here.
func Acknowledged(ctx context.Context) {
	r, ok := ctx.Value(responseKey{}).(*response)
	if !ok {
		return // it did not come over HTTP
	}
	select {
	case <-r.passed:
	case <-ctx.Done():
	}
}
