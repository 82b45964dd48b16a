package settings

import (
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A hint about a setting names the flag and the settings file.
func TestHintsForTheOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	std := terminal.Streams{Lookup: func(string) (string, bool) { return "", false }}
	for hint, want := range map[string]string{
		"the user can set tier to v1 (tier is not set)":                `add --tier=v1, or set tier = "v1" in ` + file + ` (tier is not set)`,
		"the user can set allow-mutations to true":                     "add --allow-mutations, or set allow-mutations = true in " + file,
		"the user can remove it from the setting disable":              "you can remove it from disable in " + file,
		"the user can set vault to the folder of the vault":            "add --vault with the folder of the vault",
		"the user can set cli to the full path of the Obsidian CLI":    "add --cli with the full path of the Obsidian CLI",
		"read another part, or ask the user to set secrets to redact":  "read another part, or add --secrets=redact",
		"narrow the call, or the user can raise timeout (up to 55s)":   "narrow the call, or you can raise --timeout (up to 55s)",
		"the user can change the tables [[flow]] of the settings file": "you can change the tables [[flow]] of " + file,
		"the user can open it, or set backend to embedded":             "you can open it, or add --backend=embedded",
		"the user can set the id of the vault, or correct its folder":  "you can set the id of the vault, or correct its folder",
		"name the note with path= or file=":                            "name the note with path= or file=",
		"":                                                             "",
	} {
		f := NewFlags("run")
		require.NoError(t, f.Parse([]string{"--config", file}))
		assert.Equal(t, f.OwnerHint(std, hint), want, "%s", hint)
		assert.Equal(t, f.OwnerHint(std, want), want, "told twice")
	}
}
