package policy

import (
	"slices"
	"time"
)

// Facts are what a session and a call bring to a decision besides the settings, which are the [Policy]. A fact only
// takes away. The zero value of each is that it is not known, and counts as what takes most away, so that a fact
// that was forgotten opens nothing: the zero Facts allow no call. [ClearFacts] is where nothing is against a call.
type Facts struct {
	// At is when the call is made. The zero time is after the end of every agent that has one.
	At time.Time
	// Halted says why nothing is allowed any more, such as that the agent was revoked.
	Halted Reason
	// Scope is the most that the access token of the request allows.
	Scope Scope
	// Suspected says which suspected prompt injection the session has read.
	Suspected Reason
	// Flowing are the flow rules from whose places the session, or the call itself, has read what the call can carry
	// to where it may not go.
	Flowing Flowing
	// Carries says what the call adds to notes that can carry text of another note to another machine.
	Carries Reason
	// Narrowed says that notes in reach restrict access to themselves, which only the embedded program knows, and Ignores
	// that the vault has an ignore file, which hides more than the access rules.
	Narrowed, Ignores Reason
}

// ClearFacts returns the facts of a call at a time with nothing against it.
func ClearFacts(at time.Time) Facts {
	return Facts{
		At:        at,
		Halted:    None,
		Scope:     ScopeAll,
		Suspected: None,
		Flowing:   NothingFlows,
		Carries:   None,
		Narrowed:  None,
		Ignores:   None,
	}
}

// Reason says why a fact holds. The zero Reason is that it is not known whether it does, and counts as if it did.
type Reason struct{ why *string } // nil where it is not known, else "" for a fact that does not hold

// None is the Reason of a fact that does not hold.
var None = Because("")

// Because returns the Reason of a fact that holds, [None] for "".
func Because(text string) Reason { return Reason{&text} }

// Holds reports whether the fact holds, or may do so.
func (r Reason) Holds() bool { return r.why == nil || *r.why != "" }

// or returns the text of the reason, another one where it is not known.
func (r Reason) or(unknown string) string {
	if r.why == nil {
		return unknown
	}
	return *r.why
}

// meet returns the reason of a fact that holds if one of two does: one that is known, if there is one.
func (r Reason) meet(s Reason) Reason {
	switch {
	case !r.Holds(), r.why == nil && s.Holds():
		return s
	case s.why == nil || !s.Holds():
		return r
	}
	return Because(min(*r.why, *s.why))
}

func (r Reason) equal(s Reason) bool {
	return (r.why == nil) == (s.why == nil) && r.or("") == s.or("")
}

// Flowing are flow rules that are about a call. The zero Flowing is that they are not known, and counts as every rule
// of the policy.
type Flowing struct {
	known bool
	rules []Flow
}

// NothingFlows is where no flow rule is about the call.
var NothingFlows = Flowing{known: true}

// With returns the flow rules with one more.
func (f Flowing) With(rule Flow) Flowing {
	return Flowing{f.known, append(slices.Clip(f.rules), rule)}
}

// of returns the rules that are about a call under the policy.
func (f Flowing) of(p Policy) []Flow {
	if f.known {
		return f.rules
	}
	return unionOfFlows(f.rules, p.Flows)
}

// factRow is one fact, and how what is known of it at two places meets.
type factRow struct {
	name, field, meets string
	join               func(to *Facts, f, g Facts)
	same               func(f, g Facts) bool
}

// factRows are all facts.
var factRows = [...]factRow{
	{
		name: "time of the call", field: "At", meets: "the later time",
		join: func(to *Facts, f, g Facts) {
			if to.At = f.At; f.At.Before(g.At) {
				to.At = g.At
			}
			if f.At.IsZero() || g.At.IsZero() {
				to.At = time.Time{}
			}
		},
		same: func(f, g Facts) bool { return f.At.Equal(g.At) },
	},
	reason("agent has ended", "Halted", func(f *Facts) *Reason { return &f.Halted }),
	{
		name: "scope of the access token", field: "Scope", meets: "the lower scope",
		join: func(to *Facts, f, g Facts) { to.Scope = min(valid(f.Scope, ScopeAll), valid(g.Scope, ScopeAll)) },
		same: func(f, g Facts) bool { return valid(f.Scope, ScopeAll) == valid(g.Scope, ScopeAll) },
	},
	reason("suspected prompt injection was read", "Suspected", func(f *Facts) *Reason { return &f.Suspected }),
	{
		name: "places of flow rules were read", field: "Flowing", meets: "the rules of both",
		join: func(to *Facts, f, g Facts) {
			to.Flowing = Flowing{f.Flowing.known && g.Flowing.known, unionOfFlows(f.Flowing.rules, g.Flowing.rules)}
		},
		same: func(f, g Facts) bool {
			a := f.Flowing
			b := g.Flowing
			return a.known == b.known && flowsWithin(a.rules, b.rules) && flowsWithin(b.rules, a.rules)
		},
	},
	reason("a new link contains note text", "Carries", func(f *Facts) *Reason { return &f.Carries }),
	reason("notes in reach restrict access to themselves", "Narrowed", func(f *Facts) *Reason { return &f.Narrowed }),
	reason("the vault has an ignore file", "Ignores", func(f *Facts) *Reason { return &f.Ignores }),
}

// reason is the row of a fact that holds if it does at one of two places.
func reason(name, field string, of func(*Facts) *Reason) factRow {
	return factRow{
		name: name, field: field, meets: "yes, if either says so or does not know",
		join: func(to *Facts, f, g Facts) { *of(to) = of(&f).meet(*of(&g)) },
		same: func(f, g Facts) bool { return of(&f).equal(*of(&g)) },
	}
}

// Meet returns the facts of a call of which both f and g are known.
func (f Facts) Meet(g Facts) (met Facts) {
	for _, r := range factRows {
		r.join(&met, f, g)
	}
	return met
}
