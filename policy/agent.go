package policy

import (
	"cmp"
	"maps"
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
	p := server.Narrow(vault)
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
	p = p.Narrow(agent.Rights)
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
	return a.Vaults == nil || slices.ContainsFunc(a.Vaults, func(name string) bool { return name != "" && slices.Contains(known, name) })
}

// At returns the policy at a time: one that has expired allows nothing.
func (p Policy) At(now time.Time) Policy {
	if p.Closed != "" || p.Until.IsZero() || now.Before(p.Until) {
		return p
	}
	return p.closed(p.Agent, "the agent has expired ("+p.Until.Format(time.DateTime)+")")
}

const whyRevoked = "the agent was revoked"

// Revoked returns the policy of an agent that the user has revoked: it allows nothing.
func (p Policy) Revoked() Policy { return p.closed(p.Agent, whyRevoked) }

// nothing hides every note.
var nothing, _ = access.New(map[string]access.Level{"/": access.None})

// closed returns a policy that allows nothing and hides every note.
func (p Policy) closed(agent, why string) Policy {
	origins := map[string]string{}
	for _, name := range append(SettingNames(), accessSetting) {
		origins[name] = "agent " + agent
	}
	return Policy{Agent: agent, Closed: why, Access: nothing, Ignores: p.Ignores, Origins: origins, MinVersion: p.MinVersion}
}

// earlier returns the earlier of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Unlimited returns the policy that narrows nothing. It is the beginning of the rights of a
// vault or an agent, of which the user has written only some.
func Unlimited() Policy {
	return Policy{Ceiling: tiers.V3, Mutations: true, Publish: true, UI: true, Confirm: ConfirmNever, Secrets: SecretsAllow, Suspicious: SuspiciousOff, RemoteLinks: true, AnyShadow: true, AnyException: true, MinVersion: tiers.MinimumFloor}
}

// Narrow returns what both p and q allow, as [Policy.Tighten] does. The origin of a setting is
// that of q where q is stricter, otherwise that of p.
func (p Policy) Narrow(q Policy) Policy {
	t := p.Tighten(q)
	t.Origins = maps.Clone(p.Origins)
	if t.Origins == nil {
		t.Origins = map[string]string{}
	}
	for _, name := range Stricter(q, p) {
		t.Origins[name] = q.Origins[name]
	}
	if q.Access.Restrict() {
		origin := q.Origins[accessSetting]
		if p.Access.Restrict() && p.Origins[accessSetting] != origin {
			origin = p.Origins[accessSetting] + " and " + origin
		}
		t.Origins[accessSetting] = origin
	}
	return t
}

// accessSetting is the name of the access rules among the origins.
const accessSetting = "access"

// parts are the settings of a policy but for access rules. Each has a value, which is a string, a boolean or a
// list of strings, and says whether a allows less than b in something that the setting decides.
var parts = [...]struct {
	name   string
	value  func(p Policy) any
	closes func(a, b Policy) bool
}{
	{"tier", func(p Policy) any { return p.Ceiling.String() }, func(a, b Policy) bool { return a.ceiling() < b.ceiling() }},
	{"disable", func(p Policy) any { return p.Disable }, func(a, b Policy) bool { return !within(a.Disable, b.Disable) }},
	{"enable-only", func(p Policy) any { return p.EnableOnly }, func(a, b Policy) bool {
		return len(a.EnableOnly) > 0 && (len(b.EnableOnly) == 0 || !within(b.EnableOnly, a.EnableOnly))
	}},
	{"allow-mutations", func(p Policy) any { return p.Mutations }, func(a, b Policy) bool { return !a.Mutations && b.Mutations }},
	{"allow-publish", func(p Policy) any { return p.Publish }, func(a, b Policy) bool { return !a.Publish && b.Publish }},
	{"allow-ui", func(p Policy) any { return p.UI }, func(a, b Policy) bool { return !a.UI && b.UI }},
	// Of the words the strictest is the first.
	{"confirm", func(p Policy) any { return p.Confirm.String() }, func(a, b Policy) bool { return a.confirm() < b.confirm() }},
	{"secrets", func(p Policy) any { return p.Secrets.String() }, func(a, b Policy) bool { return a.secrets() < b.secrets() }},
	{"suspicious", func(p Policy) any { return p.Suspicious.String() }, func(a, b Policy) bool { return a.suspicious() < b.suspicious() }},
	{"remote-links", func(p Policy) any { return p.remoteLinks() }, func(a, b Policy) bool { return !a.RemoteLinks && b.RemoteLinks }},
	{"shadow", func(p Policy) any { return p.Shadow }, func(a, b Policy) bool {
		return slices.ContainsFunc(TextRules(), func(rule string) bool { return b.Shadows(rule) && !a.Shadows(rule) })
	}},
	{"private-property", func(p Policy) any { return p.Private.Properties }, func(a, b Policy) bool { return !within(a.Private.Properties, b.Private.Properties) }},
	{"private-tags", func(p Policy) any { return p.Private.Tags }, func(a, b Policy) bool { return !within(a.Private.Tags, b.Private.Tags) }},
	{"exceptions", func(p Policy) any { return p.Exceptions.Lines() }, func(a, b Policy) bool {
		if b.AnyException && slices.ContainsFunc(TextRules(), func(rule string) bool { return !b.states(rule) && !(a.AnyException && !a.states(rule)) }) {
			return true
		}
		return len(b.exceptionsIn(a)) < len(b.Exceptions)
	}},
	{"min-cli-version", func(p Policy) any { return p.MinVersion.String() }, func(a, b Policy) bool { return b.MinVersion.Before(a.MinVersion) }},
}

// Setting returns the value of a setting but for access rules, which is a string, a boolean or a list of strings;
// nil for another name.
func (p Policy) Setting(name string) any {
	for _, part := range parts {
		if part.name == name {
			if list, ok := part.value(p).([]string); ok {
				return append([]string{}, list...)
			}
			return part.value(p)
		}
	}
	return nil
}

func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// SettingNames returns the names of the settings of a policy but for access rules.
func SettingNames() []string {
	var names []string
	for _, part := range parts {
		names = append(names, part.name)
	}
	return names
}

// Stricter returns the names of the settings, but for access rules, in which a allows less than
// b, in the order of [SettingNames].
func Stricter(a, b Policy) []string {
	var names []string
	for _, part := range parts {
		if part.closes(a, b) {
			names = append(names, part.name)
		}
	}
	return names
}

// Scope is the most that a request may do by the access token that it came with. It grants
// nothing: the rest of the policy applies as well.
type Scope uint8

const (
	ScopeNone        Scope = iota // that of a request without an access token that has scopes: it limits nothing
	ScopeRead                     // for calls that only read
	ScopeWrite                    // for calls that add to notes, too, and for those that move the focus
	ScopeDestructive              // for all calls
)

var scopeNames = [...]string{ScopeRead: "vault:read", ScopeWrite: "vault:write", ScopeDestructive: "vault:destructive"}

// String returns the name of the scope in access tokens, "" for ScopeNone.
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
func scopeSuffices(p Policy, s subject) *Denial {
	needs := ScopeRead
	switch {
	case leaves(s), s.effect.WorseThan(tiers.Writes):
		needs = ScopeDestructive
	case s.effect.Mutates(), s.shows:
		needs = ScopeWrite
	}
	if p.Scope == ScopeNone || needs <= p.Scope && p.Scope <= ScopeDestructive {
		return nil
	}
	d := deny(CodeScope, "", "requires an access token with the scope "+needs.String()+" (current: "+p.Scope.String()+")",
		"the user can sign in again and grant the scope "+needs.String())
	d.Scope = needs
	return d
}
