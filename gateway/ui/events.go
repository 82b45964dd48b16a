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
	// pollInterval is the polling interval for the files while a page is open. A poll without
	// news takes some microseconds.
	pollInterval      = 250 * time.Millisecond
	keepAliveInterval = 15 * time.Second // between comments that keep a stream alive
)

// event tells an open page which parts have changed, the outcome of the latest call, and how many
// questions are pending. It contains no text of clients or notes.
type event struct {
	Parts   []string `json:"parts"`
	Gate    string   `json:"gate,omitempty"`  // the outcome of the latest call
	Calls   int      `json:"calls,omitempty"` // number of new calls
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
	read    uint64 // lines of the audit log that were reported; a view may have read them first
	newest  uint64 // the number of the last call
	outcome string // of the last call
	stamp   string // modification times of the small files
	pending int
	moves   uint64 // changes of the followed questions, see [Page.follow]
	version uint64 // rises with each change; a view has the version of its content
}

// serve answers with a stream of events.
func (e *events) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	remove, ok := e.page.streams.Add(cancel)
	if !ok {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer remove()
	updates := e.subscribe(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")))
	defer e.unsubscribe(updates)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	keepAlive := time.NewTicker(keepAliveInterval)
	defer keepAlive.Stop()
	text := "retry: 1000\n\n"
	for {
		httpguard.LimitWrite(w)
		if _, err := fmt.Fprint(w, text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case update := <-updates:
			data, _ := json.Marshal(update) // never fails: it has only names, numbers and booleans
			text = fmt.Sprintf("id: %d\ndata: %s\n\n", update.version, data)
		case <-keepAlive.C:
			text = ": \n\n"
		}
	}
}

// subscribe returns the channel of one page, and starts polling for the first page. A page with an
// outdated version gets an event at once, so that it reloads its view.
func (e *events) subscribe(version string) chan event {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.poll()
	updates := make(chan event, 16)
	if version != fmt.Sprint(e.version) {
		updates <- e.current("calls", "state", "health")
	}
	e.open[updates] = true
	if e.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		e.stop = stop
		go func() {
			ticker := time.NewTicker(pollInterval)
			defer ticker.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
				}
				e.check()
			}
		}()
	}
	return updates
}

// unsubscribe removes the channel of a page, and stops polling after the last one.
func (e *events) unsubscribe(updates chan event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, updates)
	if len(e.open) == 0 {
		e.stop()
		e.stop = nil
	}
}

// check polls. It returns the current version, and the number of pending questions.
func (e *events) check() (version uint64, pending int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.poll()
	return e.version, e.pending
}

// current returns an event with the current state. The caller holds mu.
func (e *events) current(parts ...string) event {
	return event{
		Parts:   parts,
		Pending: e.pending,
		Paused:  admission.PausedSince(e.page.State) != nil,
		version: e.version,
	}
}

// send sends an event to all pages. It does not wait for a slow page, which reloads its view at the next event.
func (e *events) send(update event) {
	for updates := range e.open {
		select {
		case updates <- update:
		default:
		}
	}
}

// poll polls, and sends an event about the changes since the last poll. The caller holds mu.
func (e *events) poll() {
	p := e.page
	var parts []string
	outcome := ""
	calls := 0
	if read, err := p.calls.Update(); err == nil && read != e.read {
		e.read = read
		parts = append(parts, "calls")
		last, ok := p.calls.Last()
		isNew := ok && (last.Number != e.newest || last.Outcome() != e.outcome) // otherwise older calls were read
		if isNew {
			calls = int(last.Number - e.newest)
			outcome = last.Outcome()
			e.newest = last.Number
			e.outcome = outcome
		}
	}
	var b strings.Builder // a stamp that changes with any of the small files
	for _, name := range []string{admission.PauseFile(p.State), consent.Folder(p.State), consent.ProposalsFolder(p.State), ownerfiles.ServersFolder(p.State)} {
		if info, err := os.Lstat(name); err == nil {
			fmt.Fprint(&b, info.ModTime().UnixNano())
		}
		b.WriteByte(';')
	}
	stamp := b.String()
	if stamp != e.stamp || p.followsStored() { // a followed question may have expired
		if update, err := p.readQuestions(); err == nil {
			p.mu.Lock()
			moves := p.moves
			p.mu.Unlock()
			hasChanged := stamp != e.stamp || moves != e.moves
			waiting := len(update.Waiting) + len(p.proposalsWaiting())
			if hasChanged || waiting != e.pending {
				parts = append(parts, "state")
			}
			e.pending = waiting
			e.moves = moves
		}
	}
	e.stamp = stamp
	if len(parts) > 0 {
		e.version++
		update := e.current(parts...)
		update.Gate = outcome
		update.Calls = calls
		e.send(update)
	}
}
