package clients

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// session is a run on an empty machine.
func session(t *testing.T) (*Session, *bytes.Buffer) {
	t.Helper()
	root := require.Value(filepath.EvalSymlinks(t.TempDir()))(t)
	var out bytes.Buffer
	env := map[string]string{"HOME": root, "USERPROFILE": root, "APPDATA": filepath.Join(root, "Roaming")}
	getenv := func(name string) string { return env[name] }
	return &Session{
		Options:   Options{Client: "cursor", Name: "vaultwicket", Scope: "user", Token: "T"},
		Installer: Installer{System: System{OS: runtime.GOOS, Getenv: getenv, Project: root}, Backups: filepath.Join(root, "state"), Now: time.Now},
		Binary:    "/usr/bin/vaultwicket", Out: &out, Err: &out,
		Confirm: func(context.Context) (bool, bool) { return false, false },
		Ask:     func(context.Context, string) (bool, bool) { return false, false },
	}, &out
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Session)
		want   string
	}{
		{"a client and all", func(s *Session) { s.All = true }, "exclude each other"},
		{"all and list", func(s *Session) { s.Client, s.All, s.List = "", true, true }, "exclude each other"},
		{"printing all", func(s *Session) { s.Client, s.All, s.Print = "", true, true }, "need a client"},
		{"all of a project", func(s *Session) { s.Client, s.All, s.Scope = "", true, "project" }, "scope user"},
		{"a file as address", func(s *Session) { s.URL = "file:///etc/passwd" }, "--url"},
		{"an address of no host", func(s *Session) { s.URL = "https:///mcp" }, "--url"},
		{"half an address", func(s *Session) { s.URL = "https://[::1" }, "--url"},
		{"a port that is no number", func(s *Session) { s.URL = "https://host:port/mcp" }, "--url"},
		{"a bad escape", func(s *Session) { s.URL = "https://%zz/mcp" }, "--url"},
		{"a password in an address", func(s *Session) { s.URL = "https://me:secret@host/mcp" }, "--url"},
		{"a token in clear", func(s *Session) { s.URL = "http://example.com/mcp" }, "in clear"},
		{"an address with a vault", func(s *Session) { s.URL, s.Vault = "https://example.com/mcp", "Notes" }, "cannot be combined"},
		{"an address with edit", func(s *Session) { s.URL, s.Edit = "http://[::1]:8/mcp", true }, "cannot be combined"},
		{"the token itself", func(s *Session) { s.URL, s.Token = "http://localhost:8/mcp", "s3cret-token" }, "never the token"},
		{"a name", func(s *Session) { s.Name = "My Vault" }, "invalid name"},
		{"a program of go run", func(s *Session) { s.Binary = "/tmp/go-build123/b001/exe/vaultwicket" }, "go run"},
		{"a link that does not exist", func(s *Session) { s.Client, s.Link = "codex", true }, "no link"},
		{"a project without settings", func(s *Session) { s.Client, s.Scope = "windsurf", "project" }, "no settings of a project"},
		{"all of nothing", func(s *Session) { s.Client, s.All = "", true }, "no client was found"},
	} {
		s, out := session(t)
		test.change(s)
		err := s.Run(context.Background())
		var known *terminal.Failure
		require.That(t, errors.As(err, &known), "%s: the error is %v, want %q", test.name, err, test.want)
		assert.Contains(t, known.Message+known.Advice, test.want, "%s: the error is %v", test.name, err)
		assert.That(t, !strings.Contains(out.String()+err.Error(), "s3cret"), "%s: the secret is shown", test.name)
		_, err = os.Stat(s.Installer.Backups)
		assert.That(t, err != nil, "%s: something was written", test.name)
	}
}

func TestOnlyAYesWrites(t *testing.T) {
	s, out := session(t)
	s.Confirm = func(context.Context) (bool, bool) { return false, true }
	file := s.Installer.System.File(mustFind(t, "cursor"), User)
	assert.ErrorIs(t, s.Run(context.Background()), errDeclined, "the error")
	_, err := os.Stat(file)
	assert.That(t, err != nil, "the file was written, or the change not shown:\n%s", out)
	assert.Contains(t, out.String(), "+++ "+file, "the file was written, or the change not shown:\n%s", out)
	s.Confirm = func(context.Context) (bool, bool) { return true, true }
	require.NoError(t, s.Run(context.Background()))
	content, err := os.ReadFile(file)
	require.Equal(t, err, nil, "the file is %s", content)
	assert.That(t, bytes.Contains(content, []byte("--allow-mutations=false")), "the file is %s, %v", content, err)
	// With another vault that has control characters in the name.
	s.Vault, s.DryRun = "a\x1b[2Jb", true
	out.Reset()
	err = s.Run(context.Background())
	require.Equal(t, err, nil, "shown as %q", out)
	assert.That(t, !strings.Contains(out.String(), "\x1b"), "shown as %q, %v", out, err)
}

func TestAnEntryOfAnotherVaultIsReplacedOnRequestOnly(t *testing.T) {
	for _, word := range []string{`"--vault","Work"`, `"--vault=Work"`} {
		s, _ := session(t)
		s.Vault, s.Yes = "Notes", true
		file := s.Installer.System.File(mustFind(t, "cursor"), User)
		before := `{"mcpServers":{"vaultwicket":{"command":"/usr/bin/vaultwicket","args":["serve",` + word + `]}}}`
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(before), 0o600))
		err := s.Run(context.Background())
		content := require.Value(os.ReadFile(file))(t)
		require.That(t, err != nil, "%s: the error is %v, the file %s", word, err, content)
		require.Contains(t, err.Error(), `for another vault: "Work"`, "%s: the error is %v, the file %s", word, err, content)
		assert.Equal(t, string(content), before, "%s: the error is %v, the file %s", word, err, content)
		s.Replace = true
		require.NoError(t, s.Run(context.Background()))
	}
}

func TestAllGoesOnAfterAFailure(t *testing.T) {
	s, out := session(t)
	s.Client, s.All, s.Yes = "", true, true
	home := s.Installer.System.Getenv("HOME")
	for _, folder := range []string{".cursor", ".kiro/settings", ".codex"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, folder), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, ".cursor/mcp.json"), []byte("{"), 0o600))
	err := s.Run(context.Background())
	require.That(t, err != nil, "the error is %v", err)
	assert.Contains(t, err.Error(), "1 of 3 clients failed", "the error is %v", err)
	for _, want := range []string{"Codex: installed", "Kiro: installed", "Cursor: ", ":1:2: "} {
		assert.That(t, strings.Contains(out.String(), want), "%q is missing in\n%s", want, out)
	}
	out.Reset()
	s.All, s.List, s.JSON = false, true, true
	err = s.Run(context.Background())
	require.Equal(t, err, nil, "the list is %v\n%s", err, out)
	assert.Contains(t, out.String(), `"client": "kiro"`, "the list is %v\n%s", err, out)
}

// An entry allows changes however its switch is written; the last one counts.
func TestTheListKnowsWhoMayEdit(t *testing.T) {
	for args, edits := range map[string]bool{
		"serve": false, "serve --allow-mutations": true, "serve --allow-mutations=false": false,
		"serve --allow-mutations=true": true, "serve --allow-mutations=1": true, "serve --allow-mutations=T": true,
		"serve --allow-mutations=0": false, "serve --allow-mutations=yes": false, "serve --allow-mutations-not": false,
		"serve --allow-mutations --allow-mutations=false": false, "serve --allow-mutations=false --allow-mutations": true,
	} {
		s, _ := session(t)
		c := mustFind(t, "cursor")
		file := s.Installer.System.File(c, User)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		words := `"` + strings.Join(strings.Fields(args), `","`) + `"`
		text := `{"mcpServers":{"vaultwicket":{"command":"/usr/bin/vaultwicket","args":[` + words + `]}}}`
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		state := s.Installer.State(c)
		require.Equal(t, len(state.Servers), 1, "%s: %+v", args, state)
		assert.Equal(t, state.Servers[0].Edit, edits, "%s", args)
	}
}

// What was written has a backup that the user hears of, even if the other settings of the client cannot be read.
func TestTheBackupIsToldFirst(t *testing.T) {
	s, out := session(t)
	s.Client, s.Scope, s.Yes = "qwen", "project", true
	s.Installer.System.Project = t.TempDir()
	c := mustFind(t, "qwen")
	file := s.Installer.System.File(c, Project)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(`{"theme": "dark"}`), 0o600))
	require.NoError(t, os.MkdirAll(s.Installer.System.File(c, User), 0o755)) // a folder cannot be read
	err := s.Run(context.Background())
	assert.That(t, err != nil, "the settings of the user were read")
	require.Contains(t, out.String(), "installed as")
	assert.Contains(t, out.String(), "Backup: ")
}

func TestAListWithoutOthersNamesNone(t *testing.T) {
	s, out := session(t)
	s.Client, s.List = "", true
	require.NoError(t, s.Run(context.Background()))
	assert.Contains(t, out.String(), "No MCP client was found.")
	out.Reset()
	require.NoError(t, s.writeList(foundEverywhere(s.Installer)))
	assert.That(t, !strings.Contains(out.String(), "Not found"), "got\n%s", out)
}

// foundEverywhere returns the states of all clients, each as if it had been found.
func foundEverywhere(i Installer) (states []State) {
	for _, c := range All() {
		state := i.State(c)
		state.Found = "/" + c.ID
		states = append(states, state)
	}
	return states
}

func mustFind(t *testing.T, id string) Client {
	t.Helper()
	c, ok := Find(id)
	require.That(t, ok, "there is no client %q", id)
	return c
}

func TestShellLine(t *testing.T) {
	assert.Equal(t, shellLine([]string{"/bin/x", "a b", `it's`, "", "$HOME"}), `/bin/x 'a b' 'it'\''s' '' '$HOME'`, "the line")
}
