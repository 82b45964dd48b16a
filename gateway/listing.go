package gateway

import (
	"vaultwicket/allowlist"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Listed is a command as this gateway sees it.
type Listed struct {
	allowlist.Command
	// Denial says why the plain form is closed, nil when it is open.
	Denial *policy.Denial
	// Signature shows the parameters that are open.
	Signature string
}

// Listing returns every command of the table, in table order.
func (g *Gateway) Listing() []Listed {
	commands := allowlist.Commands()
	listing := make([]Listed, len(commands))
	for i, c := range commands {
		listing[i] = Listed{Command: c, Denial: g.policy.Lists(c), Signature: c.Signature(g.policy.Allows)}
	}
	return listing
}

// Explain returns one command. The error is a [*allowlist.ParseError].
func (g *Gateway) Explain(name string) (Listed, error) {
	c, err := allowlist.Describe(name)
	if err != nil {
		return Listed{}, err
	}
	return Listed{Command: c, Denial: g.policy.Lists(c), Signature: c.Signature(func(allowlist.Param) bool { return true })}, nil
}

// Worst returns the most severe effect that any open call can have: what a
// client has to know before it lets calls through unasked.
func (g *Gateway) Worst() tiers.Effect {
	worst := tiers.Reads
	for _, c := range g.Listing() {
		if c.Denial != nil {
			continue
		}
		if c.Effect.WorseThan(worst) {
			worst = c.Effect
		}
		for _, p := range c.Params {
			if p.Effect != tiers.Unknown && p.Refused == "" && g.policy.Allows(p) && p.Effect.WorseThan(worst) {
				worst = p.Effect
			}
		}
	}
	return worst
}
