package clients

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/textedit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// contents are files of a format, around the key that servers are below.
func contents(c Client) map[string]*string {
	top, inner := c.place[0], c.place[1:]
	open, shut := "", ""
	for _, key := range inner {
		open += `{"` + key + `": `
		shut += "}"
	}
	texts := map[string]string{"an empty file": "", "a line end": "\n"}
	switch c.format {
	case tomlFormat:
		texts["settings"] = "model = \"x\" # comment\r\n\r\n[a]\r\nb = 'c'\r\n"
		texts["servers"] = "# one\n[" + top + ".other]\ncommand = \"x\"\nargs = [\n\t\"y\", # tab\n]\n\n# two\n[z]\n"
		texts["no last line end"] = textedit.BOM + "[" + top + ".other]\ncommand = \"x\""
	case yamlFormat:
		item := "  other:\n    type: stdio\n"
		if c.list {
			item = "  - name: other\n    type: stdio\n"
		}
		texts["settings"] = "a: b # comment\r\nc:\r\n  - d\r\n"
		texts["servers"] = "# one\n" + top + ":\n  # two\n" + item + "\n# three\nz: 1\n"
		texts["servers at the end"] = textedit.BOM + "z: 1\n" + top + ":\n" + strings.TrimSuffix(item, "\n")
		texts["an empty value"] = top + ":   # none yet\nz: 1\n"
		texts["empty brackets"] = top + ": " + map[bool]string{true: "[]", false: "{}"}[c.list] + " # none yet"
	default:
		texts["an empty object"] = "{}"
		texts["an object with a line"] = "{\n}\n"
		texts["no servers"] = "{\n\t\"theme\": \"dark\"\n}\n"
		texts["empty servers"] = "{\"" + top + "\": " + open + "{}" + shut + "}\n"
		texts["servers with a line"] = "{\n  \"" + top + "\": " + open + "{\n\n  }" + shut + "\n}\n"
		texts["servers"] = textedit.BOM + "{\r\n    \"" + top + "\": " + open +
			"{\r\n        \"other\": {\"command\": \"x\", \"n\": 1.50}\r\n    }" + shut + ",\r\n    \"z\": [ ]\r\n}"
		texts["one line"] = `{"a":1,"` + top + `":` + open + `{"other":{"command":"x"}}` + shut + `}`
		if c.format != strictJSON {
			texts["comments"] = "// one\n{\n  // two\n  \"" + top + "\": " + open +
				"{ // three\n    \"other\": {} // four\n    /* five */\n  }" + shut + " // six\n}\n// seven\n"
			texts["only a comment"] = "// nothing\n"
		}
		if c.format == relaxedJSON {
			texts["trailing commas"] = "{\n  \"a\": [1, 2,],\n  \"" + top + "\": " + open + "{\n    \"other\": {\"command\": \"x\",},\n  }" + shut + ",\n}\n"
		}
	}
	all := map[string]*string{"no file": nil}
	for name, text := range texts {
		all[name] = &text
	}
	return all
}

func TestInstallAndUninstall(t *testing.T) {
	written := 0
	for _, c := range All() {
		for _, scope := range []Scope{User, Project} {
			systems := []string{"linux", "darwin"}
			if runtime.GOOS == "windows" {
				systems = []string{"windows"}
			}
			for _, system := range systems {
				if _, ok := c.Writes(scope); !ok || !c.on(system) {
					continue
				}
				written++
				m := newMachine(t, system)
				name := m.System.File(c, scope)
				for label, content := range contents(c) {
					if (system == "darwin" || testing.Short()) && label != "servers" && label != "no file" {
						continue // only the place of the file differs
					}
					write(t, name, content)
					installAndUninstall(t, m, c, scope, name, system+", "+string(scope)+", "+label)
				}
			}
		}
	}
	assert.That(t, written >= 16, "%d pairs of client and scope are written, want more", written)
}

func installAndUninstall(t *testing.T, m machine, c Client, scope Scope, name, label string) {
	t.Helper()
	before := read(t, name)
	assert.That(t, m.uninstall(t, c, scope, "vaultwicket").None(), "%s, %s: there is something to uninstall", c.ID, label)
	m.install(t, c, scope, server("vaultwicket"))
	first := read(t, name)
	if change := m.install(t, c, scope, server("vaultwicket")); !change.None() || !same(read(t, name), first) {
		t.Errorf("%s, %s: a second time changes\n%s", c.ID, label, change.Diff())
	}
	// Another vault, changes for the first one, and away in either order.
	m.install(t, c, scope, server("vaultwicket-work"))
	edits := server("vaultwicket")
	edits.Args = Args("/home/me/Notes", true, "")
	m.install(t, c, scope, edits)
	order := []string{"vaultwicket", "vaultwicket-work"}
	if len(label)%2 == 0 {
		slices.Reverse(order)
	}
	for _, entry := range order {
		m.uninstall(t, c, scope, entry)
	}
	after := read(t, name)
	assert.That(t, same(before, after), "%s, %s: after install and uninstall it is\n%s\nwant\n%s", c.ID, label, show(after), show(before))
}

// forbidden are the settings by which clients allow tools without asking.
var forbidden = []string{"autoApprove", "alwaysAllow", "trust", "approval", "permission", "sandboxEnabled",
	"enableAllProjectMcpServers", "enabledMcpjsonServers", "required", "GOOSE_MODE"}

func TestNoEntryApprovesByItself(t *testing.T) {
	for _, c := range All() {
		for _, s := range []Server{server("vaultwicket"), {Name: "vaultwicket", URL: "http://127.0.0.1:8765/mcp", Token: "T"}} {
			text, err := c.Snippet(s)
			if err != nil {
				continue
			}
			for _, word := range forbidden {
				assert.That(t, !strings.Contains(text, word), "%s has %s in\n%s", c.ID, word, text)
			}
			if s.URL == "" && (!strings.Contains(text, "--allow-mutations=false") || !strings.Contains(text, `/usr/local/bin/vaultwicket`)) {
				t.Errorf("%s: the entry is not read-only or has no absolute path:\n%s", c.ID, text)
			}
		}
	}
}

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
	testenv.GoldenFile(t, "testdata/entries.txt", b.String())
}

func TestPlaces(t *testing.T) {
	var b strings.Builder
	for _, s := range []System{
		{OS: "linux", Project: "/p", Getenv: environ("HOME=/home/me")},
		{OS: "linux", Project: "/p",
			Getenv: environ("HOME=/home/me", "XDG_CONFIG_HOME=/x", "CODEX_HOME=/c", "CLAUDE_CONFIG_DIR=/d",
				"COPILOT_HOME=/o", "CLINE_DIR=/l")},
		{OS: "darwin", Project: "/p", Getenv: environ("HOME=/Users/me", "XDG_CONFIG_HOME=/x")},
		{OS: "windows", Project: `C:\p`,
			Getenv: environ(`USERPROFILE=C:\Users\me`, `APPDATA=C:\Users\me\AppData\Roaming`,
				`LOCALAPPDATA=C:\Users\me\AppData\Local`)},
		{OS: "linux", Project: "", Getenv: environ()},
	} {
		fmt.Fprintf(&b, "-- %s %s --\n", s.OS, s.Getenv(""))
		for _, c := range All() {
			if c.on(s.OS) {
				fmt.Fprintf(&b, "%s: %s | %s\n", c.ID, s.File(c, User), s.File(c, Project))
			}
		}
	}
	testenv.GoldenFile(t, "testdata/places.txt", b.String())
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
		if text, err := url.PathUnescape(query); err != nil ||
			text != `{"name":"vaultwicket","command":"/usr/local/bin/vaultwicket","args":["serve","--vault","/home/me/Ä & B+C #1","--allow-mutations=false"]}` {
			t.Errorf("%s: the link carries %s, %v", id, text, err)
		}
	}
	link, err := url.Parse(client(t, "cursor").Link(s))
	if err != nil || link.Scheme != "cursor" || link.Query().Get("name") != "vaultwicket" ||
		!strings.HasPrefix(link.Query().Get("config"), "eyJjb21tYW5kIjoi") {
		t.Errorf("the link of Cursor is %v, %v", link, err)
	}
	link, err = url.Parse(client(t, "goose").Link(s))
	require.Equal(t, err, nil, "the link of Goose is %v", link)
	assert.Equal(t, strings.Join(link.Query()["arg"], " "), strings.Join(s.Args, " "), "the link of Goose is %v", link)
}

// machine is a home and a project in temporary folders.
type machine struct {
	Installer
	home string
}

func newMachine(t *testing.T, system string) machine {
	t.Helper()
	root := require.Value(filepath.EvalSymlinks(t.TempDir()))(t)
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
	_, err = change.Write(context.Background())
	require.That(t, err == nil, "%s: write: %v", c.ID, err)
	return change
}

func (m machine) uninstall(t *testing.T, c Client, scope Scope, name string) *Change {
	t.Helper()
	change, err := m.Uninstall(c, scope, name)
	require.That(t, err == nil, "%s: uninstall: %v", c.ID, err)
	_, err = change.Write(context.Background())
	require.That(t, err == nil, "%s: write: %v", c.ID, err)
	return change
}
