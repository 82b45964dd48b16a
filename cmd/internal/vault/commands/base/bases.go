package base

import (
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

const baseExtension = "base"

// listBases has a sentence for nothing that ends without a full stop.
func listBases(v *session.Vault, _ grammar.Values) (answer.Reply, error) {
	found, err := v.PathsBelow("", func(l session.Listed) bool { return l.Path.Ext() == baseExtension })
	if err != nil {
		return answer.Reply{}, err
	}
	if len(found) == 0 {
		return answer.Text("No base files found in vault"), nil
	}
	return answer.Text(strings.Join(found, "\n")), nil
}

// listViews prints the name and the type of each view, as the app does for the
// base that is open; file= and path= are ours. A view without a name or type
// has an empty cell: what the app prints there was never recorded.
func listViews(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	base, err := base(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	text, err := v.Disk.Read(base)
	if disk.IsMissing(err) {
		return answer.Reply{}, answer.BaseNotFound(base.String())
	}
	if err != nil {
		return answer.Reply{}, answer.ReadError(base.String(), err)
	}
	content, err := frontmatter.Parse(text) // a base is one block of YAML
	if err != nil {
		return answer.Reply{}, answer.Failure("Base file %q cannot be read: %v", answer.Verbatim(base.String()), err)
	}
	views, _ := content.Lookup("views")
	table := answer.Table{}
	for _, view := range views.Value.List() {
		name, _ := view.Fields().Lookup("name")
		kind, _ := view.Fields().Lookup("type")
		table.Rows = append(table.Rows, []string{name.Value.String(), kind.Value.String()})
	}
	return table.Reply(answer.FormatTSV), nil
}

// base finds out which base a request means. The ending may be left out of a
// name, as for a note.
func base(v *session.Vault, p grammar.Values) (disk.Path, error) {
	if name := p["file"]; name != "" && !strings.HasSuffix(name, "."+baseExtension) {
		p["file"] = name + "." + baseExtension
	}
	t, err := v.Target(p)
	switch {
	case err != nil && (p.Has("file") || p.Has("path")):
		return disk.Path{}, answer.BaseNotFound(p["file"] + p["path"])
	case err != nil:
		return disk.Path{}, err
	case t.Path.Ext() == baseExtension:
		return t.Path, nil
	case p.Has("path"):
		return disk.Path{}, answer.Failure("Not a base file: %q", answer.Verbatim(t.Path.String()))
	}
	return disk.Path{}, answer.Failure("Active file is not a base file: %s", t.Path)
}
