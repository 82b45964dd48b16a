package policy

import (
	"slices"
	"time"
)

// Facts are what is known of a session and a call when a decision is made; the settings are in the [Policy]. A fact
// can only restrict. The zero value of each fact means "not known" and restricts most, so that a forgotten fact
// allows nothing: the zero Facts allow no call. [ClearFacts] returns the facts that restrict nothing.
type Facts struct {
	// At is the time of the call. The zero time is after the expiry of every agent that expires.
	At time.Time
	// Halted says why nothing is allowed anymore, for example because the agent was revoked.
	Halted Reason
	// Scope is the most that the access token of the request allows.
	Scope Scope
	// Suspected says which suspected prompt injection the session has read.
	Suspected Reason
	// Flowing are the flow rules that the call may break: the session or the call itself has read from their places,
	// and the call can carry text to where it must not go.
	Flowing Flowing
	// Carries says what the call adds to notes that could send text of another note to another machine.
	Carries Reason
	// Narrowed says that notes in reach restrict access to themselves, which only the embedded program knows. Ignores
	// says that the vault has an ignore file, which hides more than the access rules.
	Narrowed, Ignores Reason
}

// ClearFacts returns the facts of a call at a time that restrict nothing.
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

// Reason says whether a fact holds, and why. The zero Reason means that this is not known, and counts as if the
// fact held.
type Reason struct{ why *string } // nil if it is not known; "" for a fact that does not hold

// None is the Reason of a fact that does not hold.
var None = Because("")

// Because returns the Reason of a fact that holds; for "" it is equal to [None].
func Because(text string) Reason { return Reason{&text} }

// Holds reports whether the fact holds or may hold.
func (r Reason) Holds() bool { return r.why == nil || *r.why != "" }

// or returns the text of the reason, and unknown if it is not known whether the fact holds.
func (r Reason) or(unknown string) string {
	if r.why == nil {
		return unknown
	}
	return *r.why
}

// meet returns the reason of a fact that holds if r or s does. A known reason takes precedence.
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

// Flowing are the flow rules that apply to a call. The zero Flowing means that they are not known, and counts as
// every rule of the policy.
type Flowing struct {
	known bool
	rules []Flow
}

// NothingFlows means that no flow rule applies to the call.
var NothingFlows = Flowing{known: true}

// With returns the flow rules with rule added.
func (f Flowing) With(rule Flow) Flowing {
	return Flowing{f.known, append(slices.Clip(f.rules), rule)}
}

// rulesUnder returns the rules that apply to a call under p.
func (f Flowing) rulesUnder(p Policy) []Flow {
	if f.known {
		return f.rules
	}
	return unionOfFlows(f.rules, p.Flows)
}

// factRow describes one fact, and how two values of it are combined: join sets the fact in to to the combination of
// those in f and g.
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
			to.At = f.At
			if f.At.Before(g.At) {
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

// reason returns the row of a fact that holds if it holds in one of the two.
func reason(name, field string, of func(*Facts) *Reason) factRow {
	return factRow{
		name: name, field: field, meets: "yes, if either says so or does not know",
		join: func(to *Facts, f, g Facts) { *of(to) = of(&f).meet(*of(&g)) },
		same: func(f, g Facts) bool { return of(&f).equal(*of(&g)) },
	}
}

// Meet combines f and g, which are both known of a call: of each fact, the more restrictive value counts.
func (f Facts) Meet(g Facts) (met Facts) {
	for _, r := range factRows {
		r.join(&met, f, g)
	}
	return met
}
