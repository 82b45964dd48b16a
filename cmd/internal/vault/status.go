package vault

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/gateway/state/private"
	"vaultwicket/policy/access"
)

// status says how the program would work on a folder: what it is locked into,
// and where it keeps what it knows. It opens the vault, so that one that cannot
// be opened is said.
func status(h *session.Host, folder string) answer.Reply {
	path, err := filepath.Abs(folder)
	if err != nil {
		return answer.Explain(answer.ErrVaultNotFound)
	}
	h.Confine(path, false)
	if err := h.OpenFolder(path, &session.Vault{}); err != nil {
		return answer.Explain(err)
	}
	table := answer.Table{}
	for _, line := range [][2]string{
		{"folder", path},
		{"sandbox", h.Sandbox.String()},
		{"ignore file", ignoreFile(path)},
		{"cache", cmp.Or(private.CacheFolder(h.Env, path), "none: no place outside the vault")},
	} {
		table.Rows = append(table.Rows, line[:])
	}
	return table.Reply(answer.FormatTSV)
}

// ignoreFile returns where the file is that hides notes of a vault.
func ignoreFile(folder string) string {
	file := filepath.Join(folder, access.IgnoreFile)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	return file
}
