package gateway

import (
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/catalog"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/notes"
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

// Enabled returns a command with its enabled parameters, see [catalog.Enabled].
func (g *Gateway) Enabled(name string) (enabled allowlist.Command, ok bool) {
	return catalog.Enabled(g.listed(), name)
}

// Policies returns what is in force for each vault, the default one first.
func (g *Gateway) Policies() []catalog.View {
	views := []catalog.View{}
	for _, d := range g.vaults {
		views = append(views, catalog.ViewOf(d.name(), d.rules.Policy()))
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
	return catalog.Vault{Policy: g.rules.Policy(), Programs: g.programs()}
}

// programs looks for the programs that can answer in the vault. With the backend obsidian
// the embedded one answers extensions, if there is an app at all.
func (g *vaultGateway) programs() (p catalog.Programs) {
	if g.runner == nil {
		return p
	}
	p.Embedded = g.target().Folder != ""
	if g.backend == Embedded {
		return p
	}
	p.App = g.runner.HasApp() && !g.target().Unlisted
	if g.backend == App && !p.App {
		return catalog.Programs{}
	}
	return p
}

// AccessOf returns what can be done with the note or folder at a path in a vault, "" for
// the default one. The error is a [*failure.RequestError] or a [*allowlist.ParseError].
func (g *Gateway) AccessOf(vault, path string) (notes.Access, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return notes.Access{}, err
	}
	a, err := d.rules.AccessOf(path)
	a.Vault = d.name()
	return a, err
}

// maxBelow bounds the folders that [Gateway.AccessBelow] returns.
const maxBelow = 500

// AccessBelow returns what can be done with the folders that are directly in a folder of a
// vault, "" for its root, sorted by name, and whether there are more. Like [notes.Access] it is
// for the owner.
func (g *Gateway) AccessBelow(vault, path string) (list []notes.Access, more bool, err error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, false, err
	}
	names, more, err := notes.Folders(d.target().Folder, path, maxBelow)
	if err != nil {
		return nil, false, failure.New(failure.CodeNotFound, "give the path of a folder in the vault", "folder %q: %v", quote.Short(path), err)
	}
	for _, name := range names {
		a, err := g.AccessOf(vault, strings.TrimPrefix(path+"/"+name, "/"))
		if err != nil {
			return nil, false, err
		}
		list = append(list, a)
	}
	return list, more, nil
}

// NoteWithHash returns the text of the note at a path in a vault if it has the SHA-256
// hash, in hexadecimal, and may be seen.
func (g *Gateway) NoteWithHash(vault, path, hash string) (text string, ok bool) {
	d, err := g.vaultNamed(vault)
	if err != nil || !d.rules.Visible()(path) {
		return "", false
	}
	return notes.WithHash(d.target().Folder, path, hash)
}

// Visible returns what tells whether the note at a path in a vault may be seen, see
// [notes.Rules.Visible]. Of a vault that the gateway does not have, nothing may.
func (g *Gateway) Visible(vault string) func(path string) bool {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return func(string) bool { return false }
	}
	return d.rules.Visible()
}
