package files

import (
	"strconv"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/registry"
)

// listVaults answers from the app's own list. On a machine without one this
// vault is all there is.
func listVaults(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	known := v.Host.AppVaults()
	if len(known) == 0 {
		known = []registry.Vault{{Folder: v.Path}}
	}
	if p.Has("total") {
		return answer.Text(strconv.Itoa(len(known))), nil
	}
	table := answer.Table{}
	for _, r := range known {
		table.Add(p.Has("verbose"), r.Name(), r.Folder)
	}
	return table.Reply(answer.FormatTSV), nil
}
