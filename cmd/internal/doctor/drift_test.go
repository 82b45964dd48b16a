package doctor

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// fakeApp is an app with a version and a help text.
type fakeApp struct {
	version, help string
	asked         int // for the help
}

func (a *fakeApp) AppVersion(context.Context) (string, error) {
	if a.version == "" {
		return "", errors.New("the app is closed")
	}
	return a.version, nil
}

func (a *fakeApp) AppHelp(context.Context) (string, error) {
	a.asked++
	return a.help, nil
}

// obsidianHelp is a help text in the form of 1.12.7.
func obsidianHelp(names ...string) string {
	text := "Obsidian CLI\n\nUsage: obsidian <command> [options]\n\nOptions:\n  vault=<name>          Target a vault\n\nNotes:\n  file resolves by name\n\nCommands:\n"
	for _, name := range names {
		text += "  " + name + strings.Repeat(" ", max(1, 22-len(name))) + "Does something\n    option=<value>      - more\n"
	}
	return text + "\nDeveloper:\n  eval                  Run JavaScript\n"
}

func officialCommands() (names []string) {
	for c := range allowlist.Commands() {
		if !c.EmbeddedOnly && c.Name != "eval" {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestAVersionIsComparedOnce(t *testing.T) {
	folder := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_CACHE_HOME": folder, "HOME": folder}[name] }
	d, ok := KnownDrift(getenv)
	require.That(t, !ok, "known before: %+v", d)
	a := &fakeApp{version: "1.13.7 (installer 1.13.7)", help: obsidianHelp(append(officialCommands()[1:], "note:summarize", "note:summarize", "<odd>")...)}
	for range 3 {
		d, err := CheckDrift(t.Context(), getenv, a)
		if err != nil || d.Version != a.version || !slices.Equal(d.New, []string{"note:summarize"}) || !slices.Equal(d.Missing, officialCommands()[:1]) {
			t.Fatalf("%+v, %v", d, err)
		}
		known, ok := KnownDrift(getenv)
		require.That(t, ok, "known: %+v, %v", known, ok)
		assert.EqualSlices(t, known.New, d.New, "known")
	}
	assert.That(t, a.asked == 1, "asked %d times", a.asked)
	a.version, a.help = "1.14.0", obsidianHelp(officialCommands()...)
	if d, err := CheckDrift(t.Context(), getenv, a); err != nil || len(d.New)+len(d.Missing) > 0 || a.asked != 2 {
		t.Errorf("another version: %+v, %v, asked %d times", d, err, a.asked)
	}
	a.version = ""
	_, err := CheckDrift(t.Context(), getenv, a)
	assert.That(t, err != nil, "a closed app is no error")
}

// What is no list of commands says nothing, and what others wrote is not shown.
func TestOtherTexts(t *testing.T) {
	for _, help := range []string{"", "no list", "Commands: files", obsidianHelp()[:20], "Commands:\nfiles\n    read\n"} {
		names := commandsIn(help)
		assert.That(t, len(names) == 0, "%q has the commands %q", help, names)
		d := driftOf("1", commandsIn(help))
		assert.That(t, len(d.New)+len(d.Missing) == 0, "%q: %+v", help, d)
	}
	assert.EqualSlices(t, commandsIn("Commands:\r\n  files   List\r\n  read\r\n"), []string{"files", "read"}, "with CRLF")
	folder := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_CACHE_HOME": folder, "HOME": folder}[name] }
	require.Value(CheckDrift(t.Context(), getenv, &fakeApp{version: "1", help: obsidianHelp("a")}))(t)
	for _, text := range []string{"", "{", `{"version":"1","new":["\u001b[2J"]}`, `{"version":"","new":[]}`} {
		require.NoError(t, os.WriteFile(driftFile(getenv), []byte(text), 0o600))
		d, ok := KnownDrift(getenv)
		assert.That(t, !ok, "%q is taken: %+v", text, d)
	}
}
