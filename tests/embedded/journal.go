package embedded

import (
	"context"
	"fmt"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Journal returns the journal of the vault, as the program finds it.
func (h *Vault) Journal() *journal.Journal {
	v := require.Value(h.Host().Open(context.Background(), h.Dir, protocol.Request{}))(h.T)
	defer v.Disk.Close()
	return require.Value(v.Journal())(h.T)
}

// Changes returns the ids of the changes in the journal, oldest first.
func (h *Vault) Changes() (ids []string) {
	entries, damage, err := h.Journal().Entries(context.Background(), journal.Filter{})
	if err != nil || len(damage) > 0 {
		h.T.Fatal(err, damage)
	}
	for _, e := range entries {
		ids = append([]string{e.ID}, ids...)
	}
	return ids
}

// Tree describes every file of the vault: folders stay when their last file goes.
func (h *Vault) Tree() string { return fmt.Sprintf("%q", h.Texts(true)) }
