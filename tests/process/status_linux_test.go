package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// everySubcommand has a call of each that ends by itself and asks nothing.
var everySubcommand = []string{
	"setup", "install --list", "install cursor --vault ./Notes --print", "install cursor --vault ./Notes --yes", "uninstall cursor --yes",
	"prompt --vault ./Notes morning-review", "doctor --vault ./Notes", "doctor --report", "demo",
	"run --vault ./Notes --tier v1 files", "run --vault ./Notes --tier v1 --allow-mutations append path=Plan.md content=x",
	"dry-run --vault ./Notes --tier v1 --allow-mutations append path=Plan.md content=x", "batch --vault ./Notes --tier v1 batch.json",
	"commands --vault ./Notes", "explain delete", "vault ./Notes files", "approvals", "approve 7ZBC-2GX4", "deny 7ZBC-2GX4",
	"grant --agent x", "grants", "pause", "resume", "agent list", "agent add bot", "agent show bot", "agent rotate bot", "agent revoke bot",
	"passkey list", "passkey add", "passkey remove x", "ui", "today --vault ./Notes", "scan --vault ./Notes", "journal list --vault ./Notes",
	"undo list --vault ./Notes", "undo --vault ./Notes --allow-mutations", "audit list", "audit verify", "audit what-if", "audit export -",
	"config show", "config check", "config path", "config init", "config set tier v1", "config edit", "config schema",
	"access --vault ./Notes Plan.md", "flow clear --vault ./Notes Plan.md", "compare --vault ./Notes", "completion bash", "man run",
	"man --write man", "version", "help", "help exit-codes",
}

// Whatever is wrong with a machine, no command ends as with an internal error, and one that fails says why.
func TestOddMachinesAreNoInternalError(t *testing.T) {
	t.Parallel()
	for name, machine := range map[string]struct {
		output      string
		environment func(home string) []string
	}{
		"a full output":            {"/dev/full", nil},
		"a state folder as a file": {"", func(home string) []string { return []string{"XDG_STATE_HOME=" + filepath.Join(home, "file")} }},
		"no home":                  {"", func(string) []string { return []string{"HOME="} }},
		"no temporary folder":      {"", func(string) []string { return []string{"TMPDIR=/nonexistent"} }},
		"settings below a file":    {"", func(home string) []string { return []string{"XDG_CONFIG_HOME=" + filepath.Join(home, "file")} }},
		"a cache below a file":     {"", func(home string) []string { return []string{"XDG_CACHE_HOME=" + filepath.Join(home, "file")} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			harness.WriteFile(t, filepath.Join(home, "Notes", "Plan.md"), []byte("# Plan\n"))
			harness.WriteFile(t, filepath.Join(home, "file"), nil)
			harness.WriteFile(t, filepath.Join(home, "batch.json"), []byte(`{"operations":[{"clientId":"a","command":"read","params":{"path":"Plan.md"}}]}`))
			for _, line := range everySubcommand {
				command := exec.Command(harness.Binary, strings.Fields(line)...)
				command.Dir = home
				command.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + home}
				if machine.environment != nil {
					command.Env = append(command.Env, machine.environment(home)...)
				}
				var said strings.Builder
				command.Stderr = &said
				var printed strings.Builder
				command.Stdout = &printed
				if machine.output != "" {
					output, err := os.OpenFile(machine.output, os.O_WRONLY, 0)
					require.NoError(t, err)
					defer output.Close()
					command.Stdout = output
				}
				status := 0
				if err := command.Run(); err != nil {
					var exit *exec.ExitError
					require.That(t, errors.As(err, &exit), "%s: %v", line, err)
					status = exit.ExitCode()
				}
				assert.That(t, status >= 0, "%s: status %d, %s", line, status, said.String())
				assert.That(t, status <= 5, "%s: status %d, %s", line, status, said.String())
				isSilent := said.String()+printed.String() == ""
				assert.That(t, status == 0 || !isSilent, "%s: status %d and no word", line, status)
			}
		})
	}
}
