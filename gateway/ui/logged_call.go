package ui

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/policy"
)

// loggedCall is one call, or a line of the log that is about none.
type loggedCall struct {
	// ID is that of the call in the audit log, or names the line of the log.
	ID string
	// Number tells calls apart while the program runs.
	Number uint64
	Time   time.Time
	// Kind is "" for a call, and that of the line for any other.
	Kind                                                             string
	Session, Agent, Client, Surface, Vault, Command, Effect, Backend string
	// Decision is allow, deny, ask, reply, plan or skip, of an approval approve, deny or withdraw; Ended is false
	// while a call waits for the user or runs. Declined says that the user declined it, or the same one before.
	Decision, Rule, Code, Change, By string
	Question                         string // the id of the one that the user was asked about the call
	Ended, Approved, Declined        bool
	Exit                             int
	Duration                         time.Duration
	Count                            int // of calls in one row, 0 for one
	// Note is the digest of the path of the note that the call names, 0 for none.
	Note noteKey
}

// noteKey is the keyed digest of the path of a note, as a number. The log has no other name for one.
type noteKey uint64

// noteKeyOf returns the number of a digest as it is in the log, 0 for none.
func noteKeyOf(digest string) noteKey {
	number, _ := strconv.ParseUint(digest, 16, 64) // a text that is no digest is none
	return noteKey(number)
}

// kindApproval is the kind of the line in which the owner has decided about a call.
const kindApproval = "approval"

// Asker is the agent that called, or what its client calls itself; "" if neither is known. Of what the owner
// decided it is the one that asked.
func (c loggedCall) Asker() string { return cmp.Or(c.Agent, c.Client) }

// Who is who called, as [loggedCall.Asker], or where the owner decided.
func (c loggedCall) Who() string {
	if c.Kind == kindApproval {
		return c.By
	}
	return c.Asker()
}

// Own reports whether the owner of the notes called or decided, and no agent: on the page, at a
// terminal, or by a completion or a check, which name no surface.
func (c loggedCall) Own() bool {
	isOfOwner := c.Surface == "page" || c.Surface == "terminal"
	isUnnamed := c.Surface == "" && c.Kind == ""
	return isOfOwner || isUnnamed || c.Kind == kindApproval
}

// readEffect is the effect of a call that changes nothing, as the log names it.
const readEffect = "read"

// reads reports whether it is a call that names a note and changes nothing.
func (c loggedCall) reads() bool {
	isOfNote := c.Note != 0 && c.Change == ""
	return isOfNote && (c.Effect == "" || c.Effect == readEffect)
}

// Calls is how many calls it represents, 0 for a line that is about none.
func (c loggedCall) Calls() int {
	if c.Kind != "" && c.Kind != audit.KindLimited {
		return 0
	}
	return max(1, c.Count)
}

// decided are the outcomes of what the owner decided.
var decided = map[string]string{"approve": "approved", "deny": "declined", "withdraw": "withdrawn"}

// Outcome is what became of a call, in one word: allowed, denied, failed, asked, planned or skipped, of what the
// owner decided approved, declined or withdrawn, and noted of any other line. A call that waits for the user was
// asked, one that they declined was denied; so was one that was let through, and refused for what the note says.
func (c loggedCall) Outcome() string {
	isUnconfirmed := c.Decision == "deny" && c.Code == policy.CodeUnconfirmed
	endedWith := ""
	if c.Ended && c.Code != policy.CodeUnconfirmed {
		endedWith = c.Code
	}
	isRefused := c.Decision == "deny" || endedWith != "" && failure.ClassOf(endedWith) == failure.Refused
	isPending := c.Decision == "ask" || isUnconfirmed && !c.Declined
	switch {
	case c.Kind == kindApproval:
		return cmp.Or(decided[c.Decision], "noted")
	case c.Kind == "" && isPending:
		return "asked"
	case c.Kind == audit.KindLimited:
		return "denied"
	case c.Decision == "skip":
		return "skipped"
	case c.Kind != "":
		return "noted"
	case isRefused:
		return "denied"
	case c.Decision == "plan":
		return "planned"
	case c.Code != "":
		return "failed"
	}
	return "allowed"
}

// callFilter says which calls are wanted. A field that is "" wants all.
type callFilter struct {
	Since, Until            time.Time // not before, before; zero for no bound
	Who                     string    // see [loggedCall.Who]
	Vault, Command, Outcome string
	Session                 string
	Text                    string           // appears in a name, in whatever case
	Notes                   map[noteKey]bool // those whose names have the text
	Changes                 bool             // only calls that changed something
}

// wanted yields the calls that a filter wants, in the order of time, the newest first.
func (c *CallLog) wanted(f callFilter) iter.Seq[*row] {
	text := strings.ToLower(f.Text)
	is := func(r *row) bool {
		isTooLate := !f.Until.IsZero() && !r.Time.Before(f.Until)
		isUnchanging := r.Change == ""
		if isTooLate || f.Changes && isUnchanging {
			return false
		}
		for _, pair := range [][2]string{{f.Who, r.Who()}, {f.Vault, r.Vault}, {f.Command, r.Command}, {f.Session, r.Session}, {f.Outcome, r.Outcome()}} {
			if pair[0] != "" && pair[0] != pair[1] {
				return false
			}
		}
		return text == "" || f.Notes[r.Note] || slices.ContainsFunc([]string{
			r.Command, r.Agent, r.Client, r.Vault, r.Code, r.Rule, r.Session, r.Backend, r.Change, r.Kind, r.Surface, r.Question,
		}, func(name string) bool { return strings.Contains(strings.ToLower(name), text) })
	}
	return func(yield func(*row) bool) {
		for r := range c.backward() {
			if r.Time.Before(f.Since) || is(r) && !yield(r) {
				return
			}
		}
	}
}

// callPage is a part of the calls that a filter wants.
type callPage struct {
	Calls []loggedCall // the newest first
	Total int          // how many the filter wants in all, with the lines about no call
	Made  int          // how many calls these are: a line can count several
	Own   int          // of them by the owner, who is not in the figures
	Other int          // lines about no call: what the owner decided, and the log's own
	Older uint64       // what [CallLog.Page] takes for the next page, 0 for none
	// Dropped says that there are older calls, which are not kept; Partial, that older ones are still to be read.
	Dropped, Partial bool
}

// Page returns at most limit calls that a filter wants, in the order of time, the newest first,
// after the call with the number before; 0 begins with the newest.
func (c *CallLog) Page(f callFilter, before uint64, limit int) (p callPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Dropped = c.skipped
	p.Partial = c.partial
	var at time.Time // when the call before was; all are newer than one that is not kept
	if i := before - c.first; before > 0 && i < uint64(len(c.rows)) {
		at = c.rows[i].Time
	}
	for r := range c.wanted(f) {
		calls := r.Calls()
		p.Total++
		p.Made += calls
		switch {
		case calls == 0:
			p.Other++
		case r.Own():
			p.Own += calls
		}
		isNewer := r.Time.After(at) || r.Time.Equal(at) && r.Number >= before
		switch {
		case before > 0 && isNewer:
		case len(p.Calls) < limit:
			p.Calls = append(p.Calls, r.loggedCall)
		case p.Older == 0 && limit > 0:
			p.Older = p.Calls[limit-1].Number
		}
	}
	return p
}

// Answered returns the calls that came with the answer to a question, given with its id: the oldest first, those that
// ended after a time. A call that only asked, or that the user declined, is none of them.
func (c *CallLog) Answered(question string, after time.Time) (calls []loggedCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.backward() {
		if r.Time.Before(after.Add(-longestCall)) {
			break
		}
		isUsed := r.Approved || r.Decision == "deny" && r.Code != policy.CodeUnconfirmed
		isBefore := r.Ended && r.Time.Add(r.Duration).Before(after)
		if r.Question == question && isUsed && !isBefore {
			calls = append(calls, r.loggedCall)
		}
	}
	slices.Reverse(calls)
	return calls
}

// longestCall is more than a call takes that waits for the user.
const longestCall = 10 * time.Minute

// One returns a call with the lines of the log about it, the oldest first. Lines that are
// no longer kept are missing.
func (c *CallLog) One(id string) (call loggedCall, lines []audit.Line, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.backward() {
		if r.ID != id {
			continue
		}
		for _, at := range r.lines {
			if l, found := c.parts[at.part].At(at.place); found {
				lines = append(lines, l)
			}
		}
		slices.SortStableFunc(lines, func(a, b audit.Line) int {
			return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Seq, b.Seq))
		})
		return r.loggedCall, lines, true
	}
	return call, nil, false
}

// Latest returns the newest call that a filter wants.
func (c *CallLog) Latest(f callFilter) (call loggedCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.wanted(f) {
		return r.loggedCall, true
	}
	return call, false
}

// Last returns the call that was read last, and false if there is none.
func (c *CallLog) Last() (call loggedCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rows) == 0 {
		return call, false
	}
	return c.rows[len(c.rows)-1].loggedCall, true
}

// Names returns who called, and the vaults and commands of the calls, sorted, for the choices of
// a filter.
func (c *CallLog) Names() (who, vaults, commands []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := [3]map[string]bool{{}, {}, {}}
	for i := range c.rows {
		r := &c.rows[i]
		if r.Kind != kindApproval {
			seen[0][r.Who()] = true
		}
		seen[1][r.Vault], seen[2][r.Command] = true, true
	}
	var lists [3][]string
	for i, set := range seen {
		delete(set, "")
		lists[i] = slices.Sorted(maps.Keys(set))
		lists[i] = lists[i][:min(len(lists[i]), maxChoices)]
	}
	return lists[0], lists[1], lists[2]
}

// maxChoices bounds the choices of a filter: clients choose their names.
const maxChoices = 200
