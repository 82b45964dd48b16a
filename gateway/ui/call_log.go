package ui

// A [CallLog] keeps the calls of the audit log in memory, and answers the queries of the page: the newest calls that
// match a filter, one call with all its lines, and the figures of a period.
//
// The log is read from its end: its last part at once, so that the first answer does not have to wait, and then new
// lines, and older parts one by one. Names are chosen by clients, and are cleaned when they are displayed. The log
// contains no text and no path of a note.

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
)

const (
	// firstRead is how many bytes at the end of each part of the log are read before the first answer: about 1,200
	// lines. olderRead is how many bytes before them are read at a time.
	firstRead = 512 << 10
	olderRead = 4 << 20

	// maxRead is the maximum number of bytes that are read of each part of the log: about 150,000 lines. "vaultwicket
	// audit list" lists older ones.
	maxRead = 64 << 20

	// firstCallNumber is the number of the first call that is read. Older calls get lower numbers.
	firstCallNumber = 1 << 32

	// waiting is how many calls at either end are indexed by id, because they may get more lines.
	waiting = 4096

	// maxCalls is the maximum number of calls. At the limit the oldest quarter is dropped.
	maxCalls = 200_000
)

// CallLog has the calls of the audit log in a state folder. It is safe for concurrent use by
// goroutines.
type CallLog struct {
	parts [2]*audit.Follower
	max   int // maximum number of calls

	reading sync.Mutex // held while older lines are read
	older   [2]olderPart

	mu      sync.Mutex
	rows    []row
	order   []int32           // indexes of rows by time: a line of an earlier call may be written later
	first   uint64            // the number of rows[0]; numbers are consecutive
	byCall  map[string]uint64 // numbers of rows that may get more lines, by id
	names   map[string]string // names that calls share, so that each is in memory once
	read    uint64            // number of lines read so far
	skipped bool              // there are older calls, which are not kept
	begun   bool              // the newest lines were read
	partial bool              // older calls have not been read yet
	texts   map[textDay]int   // number of each outcome of text rules
}

// row is a call and its lines.
type row struct {
	loggedCall
	lines []line
}

// olderPart is the state of reading one part of the log backwards.
type olderPart struct {
	log   *audit.Older
	bytes int64 // read so far
	ended bool
}

// line is the location of a line in the log.
type line struct {
	part  int
	place audit.Place
}

// OpenCallLog returns the calls of the audit log in a state folder. It reads nothing yet.
func OpenCallLog(state string) *CallLog {
	return &CallLog{
		parts: [2]*audit.Follower{
			audit.Follow(audit.AuditFolder(state), firstRead),
			audit.Follow(audit.CallsFolder(state), firstRead),
		},
		max:    maxCalls,
		first:  firstCallNumber,
		byCall: map[string]uint64{},
		names:  map[string]string{},
		texts:  map[textDay]int{},
	}
}

// Update reads the new lines of the log. It returns how many lines were read since [OpenCallLog], so that
// callers can find out whether there are new ones.
func (c *CallLog) Update() (read uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := len(c.rows)
	for part, follower := range c.parts {
		err = follower.Take(0, func(place audit.Place, l audit.Line, _ []byte) {
			number, known := c.byCall[l.Call]
			if l.Call == "" || !known || number < c.first {
				number = c.first + uint64(len(c.rows))
				c.rows = append(c.rows, c.newRow(part, l))
				if l.Call != "" {
					c.byCall[l.Call] = number
				}
			}
			c.add(&c.rows[number-c.first], line{part, place}, l)
		})
		if err != nil {
			return c.read, err
		}
	}
	if !c.begun {
		c.begun = true
		c.partial = c.parts[0].HasOlder() || c.parts[1].HasOlder()
	}
	// Sort the new calls by time: the parts of the log are read one after the other, and the line
	// of a slow call comes after those of later ones. Calls that were shown keep their numbers.
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
		from, _ := slices.BinarySearchFunc(
			c.order[:known],
			c.rows[known].Time,
			func(i int32, at time.Time) int { return c.rows[i].Time.Compare(at) },
		)
		slices.SortStableFunc(c.order[from:], func(a, b int32) int { return c.rows[a].Time.Compare(c.rows[b].Time) })
	}
	c.forget()
	return c.read, nil
}

// newRow returns the row of the call of a line, or of a line about no call, without its lines.
func (c *CallLog) newRow(part int, l audit.Line) row {
	r := row{loggedCall: loggedCall{ID: l.Call, Session: c.name(l.Session), Time: l.Time}}
	if l.Call == "" {
		r.ID = fmt.Sprintf("line%d-%d", part, l.Seq)
	}
	return r
}

// add adds a line to a row.
func (c *CallLog) add(r *row, at line, l audit.Line) {
	r.lines = append(r.lines, at)
	c.describe(&r.loggedCall, l)
	for rule, did := range l.TextOutcomes() {
		c.texts[textDay{l.Time.Local().Format(time.DateOnly), rule, did}]++
	}
	c.read++
}

// ReadOlder reads one more block of lines before the known calls. more is false once there are none, or the maximum
// number of calls is reached. Call it after the first [CallLog.Update]; it does not block queries for long. The error is
// that of the log, or of ctx once it has ended.
func (c *CallLog) ReadOlder(ctx context.Context) (more bool, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	type olderLine struct {
		at   line
		line audit.Line
	}
	for part := range c.older {
		older := &c.older[part]
		if older.log == nil {
			c.mu.Lock()
			older.log = c.parts[part].Older()
			older.bytes = firstRead
			c.mu.Unlock()
		}
		if older.ended || older.bytes >= maxRead {
			continue
		}
		var lines []olderLine
		goesOn, err := older.log.Take(ctx, olderRead, func(at audit.Place, l audit.Line) {
			lines = append(lines, olderLine{line{part, at}, l})
		})
		if err != nil {
			return true, err
		}
		older.ended = !goesOn
		older.bytes += olderRead
		c.mu.Lock()
		known := c.oldest()
		var rows []row
		begun := map[string]int{}
		for _, l := range lines {
			id := l.line.Call
			if number, isKnown := known[id]; isKnown && id != "" {
				c.add(&c.rows[number-c.first], l.at, l.line)
				continue
			}
			i, isBegun := begun[id]
			if !isBegun || id == "" {
				i = len(rows)
				rows = append(rows, c.newRow(part, l.line))
				begun[id] = i
			}
			c.add(&rows[i], l.at, l.line)
		}
		c.prepend(rows)
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	isFull := len(c.rows) >= c.max*3/4
	for _, older := range c.older {
		hasMore := !older.ended
		isLimitReached := isFull || older.bytes >= maxRead
		more = more || hasMore && !isLimitReached
		c.skipped = c.skipped || hasMore && isLimitReached
	}
	c.partial = more
	return more, nil
}

// oldest returns the numbers of the oldest known calls, by id.
func (c *CallLog) oldest() map[string]uint64 {
	known := map[string]uint64{}
	for _, i := range c.order[:min(len(c.order), waiting)] {
		known[c.rows[i].ID] = c.rows[i].Number
	}
	return known
}

// prepend adds rows that are mostly older than the known ones.
func (c *CallLog) prepend(rows []row) {
	slices.SortStableFunc(rows, func(a, b row) int { return a.Time.Compare(b.Time) })
	c.first -= uint64(len(rows))
	order := make([]int32, 0, len(rows)+len(c.order))
	for i := range rows {
		rows[i].Number = c.first + uint64(i)
		order = append(order, int32(i))
	}
	for _, i := range c.order {
		order = append(order, i+int32(len(rows)))
	}
	c.rows = slices.Concat(rows, c.rows)
	c.order = order
	slices.SortStableFunc(c.order, func(a, b int32) int { return c.rows[a].Time.Compare(c.rows[b].Time) })
}

// name returns a shared copy of a text that many calls have.
func (c *CallLog) name(text string) string {
	if _, known := c.names[text]; !known {
		c.names[text] = text
	}
	return c.names[text]
}

// decisions are in ascending precedence, because the lines of a call may come from two files in any
// order.
var decisions = []string{"", "plan", "ask", "reply", "allow", "deny", "skip"}

// describe adds the content of a line to its call.
func (c *CallLog) describe(r *loggedCall, l audit.Line) {
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
	set(&r.Question, l.Question)
	if l.Time.Before(r.Time) {
		r.Time = l.Time
	}
	took := time.Duration(min(max(l.DurationMs, 0), 1<<31)) * time.Millisecond
	r.Approved = r.Approved || l.Decision == "reply"
	if l.Note != "" {
		r.Note = noteKeyOf(l.Note)
	}
	switch {
	case l.Kind == "end":
		r.Ended = true
		r.Duration = took
		r.Code = c.name(l.Code)
		if l.Exit != nil {
			r.Exit = *l.Exit
		}
		set(&r.Rule, l.Rule)
	case l.Kind != "decision":
		set(&r.Kind, l.Kind)
		set(&r.Decision, l.Decision)
		set(&r.Code, l.Code)
		r.Duration = took
		r.Count = int(min(l.Count, 1<<31))
		r.Ended = true
	case slices.Index(decisions, l.Decision) >= slices.Index(decisions, r.Decision):
		set(&r.Decision, l.Decision)
		if !r.Ended {
			r.Rule = c.name(l.Rule)
			r.Code = c.name(l.Code)
		}
		r.Declined = r.Declined || l.Declined
		switch l.Decision {
		case "skip":
			r.Ended = true
		case "deny":
			r.Ended = true
			r.Duration = took
			set(&r.Rule, l.Rule)
			set(&r.Code, l.Code)
		}
	}
}

// forget drops the oldest calls if there are too many, and the ids of older calls, which get no more
// lines.
func (c *CallLog) forget() {
	if len(c.rows) > c.max {
		drop := len(c.rows) / 4
		c.rows = slices.Clone(c.rows[drop:])
		c.first += uint64(drop)
		c.skipped = true
		c.order = slices.DeleteFunc(c.order, func(i int32) bool { return int(i) < drop })
		for i := range c.order {
			c.order[i] -= int32(drop)
		}
		clear(c.names) // the remaining calls keep their own references
	}
	if len(c.byCall) > 2*waiting {
		maps.DeleteFunc(
			c.byCall,
			func(_ string, number uint64) bool { return number+waiting < c.first+uint64(len(c.rows)) },
		)
	}
}

// backward yields the calls by time, newest first.
func (c *CallLog) backward() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, i := range slices.Backward(c.order) {
			if !yield(&c.rows[i]) {
				return
			}
		}
	}
}
