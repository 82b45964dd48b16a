package gateway

import (
	"vaultwicket/allowlist"
	"vaultwicket/gateway/catalog"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Listing returns every command of the table, in table order.
func (g *Gateway) Listing() []catalog.Listing { return catalog.List(g.policies()) }

// Explain returns one command. The error is a [*allowlist.ParseError].
func (g *Gateway) Explain(name string) (catalog.Listing, error) {
	return catalog.Explain(g.policies(), name)
}

// Worst returns the most severe effect that any enabled call can have.
func (g *Gateway) Worst() tiers.Effect { return catalog.Worst(g.policies()) }

// Enabled returns a command with its enabled parameters, see [Enabled].
func (g *Gateway) Enabled(name string) (enabled allowlist.Command, ok bool) {
	return catalog.Enabled(g.policies(), name)
}

// Policies returns what is in force for each vault, the default one first.
func (g *Gateway) Policies() []catalog.View {
	views := []catalog.View{}
	for _, d := range g.vaults {
		views = append(views, catalog.ViewOf(d.name(), d.rules()))
	}
	return views
}

func (g *Gateway) policies() []policy.Policy {
	var policies []policy.Policy
	for _, d := range g.vaults {
		policies = append(policies, d.rules())
	}
	return policies
}
