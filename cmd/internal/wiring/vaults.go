package wiring

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/gateway/registry"
)

// CheckVaultFolders refuses to serve a vault whose folder is not there: the user would
// see it only in the answers to calls.
func (o Opened) CheckVaultFolders() error {
	for _, served := range o.Served {
		if served.Folder == "" {
			continue
		}
		if _, err := o.Runner.Embedded(served.Folder); err != nil {
			return err
		}
	}
	return nil
}

// checkVaultName refuses a vault that is given by the name of a folder here and that the
// app does not know: a folder needs a separator, or it is the name of a vault of the app.
// Where there is a CLI and no list of vaults to look into, the app decides.
func (o Opened) checkVaultName() error {
	name := o.Vault.Name
	if name == "" || o.Vault.Folder != "" {
		return nil
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil
	}
	known := registry.VaultFolders(o.Std.Getenv)
	if slices.ContainsFunc(known, func(folder string) bool { return filepath.Base(folder) == name }) {
		return nil
	}
	if len(known) == 0 && o.Runner.HasApp() {
		return nil
	}
	return exit.New(exit.NotReady, fmt.Sprintf("unknown vault %q", name), fmt.Sprintf("did you mean .%c%s? A folder is given with a separator", filepath.Separator, name))
}
