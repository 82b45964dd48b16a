package consent

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The managed settings bound the program as it is: in a namespace of its own, where /etc is a
// folder of the test and its user is root.
func TestManagedSettingsBoundTheProgram(t *testing.T) {
	t.Parallel()
	etc := t.TempDir()
	inside := func(args ...string) *osexec.Cmd {
		return osexec.Command("unshare", append([]string{"-rm", "sh", "-c", `mount --bind "$0" /etc && exec "$@"`, etc}, args...)...)
	}
	if out, err := inside("true").CombinedOutput(); err != nil {
		t.Skipf("no namespace here: %v %s", err, out)
	}
	r := newProgram(t)
	file := filepath.Join(etc, "vaultwicket", "config.toml")
	harness.WriteFile(t, file, []byte("allow-mutations = false\nagents = [\"ann\"]\n[access]\n\"Ann/Secret\" = \"none\"\n"))
	r.Write("Ann/Secret/Pay.md", "salary\n")
	r.Write(".obsidian/app.json", "{}")
	outer := t.TempDir()
	harness.WriteFile(t, filepath.Join(outer, "Other", ".obsidian", "app.json"), nil)
	harness.WriteFile(t, filepath.Join(outer, "Other", "Ann", "Secret", "Pay.md"), []byte("salary\n"))
	r.Save()
	run := func(stdin string, args ...string) (string, int) {
		command := inside(append([]string{harness.Binary}, args...)...)
		var out bytes.Buffer
		command.Stdout, command.Stderr, command.Stdin = &out, &out, strings.NewReader(stdin)
		command.Env = []string{"HOME=" + r.Home, "PATH=" + os.Getenv("PATH"), "VAULTWICKET_ALLOW_MUTATIONS=true"}
		_ = command.Run()
		return out.String(), command.ProcessState.ExitCode()
	}
	for _, test := range []struct {
		status int
		says   string
		args   []string
	}{
		{0, "plan zqx", []string{"run", "read", "path=Ann/Plan.md"}},
		{1, "not found", []string{"run", "read", "path=Ann/Secret/Pay.md"}},
		{3, "the administrator of this machine can change allow-mutations", []string{"run", "--allow-mutations", "append", "path=Ann/Plan.md", "content=x"}},
		{3, "do not allow the agent", []string{"run", "--agent=bob", "read", "path=Bob/Plan.md"}},
		{1, "not found", []string{"run", "--config=none", "--tier=v1", "--vault=" + filepath.Join(r.Vault, "Ann"), "read", "path=Secret/Pay.md"}},
		{1, "not found", []string{"run", "--config=none", "--tier=v1", "--vault=" + filepath.Join(r.Vault, "Ann", "Secret"), "read", "path=Pay.md"}},
		{1, "not found", []string{"run", "--config=none", "--tier=v1", "--vault=" + outer, "read", "path=Other/Ann/Secret/Pay.md"}},
		{3, "overlaps the vault", []string{"vault", filepath.Join(r.Vault, "Ann", "Secret"), "read", "path=Pay.md"}},
		{3, "do not allow changes", []string{"vault", r.Vault, "--write", "append", "path=Ann/Plan.md", "content=x"}},
		{1, "not found", []string{"vault", r.Vault, "read", "path=Ann/Secret/Pay.md"}},
		{0, "managed settings /etc/vaultwicket/config.toml", []string{"config", "show"}},
		{0, "OK", []string{"config", "check"}},
	} {
		out, status := run("", test.args...)
		assert.Equal(t, status, test.status, "%q: %d\n%s", test.args, status, out)
		assert.Contains(t, out, test.says, "%q: %d\n%s", test.args, status, out)
	}
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + harness.ToolCall(2,
		`{"command":"append","params":{"path":"Ann/Plan.md","content":"x"}}`) + "\n"
	if out, _ := run(initialize, "serve", "--agent=ann"); !strings.Contains(out, `"mutations_off"`) {
		t.Errorf("a server says\n%s", out)
	}
	require.NoError(t, os.Chmod(file, 0o666))
	out, status := run("", "run", "read", "path=Ann/Plan.md")
	assert.Equal(t, status, 2, "a file that others can write: %d\n%s", status, out)
	assert.Contains(t, out, "can be written by users other than root",
		"a file that others can write: %d\n%s", status, out)
	assert.Equal(t, r.Read("Ann/Plan.md"), agentNotes["Ann/Plan.md"], "the note")
}
