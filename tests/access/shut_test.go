package access

import (
	"path/filepath"
	"slices"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/policy"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/bench/vaultgen"
	"vaultwicket/tests/long"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
	"vaultwicket/tiers"
)

// valuesOf are values that a parameter takes, some of which name what is there.
func valuesOf(p allowlist.Param) []allowlist.Value {
	text := func(all ...string) (values []allowlist.Value) {
		for _, s := range all {
			values = append(values, allowlist.Text(s))
		}
		return values
	}
	switch p.Kind {
	case "flag":
		return []allowlist.Value{allowlist.Flag(true)}
	case "number", "age":
		return text("1")
	case "date":
		return text("2026-11-21")
	case "choice":
		return text(p.Choices...)
	case "character":
		return text("x")
	case "url":
		return text("https://example.org/")
	case "path:line":
		return text("Target.md:2")
	case "folder":
		return text("Folder")
	case "folder/ or path":
		return text("Folder/", "Folder/Moved.md")
	case "word":
		return text("files")
	case "path":
		return text("Target.md", "New.md")
	case "note name", "file name", "base name":
		return text("Target")
	}
	return text("text")
}

// requestsOf are requests with every parameter, alone and with each of the
// others, and with all that is required.
func requestsOf(c allowlist.Command) (all []allowlist.Params) {
	base := allowlist.Params{}
	for _, p := range c.Params {
		if p.Required {
			base[p.Name] = valuesOf(p)[0]
		}
	}
	with := func(more ...allowlist.Params) {
		merged := allowlist.Params{}
		for _, m := range append([]allowlist.Params{base}, more...) {
			for name, value := range m {
				merged[name] = value
			}
		}
		all = append(all, merged)
	}
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
	require.NoError(t, vaultgen.Write(vault, 20, 3))
	for name, text := range map[string]string{"Target.md": "# H\n- [ ] do\n", "Folder/x.md": "[[Target]]", "Books.base": "views: []\n"} {
		rig.WriteFile(t, filepath.Join(vault, name), []byte(text))
	}
	env := map[string]string{"XDG_STATE_HOME": t.TempDir(), "XDG_CACHE_HOME": t.TempDir(), "HOME": t.TempDir()}
	getenv := func(name string) string { return env[name] }
	runner := exec.New(exec.Config{Self: rig.Binary, Resident: true, Getenv: getenv})
	t.Cleanup(runner.Close)
	g := gateway.New(gateway.Config{
		Runner: runner, Backend: gateway.Embedded, Vault: gateway.Vault{Folder: vault}, Getenv: getenv,
		Policy: policy.Policy{Ceiling: tiers.V3, UI: true, Publish: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum},
	})
	before := rig.TreeOf(t, vault)
	refused, ran, mine := 0, 0, long.Shard(t, 4)
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
		require.That(t, rig.TreeOf(t, vault) == before, "%s changed the vault", c.Name)
	}
	t.Logf("%d requests refused by the gate, %d answered otherwise", refused, ran)
	assert.That(t, refused >= 400 && ran >= 1000, "%d requests refused, %d answered: too few to mean anything", refused, ran)
}
