package session

import (
	"slices"

	"vaultwicket/gateway/registry"
)

// isRegistered reports whether the app's own list of vaults has folder under
// that id. The list is looked at only for what can be an id: a call that names
// its vault by name, or not at all, reads nothing outside the vault.
func (h *Host) isRegistered(id, folder string) bool {
	return registry.IsID(id) && slices.ContainsFunc(h.AppVaults(), func(r registry.Vault) bool { return r.ID == id && registry.SameFolder(r.Folder, folder) })
}
