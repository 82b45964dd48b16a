// Package activity keeps the calls of the audit log in memory, in a form that takes some
// tens of bytes each, and answers what the page asks about them: the newest ones that a
// filter wants, one with all its lines, and figures of a time.
//
// The log is read once from near its end, and then its new lines. Names are chosen by clients, and
// are cleaned when they are shown. The log has no text and no path of a note, so none is here.
package activity

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vaultwicket/gateway/state/audit"
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
	order   []int32 // the rows by their times: a line of an earlier call can be written later
	first   uint64  // the number of rows[0]; numbers rise by one
	lines   []line
	byCall  map[callKey]uint64 // numbers of rows that may get more lines
	names   names
	read    uint64          // lines, since the beginning
	skipped bool            // lines of calls that are not kept were dropped
	texts   map[TextDay]int // by outcome
}

// row is a call. Its names are numbers in [names].
type row struct {
	at       int64 // Unix milliseconds of its first line
	ms       uint32
	number   uint64 // in its session, 0 for a line that is about no call
	seq      uint64 // of such a line in its part of the log
	lines    int32  // index of its last line in Calls.lines, -1 for none
	count    uint32 // of calls in one row, 0 for one
	note     Note
	exit     int16
	ended    bool
	approved bool
	session, agent, client, surface, vault, command,
	effect, decision, rule, code, backend, change, kind, by name
}

// line is where a line of a call is in the log.
type line struct {
	place  audit.Place
	before int32 // the line of the call before it, -1 for none
	part   uint8
}

type callKey struct {
	session name
	number  uint64
}

// Open returns the calls of the audit log in a state folder. It reads nothing yet.
func Open(state string) *Calls {
	return &Calls{
		parts: [2]*audit.Follower{audit.Follow(audit.AuditFolder(state), firstRead), audit.Follow(audit.CallsFolder(state), firstRead)},
		max:   maxCalls, first: 1, // 0 is none
		byCall: map[callKey]uint64{}, names: names{map[string]name{"": 0}, []string{""}}, texts: map[TextDay]int{},
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
			key := callKey{session: c.names.number(l.Session)}
			if text, found := strings.CutPrefix(l.Call, l.Session+"-"); found {
				if n, err := strconv.ParseUint(text, 10, 63); err == nil {
					key.number = n
				}
			}
			number, known := c.byCall[key]
			if key.number == 0 || !known || number < c.first {
				number = c.first + uint64(len(c.rows))
				one := row{at: l.Time.UnixMilli(), number: key.number, session: key.session, lines: -1}
				if key.number > 0 {
					c.byCall[key] = number
				} else {
					one.seq = l.Seq
				}
				c.rows = append(c.rows, one)
			}
			r := &c.rows[number-c.first]
			c.lines = append(c.lines, line{place, r.lines, uint8(part)})
			r.lines = int32(len(c.lines) - 1)
			r.at = min(r.at, l.Time.UnixMilli())
			c.describe(r, l)
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
	slices.SortStableFunc(c.rows[known:], func(a, b row) int { return cmp.Compare(a.at, b.at) })
	for i, r := range c.rows[known:] {
		c.order = append(c.order, int32(known+i))
		if r.number > 0 {
			c.byCall[callKey{r.session, r.number}] = c.first + uint64(known+i)
		}
	}
	if known < len(c.rows) {
		from, _ := slices.BinarySearchFunc(c.order[:known], c.rows[known].at, func(i int32, at int64) int { return cmp.Compare(c.rows[i].at, at) })
		slices.SortStableFunc(c.order[from:], func(a, b int32) int { return cmp.Compare(c.rows[a].at, c.rows[b].at) })
	}
	c.forget()
	return c.read, nil
}

// decisions are in the order in which one replaces another: the lines of a call can come
// from two files.
var decisions = []string{"", "plan", "ask", "reply", "allow", "deny"}

// describe adds to a call what a line of it says.
func (c *Calls) describe(r *row, l audit.Line) {
	set := func(to *name, value string) {
		if value != "" {
			*to = c.names.number(value)
		}
	}
	set(&r.agent, l.Agent)
	set(&r.client, l.Client)
	set(&r.surface, l.Surface)
	set(&r.vault, l.Vault)
	set(&r.command, l.Command)
	set(&r.effect, l.Effect)
	set(&r.backend, l.Backend)
	set(&r.change, l.Change)
	set(&r.by, l.By)
	took := uint32(min(max(l.DurationMs, 0), 1<<31))
	r.approved = r.approved || l.Decision == "reply"
	if l.Note != "" {
		r.note = NoteOf(l.Note)
	}
	switch {
	case l.Kind == "end":
		r.ended = true
		r.ms = took
		r.code = c.names.number(l.Code)
		if l.Exit != nil {
			r.exit = int16(*l.Exit)
		}
		set(&r.rule, l.Rule)
	case l.Kind != "decision":
		set(&r.kind, l.Kind)
		set(&r.decision, l.Decision)
		set(&r.code, l.Code)
		r.ms, r.count, r.ended = took, uint32(min(l.Count, 1<<31)), true
	case slices.Index(decisions, l.Decision) >= slices.Index(decisions, c.names.texts[r.decision]):
		set(&r.decision, l.Decision)
		if !r.ended {
			r.rule, r.code = c.names.number(l.Rule), c.names.number(l.Code)
		}
		if l.Decision == "deny" {
			r.ended, r.ms = true, took
			set(&r.rule, l.Rule)
			set(&r.code, l.Code)
		}
	}
}

// forget drops the oldest calls when there are too many, and the keys of those that have
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
		// The lines and names that no call has any more.
		lines, fresh := make([]line, 0, len(c.lines)), names{map[string]name{"": 0}, []string{""}}
		clear(c.byCall)
		for i := range c.rows {
			r := &c.rows[i]
			last := int32(-1)
			for _, at := range slices.Backward(c.linesOf(*r)) {
				l := c.lines[at]
				lines = append(lines, line{l.place, last, l.part})
				last = int32(len(lines) - 1)
			}
			r.lines = last
			for _, n := range []*name{
				&r.session, &r.agent, &r.client, &r.surface, &r.vault, &r.command, &r.effect, &r.decision, &r.rule, &r.code, &r.backend, &r.change, &r.kind, &r.by,
			} {
				*n = fresh.number(c.names.texts[*n])
			}
			if r.number > 0 {
				c.byCall[callKey{r.session, r.number}] = c.first + uint64(i)
			}
		}
		c.lines, c.names = lines, fresh
	}
	if len(c.byCall) > 2*waiting {
		for key, number := range c.byCall {
			if number+waiting < c.first+uint64(len(c.rows)) {
				delete(c.byCall, key)
			}
		}
	}
}

// linesOf returns the indices of the lines of a call, the latest first.
func (c *Calls) linesOf(r row) (at []int32) {
	for i := r.lines; i >= 0; i = c.lines[i].before {
		at = append(at, i)
	}
	return at
}

// backward yields the calls and their numbers in the order of time, the newest first.
func (c *Calls) backward() iter.Seq2[uint64, *row] {
	return func(yield func(uint64, *row) bool) {
		for _, i := range slices.Backward(c.order) {
			if !yield(c.first+uint64(i), &c.rows[i]) {
				return
			}
		}
	}
}
