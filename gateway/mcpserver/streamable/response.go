package streamable

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"vaultwicket/gateway/httpguard"
)

const eventStream = "text/event-stream"

var errAnswered = errors.New("the request has its answer")

// response is the answer to one request: a JSON document or, as soon as the server has sent
// anything else, a stream of events that ends with it.
type response struct {
	w http.ResponseWriter

	mu        sync.Mutex
	streaming bool // the head of a stream has been sent
	over      bool
	failed    error

	dropped atomic.Bool // the client has cancelled the request
}

// send sends a message before the answer. The error says that the request is over, or that
// the client has gone.
func (r *response) send(message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.dropped.Load() {
		return errAnswered
	}
	return r.event(message)
}

// stream sends the head of a stream, with mu held.
func (r *response) stream() {
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
func (r *response) event(message []byte) error {
	r.stream()
	return r.write(fmt.Appendf(nil, "event: message\ndata: %s\n\n", bytes.TrimSpace(message)))
}

// write writes and flushes, with mu held. If that fails, no one will read the answer, and
// net/http ends the context of the request.
func (r *response) write(p []byte) error {
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
func (r *response) finish(status int, answer []byte) {
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
