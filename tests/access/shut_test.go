package access

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// valuesOf are values that a parameter takes, some of which name what is there.
func valuesOf(p allowlist.Param) []allowlist.Value {
	switch p.Kind {
	case "flag":
		return []allowlist.Value{allowlist.Flag(true)}
	case "number", "age":
		return texts("1")
	case "date":
		return texts("2026-11-21")
	case "choice":
		return texts(p.Choices...)
	case "character":
		return texts("x")
	case "url":
		return texts("https://example.org/")
	case "path:line":
		return texts("Target.md:2")
	case "folder":
		return texts("Folder")
	case "folder/ or path":
		return texts("Folder/", "Folder/Moved.md")
	case "word":
		return texts("files")
	case "path":
		return texts("Target.md", "New.md")
	case "note name", "file name", "base name":
		return texts("Target")
	}
	return texts("text")
}

// requestsOf are requests with every parameter, alone and with each of the
// others, and with all that is required.
func requestsOf(c allowlist.Command) (all []allowlist.Params) {
	base := required(c, valuesOf)
	with := func(more ...allowlist.Params) { all = append(all, merged(base, more...)) }
	with()
	for i, p := range c.Params {
		for _, v := range valuesOf(p) {
			one := allowlist.Params{p.Name: v}
			with(one)
			for j, q := range c.Params[i+1:] {
				two := allowlist.Params{q.Name: valuesOf(q)[0]}
				with(one, two)
				for _, r := range c.Params[i+j+2:] {
					with(one, two, allowlist.Params{r.Name: valuesOf(r)[0]})
				}
			}
		}
	}
	return all
}

func TestNothingChangesWhileMutationsAreOff(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	vault := filepath.Join(t.TempDir(), "Vault")
	require.NoError(t, fake.WriteVault(vault, 20, 3))
	for name, text := range map[string]string{"Target.md": "# H\n- [ ] do\n", "Folder/x.md": "[[Target]]", "Books.base": "views: []\n"} {
		harness.WriteFile(t, filepath.Join(vault, name), []byte(text))
	}
	g := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Vault = gateway.Vault{Folder: vault}
		c.Policy = policy.Policy{Ceiling: tiers.V3, UI: true, Publish: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum}
	}).Gateway
	before := harness.TreeOf(t, vault)
	refused, ran, mine := 0, 0, testenv.Shard(t, 6)
	for c := range allowlist.Commands() {
		for i, params := range requestsOf(c) {
			if !mine(i) {
				continue
			}
			result := g.Do(t.Context(), gateway.Request{Command: c.Name, Params: params})
			switch {
			case result.Error != nil && slices.Contains([]string{"mutations_off", "restricted_command"}, result.Error.Code):
				refused++
			default:
				ran++
			}
		}
		require.That(t, harness.TreeOf(t, vault) == before, "%s changed the vault", c.Name)
	}
	t.Logf("%d requests refused by the gate, %d answered otherwise", refused, ran)
	assert.That(t, refused >= 300, "%d requests refused, %d answered: too few to mean anything", refused, ran)
	assert.That(t, ran >= 700, "%d requests refused, %d answered: too few to mean anything", refused, ran)
}
