package streamable

import (
	"slices"
	"sync"
)

// ongoing are the requests of a session that have no answer yet. A client takes one
// back by its id (specification of 2025-11-25, "Cancellation"): the request ends,
// and the client gets no answer, only the end of the response. mcp-go would answer
// it, and knows nothing of one that it has not begun.
type ongoing struct {
	mu       sync.Mutex
	requests []*cancellable
}

type cancellable struct {
	id  any // string or float64
	end func()
}

// begin notes a request that end takes back; done must be called when it is over.
func (o *ongoing) begin(id any, end func()) (done func()) {
	r := &cancellable{id, end}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, r)
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.requests = slices.DeleteFunc(o.requests, func(other *cancellable) bool { return other == r })
	}
}

// cancel takes back the requests with an id. There is one, if the client keeps to
// the protocol.
func (o *ongoing) cancel(id any) {
	var ends []func()
	o.mu.Lock()
	for _, r := range o.requests {
		if r.id == id {
			ends = append(ends, r.end)
		}
	}
	o.mu.Unlock()
	for _, end := range ends {
		end()
	}
}
