package session

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/gateway/state/private"
)

// Journal returns the journal of the vault.
func (v *Vault) Journal() (*journal.Journal, error) {
	dir := private.StateFolder(v.Host.Env, v.Path)
	if dir == "" {
		return nil, answer.Failure("Nothing can be changed: the journal needs a folder outside the vault. Set XDG_STATE_HOME to a folder.")
	}
	return v.Host.journalAt(dir+"/journal", v.Path), nil
}
