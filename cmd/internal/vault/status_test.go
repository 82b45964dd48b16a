package vault

import (
	"path/filepath"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/gateway/state/private"
)

// A process that is locked in still answers everything about its vault, and
// tells of the wall.
func TestStatus(t *testing.T) {
	h := build(t, map[string]string{"a.md": "a"})
	h.env["HOME"] = t.TempDir()
	h.env["LOCALAPPDATA"] = h.env["HOME"] // which Windows asks for
	h.expect(command.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\t"+private.CacheFolder(func(n string) string { return h.env[n] }, h.dir)+"\n", "--status")
	h.env["HOME"], h.env["LOCALAPPDATA"] = "", ""
	h.expect(command.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\tnone\ncache\tnone: no place outside the vault\n", "--status")
	h.put(".vaultwicketignore", "secret.md\n")
	h.expect(command.ExitDone, "folder\t"+h.dir+"\nsandbox\tnone: the process is shared\nignore file\t"+filepath.Join(h.dir, ".vaultwicketignore")+"\ncache\tnone: no place outside the vault\n", "--status")
	h.expect(command.ExitMisuse, "Error: --status must be the only argument after the folder.\n", "--status", "files")
	h.dir += "gone"
	h.expect(command.ExitFailed, "Vault not found.\n", "--status")
}
