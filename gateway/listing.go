package gateway

import (
	"slices"
	"vaultwicket/allowlist"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Listed is a command as this gateway sees it. Where there are several vaults it
// is open if it is open for one of them.
type Listed struct {
	allowlist.Command
	// Denial says why the plain form is closed, nil when it is open.
	Denial *policy.Denial
	// Signature shows the parameters that are open, or in [Gateway.Explain] all.
	Signature string
	// Brief is Signature without the parameters that are rarely needed.
	Brief string

	closed []bool // which of Params the policy closes
}

// Listing returns every command of the table, in table order.
func (g *Gateway) Listing() []Listed {
	policies := g.policies()
	commands := allowlist.Commands()
	listing := make([]Listed, len(commands))
	for i, c := range commands {
		listing[i] = listed(policies, c)
		allowed := func(p allowlist.Param) bool { return allowedBy(policies, p) }
		listing[i].Signature, listing[i].Brief = c.Signature(allowed), c.Brief(allowed)
	}
	return listing
}

func (g *Gateway) policies() []policy.Policy {
	var policies []policy.Policy
	for _, d := range g.vaults {
		policies = append(policies, d.rules())
	}
	return policies
}

func listed(policies []policy.Policy, c allowlist.Command) Listed {
	l := Listed{Command: c, Denial: policies[0].Lists(c)}
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

// Explain returns one command. The error is a [*allowlist.ParseError].
func (g *Gateway) Explain(name string) (Listed, error) { return explain(g.policies(), name) }

func explain(policies []policy.Policy, name string) (Listed, error) {
	c, err := allowlist.Describe(name)
	if err != nil {
		return Listed{}, err
	}
	l := listed(policies, c)
	l.Signature = c.Signature(func(allowlist.Param) bool { return true })
	return l, nil
}

// Worst returns the most severe effect that any open call can have: what a
// client has to know before it lets calls through unasked.
func (g *Gateway) Worst() tiers.Effect {
	worst := tiers.Reads
	policies := g.policies()
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

// Opened returns a command with those of its parameters that are open in at
// least one of the vaults in which the command is. ok is false for a command
// that is closed in all of them, and for one that does not exist.
func (g *Gateway) Opened(name string) (open allowlist.Command, ok bool) {
	open, err := allowlist.Describe(name)
	if err != nil {
		return allowlist.Command{}, false
	}
	policies := slices.DeleteFunc(g.policies(), func(p policy.Policy) bool { return p.Lists(open) != nil })
	open.Params = slices.DeleteFunc(open.Params, func(p allowlist.Param) bool {
		return p.Refused != "" || !allowedBy(policies, p)
	})
	return open, len(policies) > 0
}
