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

// Agent is an agent with its rights, which can only narrow those of the server and of its vaults.
// The zero Agent has no rights.
type Agent struct {
	Rights  Policy    // the most that the agent may do in any vault
	Vaults  []string  // the names, ids or folders of the vaults that it may use, nil for every vault
	Expires time.Time // when it loses its rights, zero for never
	// Subjects are the values of a claim (setting oauth-claim) by which access tokens belong to the
	// agent, nil for no tokens.
	Subjects []string
	Ended    string // why it has no rights, "" if it has some
}

// Agents are the agents that the user has defined, by name. If there are none, they restrict no caller.
type Agents map[string]Agent

// InForce returns the policy of an agent in a vault: what the server, the vault and the agent all allow.
// known are the name, the id and the folder of the vault, as far as it has them. An agent that is not
// defined, or may not use the vault, is allowed nothing. Whether it has expired is decided by [Policy.At].
// The name "" stands for [DefaultAgent].
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
	p.Agent = named
	p.Until = earlier(p.Until, agent.Expires)
	return p
}

// HasRightsAt reports whether the agent has rights at a time: it has not expired, and Ended is "".
func (a Agent) HasRightsAt(now time.Time) bool {
	return a.Ended == "" && (a.Expires.IsZero() || now.Before(a.Expires))
}

// MayUse reports whether the agent may use the vault that is known by these names.
func (a Agent) MayUse(known ...string) bool {
	return a.Vaults == nil ||
		slices.ContainsFunc(a.Vaults, func(name string) bool { return name != "" && slices.Contains(known, name) })
}

// At returns the policy at a time: one that has expired allows nothing. The zero time is after every expiry.
func (p Policy) At(now time.Time) Policy {
	isInTime := p.Until.IsZero() || !now.IsZero() && now.Before(p.Until)
	if p.Closed != "" || isInTime {
		return p
	}
	return p.closed(p.Agent, "the agent has expired ("+p.Until.Format(time.DateTime)+")")
}

// Revoked is the reason for which an agent that the user has revoked has no rights, see [Facts].
const Revoked = "the agent was revoked"

// Under returns the policy for a call with these facts: it allows nothing if the agent has expired or has no rights
// anymore.
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

// Unlimited returns the policy that restricts nothing. The rights of a vault or an agent start with it,
// because the user states only some of them.
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

// Scope is the most that the access token of a request allows. It grants nothing: the policy applies, too.
type Scope uint8

const (
	ScopeNone        Scope = iota // allows no call: the access token has no known scope
	ScopeRead                     // allows calls that only read
	ScopeWrite                    // also allows calls that write to notes, and calls that move the focus
	ScopeDestructive              // allows all calls
	ScopeAll                      // allows all calls: the request has no access token with scopes
)

var scopeNames = [...]string{ScopeRead: "vault:read", ScopeWrite: "vault:write", ScopeDestructive: "vault:destructive"}

// String returns the name of the scope in access tokens, "" for ScopeNone and ScopeAll.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return ""
}

// ScopeNames returns the names of the scopes up to most: a client that asks for most asks for all of them.
func ScopeNames(most Scope) []string { return scopeNames[ScopeRead : min(most, ScopeDestructive)+1] }

// ParseScope returns the highest of the scopes of an access token, ScopeNone if none of them is known.
// Each scope includes the lower ones.
func ParseScope(granted []string) (highest Scope) {
	for _, name := range granted {
		if i := slices.Index(scopeNames[:], name); i > int(highest) {
			highest = Scope(i)
		}
	}
	return highest
}

const scopeRule = "scope"

// denyScope denies a call that needs a higher scope than that of the access token.
func denyScope(_ Policy, s subject) *Denial {
	needs := ScopeRead
	switch {
	case canSendData(s), s.effect.WorseThan(tiers.Writes):
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
