package clients

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	assert.That(t, err == nil && string(want) == got, "%s is stale (%v); -update writes it. It would be\n%s", name, err, got)
}

// TestEntries writes down each client's entry for a program, for a program that may
// change notes, and for an address, and its link.
func TestEntries(t *testing.T) {
	var b strings.Builder
	for _, c := range All() {
		edits, remote := server("vaultwicket"), server("vaultwicket")
		edits.Args = Args(`C:\Users\me\My "Notes"`, true, "")
		edits.Command = `C:\Program Files\vaultwicket.exe`
		remote.URL = "http://127.0.0.1:8765/mcp"
		for i, s := range []Server{server("vaultwicket"), edits, remote} {
			s.System = "linux"
			text, err := c.Snippet(s)
			if err != nil {
				text = "error: " + err.Error() + "\n"
			}
			fmt.Fprintf(&b, "-- %s %s --\n%s", c.ID, []string{"read", "edit", "http"}[i], text)
		}
		if link := c.Link(server("vaultwicket")); link != "" {
			fmt.Fprintf(&b, "-- %s link --\n%s\n", c.ID, link)
		}
	}
	golden(t, "entries.txt", b.String())
}

// TestPlaces writes down where each client's files are on each system.
func TestPlaces(t *testing.T) {
	var b strings.Builder
	for _, s := range []System{
		{OS: "linux", Project: "/p", Getenv: environ("HOME=/home/me")},
		{OS: "linux", Project: "/p", Getenv: environ("HOME=/home/me", "XDG_CONFIG_HOME=/x", "CODEX_HOME=/c", "CLAUDE_CONFIG_DIR=/d", "COPILOT_HOME=/o", "CLINE_DIR=/l")},
		{OS: "darwin", Project: "/p", Getenv: environ("HOME=/Users/me", "XDG_CONFIG_HOME=/x")},
		{OS: "windows", Project: `C:\p`, Getenv: environ(`USERPROFILE=C:\Users\me`, `APPDATA=C:\Users\me\AppData\Roaming`, `LOCALAPPDATA=C:\Users\me\AppData\Local`)},
		{OS: "linux", Project: "", Getenv: environ()},
	} {
		fmt.Fprintf(&b, "-- %s %s --\n", s.OS, s.Getenv(""))
		for _, c := range All() {
			if c.on(s.OS) {
				fmt.Fprintf(&b, "%s: %s | %s\n", c.ID, s.File(c, User), s.File(c, Project))
			}
		}
	}
	golden(t, "places.txt", b.String())
}

// environ is an environment; the name "" stands for all of it.
func environ(pairs ...string) func(string) string {
	return func(name string) string {
		if name == "" {
			return strings.Join(pairs, " ")
		}
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestTheTableIsWhole(t *testing.T) {
	seen, written := map[string]bool{}, 0
	for _, c := range All() {
		if seen[c.ID] || !ValidName(c.ID) || c.Name == "" || c.shape.stdio == nil || len(c.place) == 0 || c.format == noFile || c.after == "" {
			t.Errorf("the row %q is not whole", c.ID)
		}
		seen[c.ID] = true
		if _, ok := c.Writes(User); ok {
			written++
		} else if _, err := (Installer{}).Install(c, User, server("vaultwicket"), false); err == nil {
			t.Errorf("%s is unsure, and written", c.ID)
		}
		assert.That(t, c.format != yamlFormat || len(c.place) == 1, "%s: the editor of YAML takes one key", c.ID)
	}
	assert.That(t, written >= 16, "%d clients are written, want 16", written)
}

func TestLinksCarryTheEntry(t *testing.T) {
	s := server("vaultwicket")
	s.Args = Args("/home/me/Ä & B+C #1", false, "")
	for _, id := range []string{"vscode", "vscode-insiders"} {
		_, query, _ := strings.Cut(client(t, id).Link(s), "?")
		if text, err := url.PathUnescape(query); err != nil || text != `{"name":"vaultwicket","command":"/usr/local/bin/vaultwicket","args":["serve","--vault","/home/me/Ä & B+C #1","--allow-mutations=false"]}` {
			t.Errorf("%s: the link carries %s, %v", id, text, err)
		}
	}
	link, err := url.Parse(client(t, "cursor").Link(s))
	if err != nil || link.Scheme != "cursor" || link.Query().Get("name") != "vaultwicket" || !strings.HasPrefix(link.Query().Get("config"), "eyJjb21tYW5kIjoi") {
		t.Errorf("the link of Cursor is %v, %v", link, err)
	}
	link, err = url.Parse(client(t, "goose").Link(s))
	assert.That(t, err == nil && strings.Join(link.Query()["arg"], " ") == strings.Join(s.Args, " "), "the link of Goose is %v, %v", link, err)
}
