package app

import (
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// stubbornApp is a CLI that answers as the embedded one does, but for three commands: one
// in another order, one with another line, one that fails. It logs what it is asked.
const stubbornApp = `#!/bin/sh
echo "$*" >>'%[1]s/asked'
case "$*" in
*version) echo '1.13.7 (installer 1.13.7)' ;;
*vault=Notes\ orphans) printf 'B.md\nA.md\n' ;;
*read\ path=A.md) printf 'secret line of the app\n' ;;
*tags) echo 'Error: The tags plugin is off.' ;;
*help) printf 'Obsidian CLI\n\nUsage: obsidian <command>\n\nOptions:\n  vault=<name>  - x\n\nCommands:\n  brandnew              Does more\n    option              - x\n  files                 List\n' ;;
*) exec '%[2]s' vault '%[1]s/Notes' "$@" ;;
esac
`

func newComparison(t *testing.T) (folder string, env []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the app is a script")
	}
	folder = t.TempDir()
	for name, text := range map[string]string{"Notes/A.md": "a secret text #home\n", "Notes/B.md": "b #work\n", "Notes/C.md": "[[C]] to itself\n"} {
		rig.WriteFile(t, filepath.Join(folder, name), []byte(text))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "obsidian"), fmt.Appendf(nil, stubbornApp, folder, rig.Binary), 0o700))
	rig.WriteFile(t, filepath.Join(folder, "home/.config/obsidian/obsidian.json"), fmt.Appendf(nil, `{"vaults":{"a1b2c3d4e5f60718":{"path":%q}}}`, filepath.Join(folder, "Notes")))
	return folder, []string{"HOME=" + filepath.Join(folder, "home"), "VAULTWICKET_CLI=" + filepath.Join(folder, "obsidian"), "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
}

// The two backends are asked the same reading commands; what differs is told without the
// texts of notes, unless they are asked for.
func TestCompareTellsWhereTheBackendsDiffer(t *testing.T) {
	t.Parallel()
	folder, env := newComparison(t)
	run := func(args ...string) (string, int) {
		c := osexec.Command(rig.Binary, append([]string{"compare", "--config=none", "--vault=" + filepath.Join(folder, "Notes")}, args...)...)
		c.Env = env
		out, _ := c.Output()
		return string(out), c.ProcessState.ExitCode()
	}
	out, status := run("--json")
	var report struct {
		App                        string
		Compared, Same, OtherOrder int
		Differences                []struct {
			Call, Kind            string
			App, Embedded         struct{ Code string }
			OnlyApp, OnlyEmbedded int
			Texts                 *struct{ OnlyApp []string }
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 1 {
		t.Fatalf("status %d, %v:\n%s", status, err, out)
	}
	kinds := map[string]string{}
	for _, d := range report.Differences {
		kinds[d.Call] = d.Kind
		assert.That(t, d.Texts == nil, "%s: texts that were not asked for", d.Call)
	}
	if report.Compared < 60 || report.OtherOrder != 1 || report.Same < 50 || kinds["orphans"] != "order" || kinds["read path=A.md"] != "different" || kinds["tags"] != "different" || len(kinds) > 5 {
		t.Errorf("%+v", report)
	}
	assert.That(t, !strings.Contains(out, "secret"), "a text of a note is shown:\n%s", out)
	if out, _ := run("--texts", "--notes=1"); !strings.Contains(out, "\n  app       secret line of the app\n  embedded  a secret text #home\n") || !strings.Contains(out, " calls compared with Obsidian 1.13.7 (installer 1.13.7): ") {
		t.Errorf("with texts:\n%s", out)
	}
	asked, err := os.ReadFile(filepath.Join(folder, "asked"))
	require.NoError(t, err)
	for line := range strings.Lines(string(asked)) {
		for _, word := range []string{"create", "append", "open", "delete", "rename", "random", "set"} {
			assert.That(t, !strings.Contains(line, " "+word), "the app was asked %q", line)
		}
	}
}

func TestNewCommandsOfTheAppAreReported(t *testing.T) {
	t.Parallel()
	folder, env := newComparison(t)
	run := func(args ...string) (stdout, stderr string) {
		c := osexec.Command(rig.Binary, args...)
		var out, log strings.Builder
		c.Env, c.Stdout, c.Stderr = env, &out, &log
		_ = c.Run()
		return out.String(), log.String()
	}
	vault := "--vault=" + filepath.Join(folder, "Notes")
	if out, log := run("version"); strings.Contains(out+log, "brandnew") {
		t.Errorf("known before the app was asked: %s%s", out, log)
	}
	out, log := run("commands", "--config=none", "--all", vault)
	if !strings.Contains(out, "brandnew") || !strings.Contains(out, "new in Obsidian 1.13.7 (installer 1.13.7) and not known to vaultwicket; permanently disabled") ||
		!strings.Contains(log, "does not list these commands; a core plugin may be off: help, version, daily") {
		t.Errorf("commands --all:\n%s\n%s", out, log)
	}
	if _, log := run("run", "--config=none", "--tier=v3", vault, "brandnew"); !strings.Contains(log, `unknown command "brandnew"`) {
		t.Errorf("it runs: %s", log)
	}
	run("commands", "--config=none", "--all", vault)
	if out, log := run("version"); !strings.HasPrefix(out, "vaultwicket ") || !strings.Contains(log, "does not know and does not enable: brandnew") {
		t.Errorf("version: %s%s", out, log)
	}
	if out, _ := run("version", "--json"); !strings.Contains(out, `"brandnew"`) {
		t.Errorf("version --json: %s", out)
	}
	asked, err := os.ReadFile(filepath.Join(folder, "asked"))
	helps := strings.Count(string(asked), "help")
	assert.That(t, err == nil && helps == 1, "the help was asked for %d times, %v:\n%s", helps, err, asked)
}
