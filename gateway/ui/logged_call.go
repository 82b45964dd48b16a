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

// loggedCall is a call, or a line of the log about no call.
type loggedCall struct {
	// ID is the id of the call in the audit log, or identifies the line.
	ID string
	// Number identifies the call while the program runs.
	Number uint64
	Time   time.Time
	// Kind is "" for a call, and the kind of the line otherwise.
	Kind                                                             string
	Session, Agent, Client, Surface, Vault, Command, Effect, Backend string
	// Decision is allow, deny, ask, reply, plan or skip for a call, and approve, deny or withdraw for an approval. Ended
	// is false while a call waits for the user or runs. Declined is set if the user declined it, or the same call before.
	Decision, Rule, Code, Change, By string
	Question                         string // id of the question to the user about the call
	Ended, Approved, Declined        bool
	Exit                             int
	Duration                         time.Duration
	Count                            int // number of calls that the line stands for, 0 for one
	// Note is the digest of the path of the note that the call names, 0 for none.
	Note noteKey
}

// noteKey is the keyed digest of the path of a note, as a number. The log does not name notes otherwise.
type noteKey uint64

// noteKeyOf returns the number of a digest in the log, 0 for "" or an invalid digest.
func noteKeyOf(digest string) noteKey {
	number, _ := strconv.ParseUint(digest, 16, 64)
	return noteKey(number)
}

// kindApproval is the kind of a line that records a decision of the owner about a call.
const kindApproval = "approval"

// Asker returns the agent that called, or the name that its client gives itself; "" if neither is known. For a decision
// of the owner, it is the one that asked.
func (c loggedCall) Asker() string { return cmp.Or(c.Agent, c.Client) }

// Who returns who called, see [loggedCall.Asker], or where the owner decided.
func (c loggedCall) Who() string {
	if c.Kind == kindApproval {
		return c.By
	}
	return c.Asker()
}

// Own reports whether the owner of the notes, and not an agent, called or decided: on the page, at
// a terminal, or with a completion or check, which name no surface.
func (c loggedCall) Own() bool {
	isByOwner := c.Surface == "page" || c.Surface == "terminal"
	isUnnamed := c.Surface == "" && c.Kind == ""
	return isByOwner || isUnnamed || c.Kind == kindApproval
}

// readEffect is the name in the log of the effect of a call that changes nothing.
const readEffect = "read"

// reads reports whether the call names a note and changes nothing.
func (c loggedCall) reads() bool {
	namesUnchangedNote := c.Note != 0 && c.Change == ""
	return namesUnchangedNote && (c.Effect == "" || c.Effect == readEffect)
}

// Calls returns how many calls it stands for, 0 for a line about no call.
func (c loggedCall) Calls() int {
	if c.Kind != "" && c.Kind != audit.KindLimited {
		return 0
	}
	return max(1, c.Count)
}

// decisionOutcomes are the outcomes of decisions of the owner.
var decisionOutcomes = map[string]string{"approve": "approved", "deny": "declined", "withdraw": "withdrawn"}

// Outcome returns the outcome of a call in one word: allowed, denied, failed, asked, planned or skipped. For a decision
// of the owner it is approved, declined or withdrawn, and for any other line noted. A call that waits for the user is
// asked. A call that the user declined is denied, and so is one that was started but refused because of its note.
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
		return cmp.Or(decisionOutcomes[c.Decision], "noted")
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

// callFilter selects calls. A zero field matches all calls.
type callFilter struct {
	Since, Until            time.Time // from Since on, and before Until
	Who                     string    // see [loggedCall.Who]
	Vault, Command, Outcome string
	Session                 string
	Text                    string           // contained in a name, ignoring case
	Notes                   map[noteKey]bool // the notes whose names contain Text
	Changes                 bool             // only calls that changed something
}

// matching yields the calls that match a filter by time, newest first.
func (c *CallLog) matching(f callFilter) iter.Seq[*row] {
	text := strings.ToLower(f.Text)
	matches := func(r *row) bool {
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
			if r.Time.Before(f.Since) || matches(r) && !yield(r) {
				return
			}
		}
	}
}

// callPage is a part of the calls that match a filter.
type callPage struct {
	Calls []loggedCall // newest first
	Total int          // number of all matching lines, including those about no call
	Made  int          // number of calls in these: a line may stand for several
	Own   int          // calls of the owner, which the figures do not count
	Other int          // lines about no call: decisions of the owner, and lines of the log itself
	Older uint64       // argument of [CallLog.Page] for the next part, 0 for none
	// Dropped is set if there are older calls that are not kept, and Partial if older calls have not been read yet.
	Dropped, Partial bool
}

// Page returns at most limit calls that match a filter by time, newest first, after the call with
// the number before; 0 begins with the newest.
func (c *CallLog) Page(f callFilter, before uint64, limit int) (p callPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Dropped = c.skipped
	p.Partial = c.partial
	var at time.Time // of the call before; zero if it is not kept, so that all calls are newer
	if i := before - c.first; before > 0 && i < uint64(len(c.rows)) {
		at = c.rows[i].Time
	}
	for r := range c.matching(f) {
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

// Answered returns the calls that used the answer to the question with an id and ended after a time, oldest first. It
// leaves out calls that only asked, or that the user declined.
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

// longestCall is more than the longest duration of a call that waits for the user.
const longestCall = 10 * time.Minute

// One returns the call with an id and its lines in the log, oldest first. Lines that are no
// longer in the log are missing.
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

// Latest returns the newest call that matches a filter.
func (c *CallLog) Latest(f callFilter) (call loggedCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.matching(f) {
		return r.loggedCall, true
	}
	return call, false
}

// Last returns the call that was read last. ok is false if there is none.
func (c *CallLog) Last() (call loggedCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rows) == 0 {
		return call, false
	}
	return c.rows[len(c.rows)-1].loggedCall, true
}

// Names returns the callers, vaults and commands of the calls, sorted, as choices for filters.
func (c *CallLog) Names() (who, vaults, commands []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := [3]map[string]bool{{}, {}, {}}
	for i := range c.rows {
		r := &c.rows[i]
		if r.Kind != kindApproval {
			seen[0][r.Who()] = true
		}
		seen[1][r.Vault] = true
		seen[2][r.Command] = true
	}
	var lists [3][]string
	for i, set := range seen {
		delete(set, "")
		lists[i] = slices.Sorted(maps.Keys(set))
		lists[i] = lists[i][:min(len(lists[i]), maxChoices)]
	}
	return lists[0], lists[1], lists[2]
}

// maxChoices is the maximum number of choices of a filter, because clients choose their names.
const maxChoices = 200
