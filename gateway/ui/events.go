package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/httpguard"
	"vaultwicket/gateway/state/running"
	"vaultwicket/gateway/ui/activity"
)

const (
	// lookEvery is the time between two looks at the files while a page is open. A look
	// that finds nothing new takes some microseconds.
	lookEvery = 250 * time.Millisecond
	signEvery = 15 * time.Second // a sign of life on a stream
)

// event is what an open page is told: which parts have changed, what the new calls came to,
// and how many questions wait. It has no text of anybody else.
type event struct {
	Parts   []string `json:"parts"`
	Gate    string   `json:"gate,omitempty"` // the outcome of the latest call
	Calls   int      `json:"calls,omitempty"`
	Pending int      `json:"pending"`
	Paused  bool     `json:"paused"`
}

// events tells open pages what has changed. It looks at the files as long as a page is
// open.
type events struct {
	page *page

	mu      sync.Mutex
	open    map[chan event]bool
	stop    func()
	read    uint64 // lines of the audit log; a view may have read them first
	newest  uint64
	stamp   string
	pending int
}

func newEvents(p *page) *events { return &events{page: p, open: map[chan event]bool{}} }

// serve answers with a stream of events.
func (e *events) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	done, ok := e.page.streams.Add(cancel)
	if !ok {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer done()
	told := e.subscribe()
	defer e.unsubscribe(told)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	sign := time.NewTicker(signEvery)
	defer sign.Stop()
	text := "retry: 1000\n\n"
	for {
		httpguard.LimitWrite(w)
		if _, err := fmt.Fprint(w, text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case one := <-told:
			data, _ := json.Marshal(one) // it has only names, numbers and booleans
			text = "data: " + string(data) + "\n\n"
		case <-sign.C:
			text = ": \n\n"
		}
	}
}

// subscribe returns a channel for one page, and begins to look at the files for the first.
func (e *events) subscribe() chan event {
	e.mu.Lock()
	defer e.mu.Unlock()
	told := make(chan event, 16)
	e.open[told] = true
	if e.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		e.stop = stop
		e.look() // from here on
		go e.watch(ctx)
	}
	return told
}

func (e *events) unsubscribe(told chan event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, told)
	if len(e.open) == 0 {
		e.stop()
		e.stop = nil
	}
}

func (e *events) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e.mu.Lock()
		if one := e.look(); len(one.Parts) > 0 {
			e.send(one)
		}
		e.mu.Unlock()
	}
}

// tell tells open pages that one part has changed.
func (e *events) tell(part string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.send(event{Parts: []string{part}, Pending: e.pending, Paused: admission.PausedSince(e.page.State) != nil})
}

// send does not wait: a page that does not read is behind anyway, and reads all of the
// view at the next event.
func (e *events) send(one event) {
	for told := range e.open {
		select {
		case told <- one:
		default:
		}
	}
}

// look says what is new since the last look.
func (e *events) look() (found event) {
	p := e.page
	if read, err := p.calls.Update(); err == nil && read != e.read {
		e.read = read
		found.Parts = append(found.Parts, "calls")
		if latest := p.calls.Page(activity.Filter{}, 0, 1).Calls; len(latest) > 0 {
			if latest[0].Number != e.newest {
				found.Calls = 1
			}
			found.Gate, e.newest = latest[0].Outcome(), latest[0].Number
		}
	}
	found.Paused = admission.PausedSince(p.State) != nil
	stamp := e.stampOf()
	if stamp != e.stamp || e.pending > 0 { // one that waits may have expired
		if questions, _, _, err := p.questions(); err == nil {
			if stamp != e.stamp || len(questions) != e.pending {
				found.Parts = append(found.Parts, "state")
			}
			e.pending = len(questions)
		}
	}
	e.stamp, found.Pending = stamp, e.pending
	return found
}

// stampOf tells one state of the small files from another: of the pause, the approvals and
// the running servers.
func (e *events) stampOf() string {
	var b strings.Builder
	for _, name := range []string{admission.PauseFile(e.page.State), consent.Folder(e.page.State), running.Folder(e.page.State)} {
		if info, err := os.Lstat(name); err == nil {
			fmt.Fprint(&b, info.ModTime().UnixNano())
		}
		b.WriteByte(';')
	}
	return b.String()
}
