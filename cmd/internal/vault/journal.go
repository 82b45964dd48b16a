package vault

import (
	"vaultwicket/gateway/state/journal"
	"vaultwicket/gateway/state/paths"
)

// journal returns the journal of the vault.
func (v *vault) journal() (*journal.Journal, error) {
	dir := paths.State(v.host.env, v.path)
	if dir == "" {
		return nil, failure("Nothing is changed without a journal, and there is no place for one outside the vault. Set XDG_STATE_HOME to a folder.")
	}
	return v.host.journalAt(dir+"/journal", v.path), nil
}
