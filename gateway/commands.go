package gateway

import (
	"vaultwicket/allowlist"
	"vaultwicket/gateway/catalog"
)

// Listing returns every command of the table, in table order.
func (g *Gateway) Listing() []catalog.Listing { return catalog.List(g.listed()) }

// ListingOf is [Gateway.Listing] for one vault, "" for the default one.
func (g *Gateway) ListingOf(vault string) ([]catalog.Listing, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, err
	}
	return catalog.List([]catalog.Vault{d.listed()}), nil
}

// Explain returns one command. The error is a [*allowlist.ParseError].
func (g *Gateway) Explain(name string) (catalog.Listing, error) {
	return catalog.Explain(g.listed(), name)
}

// Enabled returns a command with its enabled parameters, see [Enabled].
func (g *Gateway) Enabled(name string) (enabled allowlist.Command, ok bool) {
	return catalog.Enabled(g.listed(), name)
}

// Policies returns what is in force for each vault, the default one first.
func (g *Gateway) Policies() []catalog.View {
	views := []catalog.View{}
	for _, d := range g.vaults {
		views = append(views, catalog.ViewOf(d.name(), d.rules()))
	}
	return views
}

func (g *Gateway) listed() []catalog.Vault {
	var vaults []catalog.Vault
	for _, d := range g.vaults {
		vaults = append(vaults, d.listed())
	}
	return vaults
}

// listed is the vault as a list of its commands depends on it.
func (g *vaultGateway) listed() catalog.Vault {
	return catalog.Vault{Policy: g.rules(), Programs: g.programs()}
}

// programs looks for the programs that can answer in the vault. With the backend obsidian
// the embedded one answers extensions, if there is an app at all.
func (g *vaultGateway) programs() (p catalog.Programs) {
	if g.runner == nil {
		return p
	}
	p.Embedded = g.target().folder != ""
	if g.backend == Embedded {
		return p
	}
	p.App = g.runner.HasApp() && g.target().appErr == nil
	if g.backend == App && !p.App {
		return catalog.Programs{}
	}
	return p
}
