package activity

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/policy"
)

// Call is one call, or a line of the log that is about none.
type Call struct {
	// ID is that of the call in the audit log, or names the line of the log.
	ID string
	// Number tells calls apart while the program runs.
	Number uint64
	Time   time.Time
	// Kind is "" for a call, and that of the line for any other.
	Kind                                                             string
	Session, Agent, Client, Surface, Vault, Command, Effect, Backend string
	// Decision is allow, deny, ask, reply or plan; Ended is false while a call waits for
	// the user or runs.
	Decision, Rule, Code, Change, By string
	Ended, Approved                  bool
	Exit                             int
	Duration                         time.Duration
	Count                            int // of calls in one row, 0 for one
	// Note is the digest of the path of the note that the call names, 0 for none.
	Note Note
}

// Note is the keyed digest of the path of a note, as a number. The log has no other name for one.
type Note uint64

// NoteOf returns the number of a digest as it is in the log, 0 for none.
func NoteOf(digest string) Note {
	number, _ := strconv.ParseUint(digest, 16, 64) // a text that is no digest is none
	return Note(number)
}

// Who is the agent that called, or what its client calls itself; "" if neither is known.
func (c Call) Who() string { return cmp.Or(c.Agent, c.Client) }

func (c *Calls) call(number uint64, r *row) Call {
	one := c.unnamed(number, r)
	one.ID = c.id(r)
	return one
}

// unnamed returns a call without its ID, which takes as long as all the rest.
func (c *Calls) unnamed(number uint64, r *row) Call {
	t := c.names.texts
	return Call{
		Number: number, Time: time.UnixMilli(r.at).UTC(), Kind: t[r.kind],
		Session: t[r.session], Agent: t[r.agent], Client: t[r.client], Surface: t[r.surface], Vault: t[r.vault], Command: t[r.command], Effect: t[r.effect], Backend: t[r.backend],
		Decision: t[r.decision], Rule: t[r.rule], Code: t[r.code], Change: t[r.change], By: t[r.by], Ended: r.ended, Approved: r.approved,
		Exit: int(r.exit), Duration: time.Duration(r.ms) * time.Millisecond, Count: int(r.count), Note: r.note,
	}
}

func (c *Calls) id(r *row) string {
	if r.number == 0 {
		return fmt.Sprintf("line%d-%d", c.lines[r.lines].part, r.seq)
	}
	return fmt.Sprintf("%s-%d", c.names.texts[r.session], r.number)
}

// Own reports whether the owner of the notes called, and no agent: on the page, at a
// terminal, or by a completion or a check, which name no surface.
func (c Call) Own() bool {
	return c.Surface == "page" || c.Surface == "terminal" || c.Surface == "" && c.Kind == ""
}

// Outcome is what became of a call, in one word: allowed, denied, failed, asked, planned,
// approved or noted. A call that waits for the user or that they have declined was asked.
func (c Call) Outcome() string {
	switch {
	case c.Kind == "approval" && c.Decision == "approve":
		return "approved"
	case c.Kind == "" && (c.Decision == "ask" || c.Decision == "deny" && c.Code == policy.CodeUnconfirmed):
		return "asked"
	case c.Kind == "approval" || c.Decision == "deny" || c.Kind == "limited":
		return "denied"
	case c.Kind != "":
		return "noted"
	case c.Decision == "plan":
		return "planned"
	case c.Code != "":
		return "failed"
	}
	return "allowed"
}

// Filter says which calls are wanted. A field that is "" wants all.
type Filter struct {
	Since, Until            time.Time // not before, before; zero for no bound
	Who                     string    // see [Call.Who]
	Vault, Command, Outcome string
	Session                 string
	Text                    string        // appears in a name, in whatever case
	Notes                   map[Note]bool // those whose names have the text
	Changes                 bool          // only calls that changed something
}

// wanted yields the calls that a filter wants, with their numbers, in the order of time, the newest first.
func (c *Calls) wanted(f Filter) iter.Seq2[uint64, *row] {
	since, until := int64(0), int64(1<<62)
	if !f.Since.IsZero() {
		since = f.Since.UnixMilli()
	}
	if !f.Until.IsZero() {
		until = f.Until.UnixMilli()
	}
	text := strings.ToLower(f.Text)
	var exact []func(r *row) bool
	for _, one := range []struct {
		text string
		of   func(r *row) name
	}{
		{f.Who, func(r *row) name { return cmp.Or(r.agent, r.client) }}, {f.Vault, func(r *row) name { return r.vault }},
		{f.Command, func(r *row) name { return r.command }}, {f.Session, func(r *row) name { return r.session }},
	} {
		if one.text == "" {
			continue
		}
		number, known := c.names.numbers[one.text]
		exact = append(exact, func(r *row) bool { return known && one.of(r) == number })
	}
	is := func(number uint64, r *row) bool {
		if r.at >= until || f.Changes && r.change == 0 {
			return false
		}
		for _, has := range exact {
			if !has(r) {
				return false
			}
		}
		if f.Outcome == "" && text == "" {
			return true
		}
		one := c.unnamed(number, r)
		if f.Outcome != "" && one.Outcome() != f.Outcome {
			return false
		}
		return text == "" || f.Notes[one.Note] || slices.ContainsFunc([]string{
			one.Command, one.Agent, one.Client, one.Vault, one.Code, one.Rule, one.Session, one.Backend, one.Change, one.Kind, one.Surface,
		}, func(name string) bool { return strings.Contains(strings.ToLower(name), text) })
	}
	return func(yield func(uint64, *row) bool) {
		for number, r := range c.backward() {
			if r.at < since || is(number, r) && !yield(number, r) {
				return
			}
		}
	}
}

// Page is a part of the calls that a filter wants.
type Page struct {
	Calls []Call // the newest first
	Total int    // how many the filter wants in all
	Own   int    // of them by the owner, who is not in the figures
	Older uint64 // what [Calls.Page] takes for the next page, 0 for none
	// Dropped says that there were older calls, which are not kept.
	Dropped bool
}

// Page returns at most limit calls that a filter wants, in the order of time, the newest first,
// after the call with the number before; 0 begins with the newest.
func (c *Calls) Page(f Filter, before uint64, limit int) (p Page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Dropped = c.skipped
	at := int64(-1) // when the call before was; all are newer than one that is not kept
	if i := before - c.first; before > 0 && i < uint64(len(c.rows)) {
		at = c.rows[i].at
	}
	for number, r := range c.wanted(f) {
		p.Total++
		if c.unnamed(number, r).Own() {
			p.Own++
		}
		switch {
		case before > 0 && (r.at > at || r.at == at && number >= before):
		case len(p.Calls) < limit:
			p.Calls = append(p.Calls, c.call(number, r))
		case p.Older == 0 && limit > 0:
			p.Older = p.Calls[limit-1].Number
		}
	}
	return p
}

// One returns a call with the lines of the log about it, the oldest first. Lines that are
// no longer kept are missing.
func (c *Calls) One(id string) (call Call, lines []audit.Line, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ending, err := strconv.ParseUint(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	if err != nil {
		return call, nil, false
	}
	for number, r := range c.backward() {
		if ending == max(r.number, r.seq) && c.id(r) == id {
			for _, at := range c.linesOf(*r) {
				if l, found := c.parts[c.lines[at].part].At(c.lines[at].place); found {
					lines = append(lines, l)
				}
			}
			slices.SortStableFunc(lines, func(a, b audit.Line) int {
				return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Seq, b.Seq))
			})
			return c.call(number, r), lines, true
		}
	}
	return call, nil, false
}

// Latest returns the newest call that a filter wants.
func (c *Calls) Latest(f Filter) (call Call, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for number, r := range c.wanted(f) {
		return c.call(number, r), true
	}
	return call, false
}

// Last returns the call that was read last, and false if there is none.
func (c *Calls) Last() (call Call, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rows) == 0 {
		return call, false
	}
	return c.call(c.first+uint64(len(c.rows)-1), &c.rows[len(c.rows)-1]), true
}

// Names returns who called, and the vaults and commands of the calls, sorted, for the choices of
// a filter.
func (c *Calls) Names() (who, vaults, commands []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := [3]map[name]bool{{}, {}, {}}
	for i := range c.rows {
		r := &c.rows[i]
		seen[0][cmp.Or(r.agent, r.client)], seen[1][r.vault], seen[2][r.command] = true, true, true
	}
	var lists [3][]string
	for i, set := range seen {
		for number := range set {
			if number != 0 {
				lists[i] = append(lists[i], c.names.texts[number])
			}
		}
		slices.Sort(lists[i])
		lists[i] = lists[i][:min(len(lists[i]), maxChoices)]
	}
	return lists[0], lists[1], lists[2]
}

// maxChoices bounds the choices of a filter: clients choose their names.
const maxChoices = 200

// name is the number of a text that many calls have in common. The zero name is "".
type name uint32

// names gives texts their numbers.
type names struct {
	numbers map[string]name
	texts   []string
}

func (n *names) number(text string) name {
	number, known := n.numbers[text]
	if !known {
		number = name(len(n.texts))
		n.numbers[text], n.texts = number, append(n.texts, text)
	}
	return number
}
