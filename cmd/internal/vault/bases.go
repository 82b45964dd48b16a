package vault

import (
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/order"
)

const baseExtension = "base"

func baseCommands() []command {
	return []command{
		{name: "bases", about: "List the base files of the vault", run: listBases},
		{
			name: "base:views", about: "List the views of a base",
			params: []param{
				{name: "file", hint: "name", about: "Base by its name, resolved like a link"},
				{name: "path", hint: "path", about: "Base by its path from the vault's folder"},
			},
			run: listViews,
		},
	}
}

// listBases has a sentence for nothing that ends without a full stop.
func listBases(v *vault, _ params) (reply, error) {
	found, err := v.below("", func(e disk.Entry) bool { return !e.IsDir && e.Path.Ext() == baseExtension })
	if err != nil {
		return reply{}, err
	}
	if len(found) == 0 {
		return say("No base files found in vault"), nil
	}
	order.Sort(found)
	return say(strings.Join(found, "\n")), nil
}

// listViews prints the name and the type of each view, as the app does for the
// base that is open; file= and path= are ours. A view without a name or type
// has an empty cell: what the app prints there was never recorded.
func listViews(v *vault, p params) (reply, error) {
	base, err := v.base(p)
	if err != nil {
		return reply{}, err
	}
	text, err := v.disk.Read(base)
	if disk.IsMissing(err) {
		return reply{}, notFound.failure("Base file not found: %s", base)
	}
	if err != nil {
		return reply{}, unreadable(base.String(), err)
	}
	content, err := frontmatter.Parse(text) // a base is one block of YAML
	if err != nil {
		return reply{}, failure("Base file %s cannot be read: %v", base, err)
	}
	views, _ := content.Lookup("views")
	table := rows{}
	for _, view := range views.Value.List() {
		name, _ := view.Fields().Lookup("name")
		kind, _ := view.Fields().Lookup("type")
		table.cells = append(table.cells, []string{name.Value.String(), kind.Value.String()})
	}
	return say(table.print(formTSV)), nil
}

// base finds out which base a request means. The ending may be left out of a
// name, as for a note.
func (v *vault) base(p params) (disk.Path, error) {
	if name := p["file"]; name != "" && !strings.HasSuffix(name, "."+baseExtension) {
		p["file"] = name + "." + baseExtension
	}
	t, err := v.target(p)
	switch {
	case err != nil && (p.has("file") || p.has("path")):
		return disk.Path{}, notFound.failure("Base file not found: %s", p["file"]+p["path"])
	case err != nil:
		return disk.Path{}, err
	case t.path.Ext() == baseExtension:
		return t.path, nil
	case p.has("path"):
		return disk.Path{}, failure("Not a base file: %s", t.path)
	}
	return disk.Path{}, failure("Active file is not a base file: %s", t.path)
}
