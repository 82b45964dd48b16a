package policy

import (
	"slices"

	"vaultwicket/tiers"
)

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
