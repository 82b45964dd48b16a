package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// BenchmarkBatch measures atomic batches of ten appends to ten notes: where nobody has to approve anything, where what removes much
// is asked about and nothing does, and where the user approves each batch.
func BenchmarkBatch(b *testing.B) {
	for name, confirm := range map[string]policy.Confirm{
		"never": policy.ConfirmNever, "destructive": policy.ConfirmDestructive, "approved": policy.ConfirmWrites,
	} {
		b.Run(name, func(b *testing.B) {
			home := b.TempDir()
			vault := filepath.Join(home, "Vault")
			require.NoError(b, os.Mkdir(vault, 0o755))
			batch := gateway.Batch{Atomic: true}
			batch.Caller = "bench"
			batch.Ask = func(context.Context, consent.Question) consent.Reply { return consent.Yes }
			for i := range 10 {
				note := fmt.Sprintf("Note %d.md", i)
				write(b, filepath.Join(vault, note), []byte("# Note\n"))
				batch.Operations = append(batch.Operations, gateway.Operation{
					ClientID: fmt.Sprint("c", i),
					Request:  gateway.Request{Command: "append", Words: []string{"path=" + note, "content=line"}},
				})
			}
			env := map[string]string{"XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_CACHE_HOME": filepath.Join(home, "cache")}
			getenv := func(name string) string { return env[name] }
			runner := exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: program(b, "vaultwicket"), Resident: true, Getenv: getenv})
			b.Cleanup(runner.Close)
			g := gateway.New(gateway.Config{
				Policy: policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: confirm, Secrets: policy.SecretsAllow, MinVersion: tiers.DefaultMinimum},
				Vault:  gateway.Vault{Folder: vault}, Runner: runner, Backend: gateway.Embedded, Session: "bench", Getenv: getenv,
			})
			for b.Loop() {
				result := g.DoBatch(b.Context(), batch)
				require.That(b, result.OK, "%+v %+v", result.Summary, result.Error)
			}
		})
	}
}
