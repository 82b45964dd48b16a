package gateway

import (
	"context"
	"strings"
	"sync"

	"vaultwicket/gateway/registry"
)

// pin is whether the app means the vault that was configured.
type pin struct {
	mu   sync.Mutex
	sure bool
}

// pinned asks the app where its vault lies, once, and refuses when that is
// another one: the app takes two vaults of one name for either, and a name that
// it does not know for the one it has open. An answer that is not sure is asked
// for again at the next call.
func (g *door) pinned(ctx context.Context, r route) error {
	if !g.vault.Pinned || g.vault.Folder == "" || r.program.Backend() != string(App) {
		return nil
	}
	g.pin.mu.Lock()
	defer g.pin.mu.Unlock()
	if g.pin.sure {
		return nil
	}
	asked, err := g.runner.Run(ctx, r.permit.VaultPath(), r.program)
	switch {
	case err != nil:
		return err
	case asked.Failure != nil:
		return asked.Failure
	}
	if lies := strings.TrimSpace(asked.Stdout); !registry.SameFolder(lies, g.vault.Folder) {
		return refuse(codeVaultNotFound, "the user can set the id of the vault, or correct its folder",
			"the app says that the vault %q lies in %q, and the settings say %q", g.name(), clip(lies), clip(g.vault.Folder))
	}
	g.pin.sure = true
	return nil
}
