package policy

import (
	"cmp"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// DefaultAgent is the agent of a server or a request that names none.
const DefaultAgent = "default"

// Agent is a name with rights, which only narrow those of the server and of its vaults. The
// zero Agent has no rights.
type Agent struct {
	Rights  Policy    // the most that the agent may do in any vault
	Vaults  []string  // the names, ids or folders of the vaults that it may use, nil for every vault
	Expires time.Time // the time from which it has no rights, zero for never
	// Subjects are the values of the claim of access tokens that are of the agent (see the
	// setting oauth-claim), nil for no token.
	Subjects []string
	Ended    string // why it has no rights, "" for an agent that has some
}

// Agents are the agents that the user has defined, by their names. Without any, no caller is narrowed.
type Agents map[string]Agent

// InForce returns what the server, one of its vaults and an agent all allow: the policy of the
// agent in that vault. known are the name, the id and the folder of the vault, as far as it has
// them. An agent that is not defined, or may not use the vault, is allowed nothing; whether it
// has expired is for [Policy.At] to say. The name "" is the agent [DefaultAgent].
func (a Agents) InForce(name string, server, vault Policy, known ...string) Policy {
	p := server.Meet(vault)
	named := cmp.Or(name, DefaultAgent)
	agent, defined := a[named]
	switch {
	case len(a) == 0 && named == DefaultAgent:
		return p
	case !defined && name == "":
		return p.closed(named, "no agent is named, and there is no agent \""+DefaultAgent+"\"")
	case !defined:
		return p.closed(named, "the agent is not defined")
	case agent.Ended != "":
		return p.closed(named, agent.Ended)
	case !agent.MayUse(known...):
		return p.closed(named, "the agent may not use this vault")
	}
	p = p.Meet(agent.Rights)
	p.Agent, p.Until = named, earlier(p.Until, agent.Expires)
	return p
}

// HasRightsAt reports whether the agent has rights at a time: it has not expired, and managed settings
// do not end it.
func (a Agent) HasRightsAt(now time.Time) bool {
	return a.Ended == "" && (a.Expires.IsZero() || now.Before(a.Expires))
}

// MayUse reports whether the agent may use the vault that has one of the names.
func (a Agent) MayUse(known ...string) bool {
	return a.Vaults == nil ||
		slices.ContainsFunc(a.Vaults, func(name string) bool { return name != "" && slices.Contains(known, name) })
}

// At returns the policy at a time: one that has expired allows nothing. The zero time is after every end.
func (p Policy) At(now time.Time) Policy {
	isInTime := p.Until.IsZero() || !now.IsZero() && now.Before(p.Until)
	if p.Closed != "" || isInTime {
		return p
	}
	return p.closed(p.Agent, "the agent has expired ("+p.Until.Format(time.DateTime)+")")
}

// Revoked says why an agent has no rights that the user has revoked. It is a fact of calls, see [Facts].
const Revoked = "the agent was revoked"

// Under returns the policy as it applies to a call of which the facts are known: one of an agent that has expired, or
// that has no rights any more, allows nothing.
func (p Policy) Under(facts Facts) Policy {
	p = p.At(facts.At)
	if p.Closed != "" || !facts.Halted.Holds() {
		return p
	}
	return p.closed(p.Agent, facts.Halted.or("it is not known whether the agent has rights"))
}

// nothing hides every note.
var nothing, _ = access.New(map[string]access.Level{"/": access.None})

// closed returns a policy that allows nothing and hides every note.
func (p Policy) closed(agent, why string) Policy {
	shut := Policy{
		Agent:      agent,
		Closed:     why,
		Access:     nothing,
		MinVersion: p.MinVersion,
		Disabled:   p.Disabled,
		Marks:      p.Marks,
		Rates:      p.Rates,
	}
	return shut.From("agent " + agent)
}

// Unlimited returns the policy that narrows nothing. It is the beginning of the rights of a
// vault or an agent, of which the user has written only some.
func Unlimited() Policy {
	return Policy{
		Ceiling:      tiers.V3,
		Mutations:    true,
		Publish:      true,
		UI:           true,
		Confirm:      ConfirmNever,
		Asking:       AskClient,
		MinAnswer:    NoMinAnswer,
		MaxGrant:     LongestGrant,
		Secrets:      SecretsAllow,
		Suspicious:   SuspiciousOff,
		RemoteLinks:  true,
		AnyShadow:    true,
		AnyException: true,
		MinVersion:   tiers.MinimumFloor,
	}
}

// Scope is the most that a request may do by the access token that it came with. It grants
// nothing: the policy applies as well.
type Scope uint8

const (
	ScopeNone        Scope = iota // for no call: that of an access token without a scope that is known
	ScopeRead                     // for calls that only read
	ScopeWrite                    // for calls that add to notes, too, and for those that move the focus
	ScopeDestructive              // for all calls
	ScopeAll                      // that of a request without an access token that has scopes: it limits nothing
)

var scopeNames = [...]string{ScopeRead: "vault:read", ScopeWrite: "vault:write", ScopeDestructive: "vault:destructive"}

// String returns the name of the scope in access tokens, "" for ScopeNone and ScopeAll.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return ""
}

// ScopeNames returns the scopes of access tokens up to one: who asks for it needs all of them.
func ScopeNames(most Scope) []string { return scopeNames[ScopeRead : min(most, ScopeDestructive)+1] }

// ParseScope returns the highest scope among the scopes of an access token, ScopeNone if none of
// them is known. Each includes the ones before it.
func ParseScope(granted []string) (highest Scope) {
	for _, name := range granted {
		if i := slices.Index(scopeNames[:], name); i > int(highest) {
			highest = Scope(i)
		}
	}
	return highest
}

const scopeRule = "scope"

// scopeSuffices denies what the access token was not issued for.
func scopeSuffices(_ Policy, s subject) *Denial {
	needs := ScopeRead
	switch {
	case leaves(s), s.effect.WorseThan(tiers.Writes):
		needs = ScopeDestructive
	case s.effect.Mutates(), s.shows:
		needs = ScopeWrite
	}
	if scope := s.facts.Scope; needs <= scope && scope <= ScopeAll {
		return nil
	}
	d := deny(
		CodeScope,
		"",
		"requires an access token with the scope "+needs.String()+" (current: "+s.facts.Scope.String()+")",
		"the user can sign in again and grant the scope "+needs.String(),
	)
	d.Scope = needs
	return d
}
