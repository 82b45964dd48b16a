package clients

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// claude is a stand-in for Claude Code's own command: it writes its file anew.
type claude struct {
	t     *testing.T
	file  string
	calls [][]string
	fails bool
}

func (c *claude) run(_ context.Context, argv []string) (string, error) {
	c.calls = append(c.calls, argv[1:])
	if c.fails {
		return "Invalid configuration", errors.New("exit status 1")
	}
	whole := map[string]any{}
	if text := read(c.t, c.file); text != nil {
		if err := json.Unmarshal([]byte(*text), &whole); err != nil {
			return "", err
		}
	}
	servers, _ := whole["mcpServers"].(map[string]any)
	if servers == nil {
		servers = map[string]any{}
	}
	name := argv[3]
	_, has := servers[name]
	switch argv[2] {
	case "add-json":
		if has {
			return "already exists", errors.New("exit status 1")
		}
		var entry any
		if err := json.Unmarshal([]byte(argv[4]), &entry); err != nil {
			return "", err
		}
		servers[name] = entry
	case "remove":
		if !has {
			return "no server", errors.New("exit status 1")
		}
		delete(servers, name)
	}
	whole["mcpServers"] = servers
	text, err := json.MarshalIndent(whole, "", "  ")
	if err != nil {
		return "", err
	}
	return "", os.WriteFile(c.file, text, 0o600)
}

func claudeMachine(t *testing.T) (machine, *claude) {
	t.Helper()
	m := newMachine(t, "linux")
	program := filepath.Join(m.System.Getenv("PATH"), "claude")
	if m.System.OS == "windows" {
		program += ".exe"
	}
	script := "#!/bin/sh\n"
	write(t, program, &script)
	require.NoError(t, os.Chmod(program, 0o755))
	fake := &claude{t: t, file: filepath.Join(m.home, ".claude.json")}
	m.Run = fake.run
	return m, fake
}

func TestClaudeCodeIsDrivenByItsOwnCommand(t *testing.T) {
	m, fake := claudeMachine(t)
	c := client(t, "claude-code")
	m.install(t, c, User, server("vaultwicket"))
	m.install(t, c, User, server("vaultwicket")) // nothing to do
	edits := server("vaultwicket")
	edits.Args = Args("/home/me/Notes", true, "")
	m.install(t, c, User, edits)
	s := m.State(c)
	require.That(t, s.Found != "", "the state is %+v", s)
	require.Equal(t, len(s.Servers), 1, "the state is %+v", s)
	assert.That(t, s.Servers[0].Edit, "the state is %+v", s)
	m.uninstall(t, c, User, "vaultwicket")
	m.uninstall(t, c, User, "vaultwicket")
	var did []string
	for _, call := range fake.calls {
		did = append(did, call[1])
		assert.That(t, slices.Equal(call[len(call)-2:], []string{"-s", "user"}), "the scope is missing in %q", call)
	}
	assert.Equal(t, strings.Join(did, " "), "add-json remove add-json remove", "it did")
	// The file of a project is edited.
	change, err := m.Install(c, Project, server("vaultwicket"), false)
	require.Equal(t, err, nil, "in a project")
	require.Equal(t, len(change.Commands), 0, "in a project")
	assert.That(t, change.Diff() != "", "in a project: %v, %v", change, err)
}

// A list where the client has a mapping, and a mapping where it has a list, have none of its entries.
func TestEntriesAreLookedForInTheFormOfTheClient(t *testing.T) {
	for id, content := range map[string]string{
		"cursor":   `{"mcpServers": [{"name": "vaultwicket", "command": "vaultwicket"}]}`,
		"continue": "mcpServers:\n  vaultwicket:\n    command: vaultwicket\n",
	} {
		m, c := newMachine(t, "linux"), client(t, id)
		write(t, m.System.File(c, User), &content)
		s := m.State(c)
		assert.Equal(t, s.Problem, "", "%s: the state is %+v", id, s)
		assert.Equal(t, len(s.Servers), 0, "%s: the state is %+v", id, s)
	}
}

func TestAFailureOfTheOwnCommandIsTold(t *testing.T) {
	m, fake := claudeMachine(t)
	fake.fails = true
	change, err := m.Install(client(t, "claude-code"), User, server("vaultwicket"), false)
	require.NoError(t, err)
	require.Equal(t, change.Diff(), "")
	_, err = change.Write(context.Background())
	wantError(t, err, terminal.ExitNotReady, "Invalid configuration")
	// One that says it did, and did not.
	m.Run = func(context.Context, []string) (string, error) { return "done", nil }
	change = require.Value(m.Install(client(t, "claude-code"), User, server("vaultwicket"), false))(t)
	_, err = change.Write(context.Background())
	wantError(t, err, terminal.ExitNotReady, "did not keep the entry")
}

func TestFound(t *testing.T) {
	m, _ := claudeMachine(t)
	empty := newMachine(t, "linux")
	for _, c := range All() {
		assert.Equal(t, empty.System.Found(c), "", "%s was found on an empty machine by", c.ID)
		if c.user.none() || !c.on(m.System.OS) || c.byName {
			continue
		}
		content := "{}"
		write(t, m.System.File(c, User), &content)
		assert.That(t, m.System.Found(c) != "", "%s was not found", c.ID)
	}
}

func TestTheBinaryIsNamedAsOnThePath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("package managers use links on Unix")
	}
	m := newMachine(t, "linux")
	bin := m.System.Getenv("PATH")
	real := filepath.Join(filepath.Dir(bin), "Cellar", "1.2", "vaultwicket")
	script := "#!/bin/sh\n"
	write(t, real, &script)
	assert.Equal(t, m.System.Binary(real), real, "without one on the PATH it")
	other := filepath.Join(bin, "vaultwicket")
	write(t, other, &script)
	require.NoError(t, errors.Join(os.Chmod(real, 0o755), os.Chmod(other, 0o755)))
	assert.Equal(t, m.System.Binary(real), real, "next to another program it")
	if err := errors.Join(os.Remove(other), os.Symlink(real, other)); err != nil {
		t.Skip(err)
	}
	assert.Equal(t, m.System.Binary(real), other, "through the link it")
}

func TestAnUnsafeOwnCommandIsNotStarted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes")
	}
	m, fake := claudeMachine(t)
	c := client(t, "claude-code")
	bin := filepath.Dir(m.System.Program("claude"))
	for name, prepare := range map[string]func(s *Server){
		"in a folder that all can change": func(*Server) { require.NoError(t, os.Chmod(bin, 0o777)) },
		"in the vault":                    func(s *Server) { s.Args = Args(filepath.Dir(bin), false, "") },
	} {
		s := server("vaultwicket")
		prepare(&s)
		change, err := m.Install(c, User, s, false)
		require.Equal(t, err, nil, "%s", name)
		require.Equal(t, len(change.Commands), 0, "%s", name)
		require.That(t, change.Diff() != "", "%s: %+v, %v", name, change, err)
		assert.Equal(t, len(fake.calls), 0, "%s", name)
		require.NoError(t, os.Chmod(bin, 0o755))
	}
}

func TestPathsThatClientsOrLinksTurn(t *testing.T) {
	m := newMachine(t, "linux")
	s := server("vaultwicket")
	s.Args = Args("/home/me/${HOME}/Notes", false, "")
	_, err := m.Install(client(t, "cursor"), User, s, false)
	wantError(t, err, terminal.ExitNotReady, "${")
	if runtime.GOOS == "windows" {
		return
	}
	require.NoError(t, os.Symlink("missing/../.mcp.json", filepath.Join(m.System.Project, ".mcp.json")))
	_, err = m.Install(client(t, "claude-code"), Project, server("vaultwicket"), false)
	require.That(t, err != nil, "a link to itself: %v", err)
	assert.Contains(t, err.Error(), "too many levels of symbolic links", "a link to itself")
}
