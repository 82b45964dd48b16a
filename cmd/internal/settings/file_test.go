package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec/trust"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func TestUnsafeFilesAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	fine := writeSettings(t, "tier = \"v1\"\n")
	mode := func(mode os.FileMode) string {
		name := writeSettings(t, "tier = \"v1\"\n")
		require.NoError(t, os.Chmod(name, mode))
		return name
	}
	link := filepath.Join(t.TempDir(), "link.toml")
	require.NoError(t, os.Symlink(fine, link))
	large := writeSettings(t, "# "+strings.Repeat("x", 1<<20))
	open := writeSettings(t, "")
	require.NoError(t, os.Chmod(filepath.Dir(open), 0o777))
	below := filepath.Join(t.TempDir(), "open", "own", "config.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(below), 0o700))
	require.NoError(t, os.WriteFile(below, nil, 0o600))
	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(below)), 0o707))

	for name, want := range map[string]struct{ reason, mend string }{
		link:            {"is a symbolic link", "--config"},
		t.TempDir():     {"is not a regular file", "config init"},
		"/dev/null":     {"is not a regular file", "config init"},
		large:           {"is larger than 1048576 bytes", "right file"},
		mode(0o620):     {"can be written by its group (mode 0620)", "chmod 600"},
		mode(0o602):     {"can be written by others (mode 0602)", "chmod 600"},
		open:            {"which others can write (mode 0777)", "chmod o-w"},
		below:           {"which others can write (mode 0707)", "chmod o-w"},
		fine + "/x":     {"not a directory", ""},
		fine + ".other": {"no such file", ""},
	} {
		_, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + name})
		var wrong *terminal.UsageError
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, want.reason) || !strings.Contains(wrong.Advice, want.mend) {
			t.Errorf("%s: %v, want %q", name, err, want.reason)
			continue
		}
		assert.That(t, strings.Contains(wrong.Reason, fmt.Sprintf("settings file %q (flag --config)", name)), "%v does not say which file, and who named it", err)
	}
	if _, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + fine}); err != nil {
		t.Errorf("a private file: %v", err)
	}
}

func TestAFileOfSomebodyElseIsRefused(t *testing.T) {
	if os.Getuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can give a file away")
	}
	file := writeSettings(t, "tier = \"v1\"\n")
	require.NoError(t, os.Chown(file, 12345, 12345))
	if _, _, err := trust.ReadFile(file); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("a file of another user: %v", err)
	}
	own := writeSettings(t, "tier = \"v1\"\n")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(filepath.Dir(own), link))
	if _, _, err := trust.ReadFile(filepath.Join(link, "config.toml")); err != nil {
		t.Errorf("through a link of our own: %v", err)
	}
	require.NoError(t, os.Lchown(link, 12345, 12345))
	if _, _, err := trust.ReadFile(filepath.Join(link, "config.toml")); err == nil || !strings.Contains(err.Error(), "is reached through the link") {
		t.Errorf("through a link of another user: %v", err)
	}
}

func TestALinkThatLeadsNowhereIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links take a privilege")
	}
	round := filepath.Join(t.TempDir(), "round")
	require.NoError(t, os.Symlink(round, round))
	if _, _, err := trust.ReadFile(filepath.Join(round, "config.toml")); err == nil {
		t.Error("a file that is a link to itself is read")
	}
	assert.That(t, trust.CheckFolder(round) != nil, "a link to itself is a safe way")
}

// TestAFileInAVaultIsRefused looks from every side from which a folder is known
// to be a vault.
func TestAFileInAVaultIsRefused(t *testing.T) {
	vault := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(vault, ".deep"), 0o700))
	file := filepath.Join(vault, ".deep", "config.toml")
	home := t.TempDir()
	app := filepath.Join(home, "obsidian")
	require.NoError(t, os.MkdirAll(app, 0o700))

	write := func(content string) { require.NoError(t, os.WriteFile(file, []byte(content), 0o600)) }
	refused := func(name string, env map[string]string, args ...string) {
		t.Helper()
		_, _, err := NewFlags("run").Load(world(env), append([]string{"--config=" + file}, args...))
		assert.That(t, err != nil && strings.Contains(err.Error(), "is inside the vault"), "%s: %v", name, err)
	}
	write("")
	refused("the vault of a flag", nil, "--vault="+vault)
	refused("the vault of the environment", map[string]string{"VAULTWICKET_VAULT": vault})
	write(fmt.Sprintf("vault = %q\n", vault))
	refused("the vault of the file", nil)
	write(fmt.Sprintf("[[vaults]]\nname = \"Other\"\n[[vaults]]\nfolder = %q\n", vault))
	refused("one of several vaults", nil)
	refused("a vault beside the one that is served", nil, "--vault=Other")
	write("")
	if _, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + file}); err != nil {
		t.Errorf("in a folder that is no vault: %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(vault, link))
	refused("the vault behind a link", nil, "--vault="+link)
	require.NoError(t, os.WriteFile(filepath.Join(app, "obsidian.json"), fmt.Appendf(nil, `{"vaults": {"0123456789abcdef": {"path": %q}}}`, vault), 0o600))
	refused("a vault that the app knows", map[string]string{"XDG_CONFIG_HOME": home})
}
