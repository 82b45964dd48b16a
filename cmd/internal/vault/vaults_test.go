package vault

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/require"
)

func TestVaults(t *testing.T) {
	h := build(t, nil)
	h.env["HOME"] = t.TempDir()
	h.expect(command.ExitDone, filepath.Base(h.dir)+"\n", "vaults")
	h.expect(command.ExitDone, filepath.Base(h.dir)+"\t"+h.dir+"\n", "vaults", "verbose")
	if runtime.GOOS != "linux" {
		t.Skip("the app's list is elsewhere")
	}
	folder := filepath.Join(h.env["HOME"], ".config", "obsidian")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, test := range [][2]string{
		{`{"vaults":{"a":{"path":"/x/Old","ts":1},"b":{"path":"/x/New","ts":1780596959579,"open":true},"c":{"ts":5}}}`, "New\nOld\n"},
		{`{broken`, filepath.Base(h.dir) + "\n"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(test[0]), 0o600))
		h.expect(command.ExitDone, test[1], "vaults")
	}
	h.expect(command.ExitDone, "1\n", "vaults", "total")
}
