package vault

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/gateway/state/private"
	"vaultwicket/policy/access"
)

// status says how the program would work on a folder: what it is locked into,
// and where it keeps what it knows. It opens the vault, so that one that cannot
// be opened is said.
func status(h *command.Host, folder string) command.Reply {
	path, err := filepath.Abs(folder)
	if err != nil {
		return command.Explain(command.ErrVaultNotFound)
	}
	h.Confine(path, false)
	if err := h.OpenFolder(path, &command.Vault{}); err != nil {
		return command.Explain(err)
	}
	table := command.Table{}
	for _, line := range [][2]string{
		{"folder", path},
		{"sandbox", h.Sandbox.String()},
		{"ignore file", ignoreFile(path)},
		{"cache", cmp.Or(private.CacheFolder(h.Env, path), "none: no place outside the vault")},
	} {
		table.Rows = append(table.Rows, line[:])
	}
	return table.Reply(command.FormatTSV)
}

// ignoreFile returns where the file is that hides notes of a vault.
func ignoreFile(folder string) string {
	file := filepath.Join(folder, access.IgnoreFile)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	return file
}
