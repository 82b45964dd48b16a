package settings

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// Every line that the list proposes is one that the settings file takes, and changes something.
func TestTheLinesOfTheListAreValid(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "config.toml")
	std := terminal.Streams{Out: io.Discard, Err: io.Discard, Environ: func() []string { return nil }, Lookup: func(name string) (string, bool) {
		value, ok := map[string]string{"HOME": home}[name]
		return value, ok
	}}
	load := func(text string) (*Flags, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		f := NewFlags("ui")
		_, _, err := f.Load(std, []string{"--config", file, "--tier", "v1"})
		return f, err
	}
	f, err := load("disable = [\"read\", \"tags\"]\n")
	require.NoError(t, err)
	rows, from, err := f.List(std)
	require.That(t, err == nil && from == file && len(rows) == len(table), "%d rows from %q, %v", len(rows), from, err)
	found := map[string]Row{}
	for _, row := range rows {
		found[row.Name] = row
		for _, line := range row.Lines {
			more := map[string]string{
				"agent": "[agents.cursor]\ntier = \"v0\"\n", "profile": "[profiles.work]\ntier = \"v0\"\n", "tls-cert": "tls-key = \"/k.pem\"\n", "tls-key": "tls-cert = \"/c.pem\"\n",
				"public-url": "oauth-issuer = \"https://login.example\"\n", "oauth-issuer": "public-url = \"https://notes.example/mcp\"\n",
			}[row.Name]
			changed, err := load(line + "\n" + more)
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			again, _, err := changed.List(std)
			if i := slices.IndexFunc(again, func(other Row) bool { return other.Name == row.Name }); err != nil || again[i].Value == row.Value && row.Name != "tier" {
				t.Errorf("%s changes nothing: %q, %v", line, again[i].Value, err)
			}
		}
	}
	if tier := found["tier"]; tier.Value != "v1" || tier.Origin != "flag --tier" || !slices.Equal(tier.Lines, []string{`tier = "v0"`, `tier = "v2"`, `tier = "v3"`}) {
		t.Errorf("%+v", tier)
	}
	m := found["allow-mutations"]
	assert.That(t, slices.Equal(m.Lines, []string{"allow-mutations = true"}) && m.Origin == "default", "%+v", m)
	d := found["disable"]
	assert.That(t, d.Value == "read,tags" && slices.Equal(d.Lines, []string{`disable = ["read", "tags", "delete"]`}), "%+v", d)
}
