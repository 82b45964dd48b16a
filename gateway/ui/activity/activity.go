// Package activity keeps the calls of the audit log in memory, and answers what the page asks
// about them: the newest ones that a filter wants, one with all its lines, and figures of a time.
//
// The log is read once from near its end, and then its new lines. Names are chosen by clients, and
// are cleaned when they are shown. The log has no text and no path of a note, so none is here.
package activity

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
)

const (
	// firstRead is how many bytes at the end of each part of the log are read at the start:
	// some 150,000 lines. "vaultwicket audit list" lists older ones.
	firstRead = 64 << 20

	// maxCalls is the maximum number of calls. At the limit the oldest quarter is dropped.
	maxCalls = 200_000
)

// Calls are the calls of the audit log in a state folder. It is safe for use by several
// goroutines.
type Calls struct {
	parts [2]*audit.Follower
	max   int // calls that are kept

	mu      sync.Mutex
	rows    []row
	order   []int32           // the rows by their times: a line of an earlier call can be written later
	first   uint64            // the number of rows[0]; numbers rise by one
	byCall  map[string]uint64 // numbers of rows that may get more lines, by their ids
	names   map[string]string // that calls have in common, each once in memory
	read    uint64            // lines, since the beginning
	skipped bool              // calls that are not kept were dropped
	texts   map[TextDay]int   // by outcome
}

// row is a call and its lines.
type row struct {
	Call
	lines []line
}

// line is where a line of a call is in the log.
type line struct {
	part  int
	place audit.Place
}

// Open returns the calls of the audit log in a state folder. It reads nothing yet.
func Open(state string) *Calls {
	return &Calls{
		parts: [2]*audit.Follower{audit.Follow(audit.AuditFolder(state), firstRead), audit.Follow(audit.CallsFolder(state), firstRead)},
		max:   maxCalls, first: 1, // 0 is none
		byCall: map[string]uint64{}, names: map[string]string{}, texts: map[TextDay]int{},
	}
}

// Update reads the new lines of the log. It returns how many lines were read since [Open]: callers
// compare it to learn whether there are new ones.
func (c *Calls) Update() (read uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := len(c.rows)
	for part, follower := range c.parts {
		err = follower.Take(0, func(place audit.Place, l audit.Line, _ []byte) {
			number, known := c.byCall[l.Call]
			if l.Call == "" || !known || number < c.first {
				number = c.first + uint64(len(c.rows))
				one := row{Call: Call{ID: l.Call, Session: c.name(l.Session), Time: l.Time}}
				if l.Call == "" {
					one.ID = fmt.Sprintf("line%d-%d", part, l.Seq)
				} else {
					c.byCall[l.Call] = number
				}
				c.rows = append(c.rows, one)
			}
			r := &c.rows[number-c.first]
			r.lines = append(r.lines, line{part, place})
			c.describe(&r.Call, l)
			for rule, did := range l.TextOutcomes() {
				c.texts[TextDay{l.Time.Local().Format(time.DateOnly), rule, did}]++
			}
			c.read++
		})
		if err != nil {
			return c.read, err
		}
	}
	// The calls that came after the known ones are put in the order of their times: they are
	// read from one part of the log after the other, and the line of a call that takes long comes
	// after those of later ones. Those that were shown keep their numbers.
	slices.SortStableFunc(c.rows[known:], func(a, b row) int { return a.Time.Compare(b.Time) })
	for i := range c.rows[known:] {
		r := &c.rows[known+i]
		r.Number = c.first + uint64(known+i)
		c.order = append(c.order, int32(known+i))
		if _, waits := c.byCall[r.ID]; waits {
			c.byCall[r.ID] = r.Number
		}
	}
	if known < len(c.rows) {
		from, _ := slices.BinarySearchFunc(c.order[:known], c.rows[known].Time, func(i int32, at time.Time) int { return c.rows[i].Time.Compare(at) })
		slices.SortStableFunc(c.order[from:], func(a, b int32) int { return c.rows[a].Time.Compare(c.rows[b].Time) })
	}
	c.forget()
	return c.read, nil
}

// name returns a text that many calls have, so that it is in memory once.
func (c *Calls) name(text string) string {
	if _, known := c.names[text]; !known {
		c.names[text] = text
	}
	return c.names[text]
}

// decisions are in the order in which one replaces another: the lines of a call can come
// from two files.
var decisions = []string{"", "plan", "ask", "reply", "allow", "deny", "skip"}

// describe adds to a call what a line of it says.
func (c *Calls) describe(r *Call, l audit.Line) {
	set := func(to *string, value string) {
		if value != "" {
			*to = c.name(value)
		}
	}
	set(&r.Agent, l.Agent)
	set(&r.Client, l.Client)
	set(&r.Surface, l.Surface)
	set(&r.Vault, l.Vault)
	set(&r.Command, l.Command)
	set(&r.Effect, l.Effect)
	set(&r.Backend, l.Backend)
	set(&r.Change, l.Change)
	set(&r.By, l.By)
	if l.Time.Before(r.Time) {
		r.Time = l.Time
	}
	took := time.Duration(min(max(l.DurationMs, 0), 1<<31)) * time.Millisecond
	r.Approved = r.Approved || l.Decision == "reply"
	if l.Note != "" {
		r.Note = NoteOf(l.Note)
	}
	switch {
	case l.Kind == "end":
		r.Ended, r.Duration, r.Code = true, took, c.name(l.Code)
		if l.Exit != nil {
			r.Exit = *l.Exit
		}
		set(&r.Rule, l.Rule)
	case l.Kind != "decision":
		set(&r.Kind, l.Kind)
		set(&r.Decision, l.Decision)
		set(&r.Code, l.Code)
		r.Duration, r.Count, r.Ended = took, int(min(l.Count, 1<<31)), true
	case slices.Index(decisions, l.Decision) >= slices.Index(decisions, r.Decision):
		set(&r.Decision, l.Decision)
		if !r.Ended {
			r.Rule, r.Code = c.name(l.Rule), c.name(l.Code)
		}
		r.Declined = r.Declined || l.Declined
		switch l.Decision {
		case "skip":
			r.Ended = true
		case "deny":
			r.Ended, r.Duration = true, took
			set(&r.Rule, l.Rule)
			set(&r.Code, l.Code)
		}
	}
}

// forget drops the oldest calls when there are too many, and the ids of those that have
// ended a while ago: their last lines have come.
func (c *Calls) forget() {
	const waiting = 4096 // calls whose lines may still come
	if len(c.rows) > c.max {
		drop := len(c.rows) / 4
		c.rows = slices.Clone(c.rows[drop:])
		c.first += uint64(drop)
		c.skipped = true
		c.order = slices.DeleteFunc(c.order, func(i int32) bool { return int(i) < drop })
		for i := range c.order {
			c.order[i] -= int32(drop)
		}
		clear(c.names) // the calls that are left have theirs
	}
	if len(c.byCall) > 2*waiting {
		maps.DeleteFunc(c.byCall, func(_ string, number uint64) bool { return number+waiting < c.first+uint64(len(c.rows)) })
	}
}

// backward yields the calls in the order of time, the newest first.
func (c *Calls) backward() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, i := range slices.Backward(c.order) {
			if !yield(&c.rows[i]) {
				return
			}
		}
	}
}
