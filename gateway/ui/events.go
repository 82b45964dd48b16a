package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/httpguard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

const (
	// lookEvery is the polling interval for the files while a page is open. A poll without
	// news takes some microseconds.
	lookEvery = 250 * time.Millisecond
	signEvery = 15 * time.Second // a keep-alive comment on a stream
)

// event tells an open page which parts have changed, the outcome of the latest call, and how many
// questions are pending. It has no text of clients or notes.
type event struct {
	Parts   []string `json:"parts"`
	Gate    string   `json:"gate,omitempty"`  // the outcome of the latest call
	Calls   int      `json:"calls,omitempty"` // new ones
	Pending int      `json:"pending"`
	Paused  bool     `json:"paused"`
	version uint64
}

// events sends changes to open pages. It polls the files while a page is open, and before each
// view.
type events struct {
	page *Page

	mu      sync.Mutex
	open    map[chan event]bool
	stop    func()
	read    uint64 // lines of the audit log; a view may have read them first
	newest  uint64 // the number of the last call
	outcome string // of that
	stamp   string
	pending int
	moves   uint64 // what is noted of questions, see [Page.follow]
	version uint64 // rises with each change; a view has the version that it was made at
}

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
	told := e.subscribe(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")))
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
			text = fmt.Sprintf("id: %d\ndata: %s\n\n", one.version, data)
		case <-sign.C:
			text = ": \n\n"
		}
	}
}

// subscribe returns the channel of one page, and begins to poll for the first. A page with another
// version gets an event at once, so that it loads its view again.
func (e *events) subscribe(version string) chan event {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.look()
	told := make(chan event, 16)
	if version != fmt.Sprint(e.version) {
		told <- e.now("calls", "state", "health")
	}
	e.open[told] = true
	if e.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		e.stop = stop
		go func() {
			tick := time.NewTicker(lookEvery)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				e.check()
			}
		}()
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

// check polls, and returns the version of a view that is made now, and how many questions are
// pending.
func (e *events) check() (version uint64, pending int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.look()
	return e.version, e.pending
}

func (e *events) now(parts ...string) event {
	return event{
		Parts:   parts,
		Pending: e.pending,
		Paused:  admission.PausedSince(e.page.State) != nil,
		version: e.version,
	}
}

// send does not wait for a slow page, which loads the whole view at the next event.
func (e *events) send(one event) {
	for told := range e.open {
		select {
		case told <- one:
		default:
		}
	}
}

// look sends an event about the changes since the last look, with mu held.
func (e *events) look() {
	p := e.page
	var parts []string
	gate := ""
	calls := 0
	if read, err := p.calls.Update(); err == nil && read != e.read {
		e.read = read
		parts = append(parts, "calls")
		last, ok := p.calls.Last()
		isNew := ok && (last.Number != e.newest || last.Outcome() != e.outcome) // else older ones were read
		if isNew {
			calls = int(last.Number - e.newest)
			gate = last.Outcome()
			e.newest = last.Number
			e.outcome = gate
		}
	}
	var b strings.Builder // tells one state of the small files from another
	for _, name := range []string{admission.PauseFile(p.State), consent.Folder(p.State), consent.ProposalsFolder(p.State), ownerfiles.ServersFolder(p.State)} {
		if info, err := os.Lstat(name); err == nil {
			fmt.Fprint(&b, info.ModTime().UnixNano())
		}
		b.WriteByte(';')
	}
	stamp := b.String()
	if stamp != e.stamp || p.followsStored() { // one of them may have expired
		if found, err := p.readQuestions(); err == nil {
			p.mu.Lock()
			moves := p.moves
			p.mu.Unlock()
			isOther := stamp != e.stamp || moves != e.moves
			waiting := len(found.Waiting) + len(p.proposalsWaiting())
			if isOther || waiting != e.pending {
				parts = append(parts, "state")
			}
			e.pending = waiting
			e.moves = moves
		}
	}
	e.stamp = stamp
	if len(parts) > 0 {
		e.version++
		found := e.now(parts...)
		found.Gate = gate
		found.Calls = calls
		e.send(found)
	}
}
