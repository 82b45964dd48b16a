package clients

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func wantError(t *testing.T, err error, status int, text string) {
	t.Helper()
	var e *terminal.Failure
	require.That(t, errors.As(err, &e), "the error is %v, want one of status %d with %q", err, status, text)
	assert.Equal(t, e.Status, status, "the error is %v, want one of status %d with %q", err, status, text)
	assert.Contains(t, e.Message, text, "the error is %v, want one of status %d with %q", err, status, text)
}

func TestAMalformedFileIsLeftAlone(t *testing.T) {
	for _, id := range []string{"cursor", "codex", "goose", "claude-desktop"} {
		m, c := newMachine(t, "linux"), client(t, id)
		broken := map[format]string{relaxedJSON: "{\n  \"a\": }\n", strictJSON: "{\n  \"a\": }\n",
			tomlFormat: "[a]\nb = ]\n", yamlFormat: "a: 1\nb: [\n"}[c.format]
		name := m.System.File(c, User)
		write(t, name, &broken)
		_, err := m.Install(c, User, server("vaultwicket"), false)
		wantError(t, err, terminal.ExitNotReady, name+":")
		_, err = m.Uninstall(c, User, "vaultwicket")
		wantError(t, err, terminal.ExitNotReady, "nothing was written")
		assert.Equal(t, *read(t, name), broken, "%s: the file", id)
	}
}

func TestTheModeStaysAndABackupIsMade(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are a matter of Unix")
	}
	m, c := newMachine(t, "linux"), client(t, "cursor")
	name := m.System.File(c, User)
	text := "{\"secret\": 1}\n"
	write(t, name, &text)
	change := require.Value(m.Install(c, User, server("vaultwicket"), false))(t)
	backup, err := change.Write(context.Background())
	require.Equal(t, err, nil, "the backup is %q", backup)
	assert.Equal(t, *read(t, backup), text, "the backup is %q", backup)
	mode := func(name string) os.FileMode { return require.Value(os.Stat(name))(t).Mode().Perm() }
	assert.Equal(t, mode(name), 0o640, "the file has mode")
	assert.Equal(t, mode(backup), 0o600, "the backup has mode")
	assert.Equal(t, mode(filepath.Dir(backup)), 0o700, "the folder of backups has mode")
	m.install(t, c, Project, server("vaultwicket"))
	assert.Equal(t, mode(m.System.File(c, Project)), 0o644, "the file of the project has mode")
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".vaultwicket-*"))
	assert.That(t, len(left) == 0, "left behind: %q", left)
	for range 2 * maxBackups {
		m.install(t, c, User, server("vaultwicket"))
		m.uninstall(t, c, User, "vaultwicket")
	}
	names := backupNames(m.backupsOf(c, file{target: name}))
	assert.That(t, len(names) == maxBackups, "%d backups are kept", len(names))
	assert.Equal(t, *read(t, name), text, "in the end the file")
}

func TestAChangeInBetweenIsKept(t *testing.T) {
	one, two := "{}\n", "{\"a\": 1}\n"
	for _, test := range []struct{ before, between *string }{{&one, &two}, {nil, &two}, {&one, nil}} {
		m, c := newMachine(t, "linux"), client(t, "cursor")
		name := m.System.File(c, User)
		write(t, name, test.before)
		change := require.Value(m.Install(c, User, server("vaultwicket"), false))(t)
		write(t, name, test.between)
		_, err := change.Write(context.Background())
		wantError(t, err, terminal.ExitFailed, "changed by another program")
		// The same between the copy and the last look.
		assert.That(t, change.before.replace(change.after, 0o600) != nil, "the file was replaced")
		got := read(t, name)
		assert.That(t, same(got, test.between), "the file is %s", show(got))
	}
}

func TestALinkStaysALink(t *testing.T) {
	for _, dangling := range []bool{false, true} {
		m, c := newMachine(t, "linux"), client(t, "zed")
		name := m.System.File(c, User)
		dotfiles := filepath.Join(m.home, "dotfiles", "zed")
		text := "// mine\n{\n  \"a\": 1,\n}\n"
		target := filepath.Join(dotfiles, "shared", "settings.json")
		write(t, filepath.Join(dotfiles, "keep"), &text)
		if dangling {
			require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
		} else {
			write(t, target, &text)
		}
		// The folder is a link, and so is the file in it, by a relative path.
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Dir(name)), 0o755),
			os.Symlink(dotfiles, filepath.Dir(name)), os.Symlink("shared/settings.json", name)); err != nil {
			t.Skip(err)
		}
		if link, err := os.Readlink(name); err != nil {
			t.Skipf("no symbolic links here: %q, %v", link, err)
		}
		before := read(t, target)
		m.install(t, c, User, server("vaultwicket"))
		info, err := os.Lstat(name)
		require.Equal(t, err, nil, "the link is %v", info)
		assert.That(t, info.Mode()&os.ModeSymlink != 0, "the link is %v, %v", info, err)
		got := read(t, target)
		require.That(t, got != nil, "the target is %s", show(got))
		assert.Contains(t, *got, "vaultwicket", "the target is %s", show(got))
		m.uninstall(t, c, User, "vaultwicket")
		got = read(t, target)
		assert.That(t, same(before, got), "in the end the target is %s", show(got))
	}
}

// TestAProjectCannotReachOut: a project that was downloaded may have links in it.
func TestAProjectCannotReachOut(t *testing.T) {
	m, c := newMachine(t, "linux"), client(t, "cursor")
	text := "{}\n"
	user, name := m.System.File(c, User), m.System.File(c, Project)
	write(t, user, &text)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.Symlink(user, name)); err != nil {
		t.Skip(err)
	}
	if link, err := os.Readlink(name); err != nil {
		t.Skipf("no symbolic links here: %q, %v", link, err)
	}
	_, err := m.Install(c, Project, server("vaultwicket"), false)
	wantError(t, err, terminal.ExitNotReady, "outside of the project")
	inside := filepath.Join(m.System.Project, "dotfiles.json")
	write(t, inside, &text)
	require.NoError(t, errors.Join(os.Remove(name), os.Symlink("../dotfiles.json", name)))
	assert.Contains(t, m.install(t, c, Project, server("vaultwicket")).Diff(), name+" -> "+inside, "the target is missing in")
}

func TestAFileOfAnotherUserIsNotTouched(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs the rights to give a file away")
	}
	const other = 4321
	for _, test := range []struct {
		theirs   string
		give     func(home, name, target string) error
		complain string
	}{
		{"the file", func(_, name, target string) error {
			return errors.Join(os.Rename(target, name), os.Chown(name, other, other))
		}, "belongs to another user"},
		{"the target of a link", func(_, name, target string) error {
			return errors.Join(os.Symlink(target, name), os.Chown(target, other, other))
		}, "belongs to another user"},
		{"the link", func(_, name, target string) error {
			return errors.Join(os.Symlink(target, name), os.Lchown(name, other, other))
		}, "symbolic link"},
		{"the folder that there is", func(home, name, _ string) error {
			return errors.Join(os.Remove(filepath.Dir(name)), os.Chown(home, other, other))
		}, "belongs to another user"},
	} {
		t.Run(test.theirs, func(t *testing.T) {
			m, c := newMachine(t, "linux"), client(t, "cursor")
			name, target, text := m.System.File(c, User), filepath.Join(m.home, "target"), "{}\n"
			write(t, target, &text)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), test.give(m.home, name, target)); err != nil {
				t.Skip(err)
			}
			_, err := m.Install(c, User, server("vaultwicket"), false)
			wantError(t, err, terminal.ExitNotReady, test.complain)
		})
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	m, c := newMachine(t, "linux"), client(t, "cursor")
	require.NoError(t, os.MkdirAll(m.System.File(c, User), 0o755))
	_, err := m.Install(c, User, server("vaultwicket"), false)
	wantError(t, err, terminal.ExitNotReady, "not a regular file")
	for _, bad := range []string{"", "A", "a b", "-a", "a_b", strings.Repeat("a", 33), "../x"} {
		_, err := m.Install(client(t, "codex"), User, server(bad), false)
		wantError(t, err, terminal.ExitInvalid, "invalid name")
	}
}

func TestBytesComeBackAfterOtherChanges(t *testing.T) {
	m, c := newMachine(t, "linux"), client(t, "cursor")
	name := m.System.File(c, User)
	text := "{\n  \"a\": 1\n}\n"
	write(t, name, &text)
	m.install(t, c, User, server("vaultwicket"))
	changed := strings.Replace(*read(t, name), `"a": 1`, `"a": 2`, 1)
	write(t, name, &changed)
	m.uninstall(t, c, User, "vaultwicket")
	got, want := *read(t, name), "{\n  \"a\": 2,\n  \"mcpServers\": {}\n}\n"
	assert.Equal(t, got, want, "the file")
}

// What an entry needs without a terminal is in it, or said where the rule for it was not written.
func TestEntriesWorkWithoutATerminal(t *testing.T) {
	for id, want := range map[string]struct{ read, edit, said string }{
		"claude-code": {`"alwaysLoad": true`, `"alwaysLoad": true`, `"mcp__vaultwicket__obsidianRead"`},
		"qwen":        {`"alwaysLoadTools": true`, `"alwaysLoadTools": true`, `"mcp__vaultwicket__obsidianRead"`},
		"codex":       {"", `tools = { obsidianCli = { approval_mode = "approve" }, obsidianBatch = { approval_mode = "approve" } }`, ""},
		"gemini":      {"", "", "readOnlyHint = true"},
		"copilot":     {"", "", "--allow-tool 'vaultwicket(obsidianCli)'"},
	} {
		c := client(t, id)
		reading := require.Value(c.Snippet(example()))(t)
		server := example()
		server.Args = Args("/home/me/Notes", true, "")
		editing := require.Value(c.Snippet(server))(t)
		said := strings.Join(c.Headless(server, false), "\n")
		assert.Contains(t, reading, want.read, "%s", id)
		assert.That(t, !strings.Contains(reading, "approve"), "%s: %s", id, reading)
		assert.That(t, strings.Contains(editing, want.edit), "%s: %s", id, editing)
		assert.Contains(t, said, want.said, "%s", id)
		assert.Equal(t, want.said != "", said != "", "%s", id)
		for _, text := range []string{reading, editing} {
			assert.That(t, !strings.Contains(text, "timeout"), "%s has a time limit: %s", id, text)
		}
	}
}

func TestThePackageOfAClient(t *testing.T) {
	s := System{OS: "windows", Getenv: func(string) string { return `C:\Users\me\AppData\Local` }}
	for pattern, want := range map[string]string{
		"{local}/Packages/Claude_x/LocalCache/Roaming/Claude/config.json": `C:\Users\me\AppData\Local\Packages\Claude_x`,
		"{local}/Programs/Claude/config.json":                             "",
		"{config}/Claude/config.json":                                     "",
	} {
		assert.Equal(t, s.packageOf(pattern), want, "%s", pattern)
	}
	assert.That(t, !s.HasPackagedClient(), "a folder that is not there is that of a package")
}
