package clients

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"vaultwicket/tests/require"
)

var update = flag.Bool("update", false, "write the golden files")

// machine is a home and a project in temporary folders.
type machine struct {
	Installer
	home string
}

func newMachine(t *testing.T, system string) machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home, project := filepath.Join(root, "home"), filepath.Join(root, "project")
	for _, folder := range []string{home, project} {
		require.NoError(t, os.Mkdir(folder, 0o755))
	}
	env := map[string]string{"HOME": home, "PATH": filepath.Join(root, "bin")}
	if runtime.GOOS == "windows" { // paths of other systems do not exist there
		system = "windows"
		env["USERPROFILE"], env["APPDATA"], env["LOCALAPPDATA"] = home, filepath.Join(home, "Roaming"), filepath.Join(home, "Local")
	}
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	return machine{home: home, Installer: Installer{
		System:  System{OS: system, Getenv: func(name string) string { return env[name] }, Project: project},
		Backups: filepath.Join(root, "state", "clients"),
		Now:     func() time.Time { now = now.Add(time.Second); return now },
	}}
}

func client(t *testing.T, id string) Client {
	t.Helper()
	c, ok := Find(id)
	require.That(t, ok, "there is no client %q", id)
	return c
}

func server(name string) Server {
	return Server{Name: name, Command: "/usr/local/bin/vaultwicket", Args: Args("/home/me/Notes", false, ""), Token: "VAULTWICKET_TOKEN"}
}

// write makes a file with its folders; content nil stands for no file.
func write(t *testing.T, name string, content *string) {
	t.Helper()
	if content == nil {
		require.NoError(t, os.RemoveAll(name))
		return
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(*content), 0o640))
}

// read returns a file, nil for none.
func read(t *testing.T, name string) *string {
	t.Helper()
	content, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	text := string(content)
	return &text
}

func same(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

func show(s *string) string {
	if s == nil {
		return "(no file)"
	}
	return *s
}

func (m machine) install(t *testing.T, c Client, scope Scope, s Server) *Change {
	t.Helper()
	change, err := m.Install(c, scope, s, false)
	require.That(t, err == nil, "%s: install: %v", c.ID, err)
	if _, err := change.Write(context.Background()); err != nil {
		t.Fatalf("%s: write: %v", c.ID, err)
	}
	return change
}

func (m machine) uninstall(t *testing.T, c Client, scope Scope, name string) *Change {
	t.Helper()
	change, err := m.Uninstall(c, scope, name)
	require.That(t, err == nil, "%s: uninstall: %v", c.ID, err)
	if _, err := change.Write(context.Background()); err != nil {
		t.Fatalf("%s: write: %v", c.ID, err)
	}
	return change
}
