// Package catalog describes the commands of the table under one or more policies: which
// are enabled, with which parameters and how severe their effects can be, as lists for
// programs and as text for users and models. It decides nothing; the policy does.
package catalog

import (
	"fmt"
	"slices"
	"strings"
	"vaultwicket/allowlist"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Listing is a command with what the policies say of it. With several policies it is
// enabled if one of them enables it.
type Listing struct {
	allowlist.Command
	// Denial says why the plain form is denied, nil if it is enabled.
	Denial *policy.Denial
	// Signature shows the enabled parameters, or of [Explain] all.
	Signature string
	// Brief is Signature without the parameters that are rarely needed.
	Brief string

	closed []bool // which of Params no policy enables
}

// List returns every command of the table, in table order.
func List(policies []policy.Policy) []Listing {
	commands := allowlist.Commands()
	listing := make([]Listing, len(commands))
	for i, c := range commands {
		listing[i] = listed(policies, c)
		allowed := func(p allowlist.Param) bool { return allowedBy(policies, p) }
		listing[i].Signature, listing[i].Brief = c.Signature(allowed), c.Brief(allowed)
	}
	return listing
}

func listed(policies []policy.Policy, c allowlist.Command) Listing {
	l := Listing{Command: c, Denial: policies[0].Lists(c)}
	for _, p := range c.Params {
		l.closed = append(l.closed, !allowedBy(policies, p))
	}
	for _, p := range policies[1:] {
		if l.Denial != nil && p.Lists(c) == nil {
			l.Denial = nil
		}
	}
	return l
}

func allowedBy(policies []policy.Policy, param allowlist.Param) bool {
	for _, p := range policies {
		if p.Allows(param) {
			return true
		}
	}
	return false
}

// Explain returns one command, with all of its parameters in the signature. The error
// is a [*allowlist.ParseError].
func Explain(policies []policy.Policy, name string) (Listing, error) {
	c, err := allowlist.Describe(name)
	if err != nil {
		return Listing{}, err
	}
	l := listed(policies, c)
	l.Signature = c.Signature(func(allowlist.Param) bool { return true })
	return l, nil
}

// Worst returns the most severe effect that any enabled call can have: what a client
// has to know before it sends calls without asking its user.
func Worst(policies []policy.Policy) tiers.Effect {
	worst := tiers.Reads
	for _, c := range allowlist.Commands() {
		if listed(policies, c).Denial != nil {
			continue
		}
		if c.Effect.WorseThan(worst) {
			worst = c.Effect
		}
		for _, p := range c.Params {
			if p.Effect != tiers.Unknown && p.Refused == "" && allowedBy(policies, p) && p.Effect.WorseThan(worst) {
				worst = p.Effect
			}
		}
	}
	return worst
}

// Enabled returns a command with those of its parameters that one of the policies
// enables which enable the command. ok is false for a command that none of them
// enables, and for one that does not exist.
func Enabled(policies []policy.Policy, name string) (enabled allowlist.Command, ok bool) {
	enabled, err := allowlist.Describe(name)
	if err != nil {
		return allowlist.Command{}, false
	}
	policies = slices.DeleteFunc(slices.Clone(policies), func(p policy.Policy) bool { return p.Lists(enabled) != nil })
	enabled.Params = slices.DeleteFunc(enabled.Params, func(p allowlist.Param) bool {
		return p.Refused != "" || !allowedBy(policies, p)
	})
	return enabled, len(policies) > 0
}

// Overview returns the enabled commands as text, with their signatures and summaries.
func Overview(p policy.Policy) string {
	var b strings.Builder
	policies := []policy.Policy{p}
	for _, c := range allowlist.Commands() {
		if listed(policies, c).Denial != nil {
			continue
		}
		signature := c.Signature(func(param allowlist.Param) bool { return p.Allows(param) })
		fmt.Fprintf(&b, "%s\n  %s\n", signature, c.Summary)
	}
	return b.String()
}
