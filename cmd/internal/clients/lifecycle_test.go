package clients

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/document"
	"vaultwicket/tests/assert"
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
		texts["no last line end"] = document.BOM + "[" + top + ".other]\ncommand = \"x\""
	case yamlFormat:
		item := "  other:\n    type: stdio\n"
		if c.list {
			item = "  - name: other\n    type: stdio\n"
		}
		texts["settings"] = "a: b # comment\r\nc:\r\n  - d\r\n"
		texts["servers"] = "# one\n" + top + ":\n  # two\n" + item + "\n# three\nz: 1\n"
		texts["servers at the end"] = document.BOM + "z: 1\n" + top + ":\n" + strings.TrimSuffix(item, "\n")
		texts["an empty value"] = top + ":   # none yet\nz: 1\n"
		texts["empty brackets"] = top + ": " + map[bool]string{true: "[]", false: "{}"}[c.list] + " # none yet"
	default:
		texts["an empty object"] = "{}"
		texts["an object with a line"] = "{\n}\n"
		texts["no servers"] = "{\n\t\"theme\": \"dark\"\n}\n"
		texts["empty servers"] = "{\"" + top + "\": " + open + "{}" + shut + "}\n"
		texts["servers with a line"] = "{\n  \"" + top + "\": " + open + "{\n\n  }" + shut + "\n}\n"
		texts["servers"] = document.BOM + "{\r\n    \"" + top + "\": " + open + "{\r\n        \"other\": {\"command\": \"x\", \"n\": 1.50}\r\n    }" + shut + ",\r\n    \"z\": [ ]\r\n}"
		texts["one line"] = `{"a":1,"` + top + `":` + open + `{"other":{"command":"x"}}` + shut + `}`
		if c.format != strictJSON {
			texts["comments"] = "// one\n{\n  // two\n  \"" + top + "\": " + open + "{ // three\n    \"other\": {} // four\n    /* five */\n  }" + shut + " // six\n}\n// seven\n"
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

// TestInstallAndUninstall runs each client that is written on each system in each
// scope on every file of its format.
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
	if after := read(t, name); !same(before, after) {
		t.Errorf("%s, %s: after install and uninstall it is\n%s\nwant\n%s", c.ID, label, show(after), show(before))
	}
}

// forbidden are the settings by which clients allow tools without asking.
var forbidden = []string{"autoApprove", "alwaysAllow", "trust", "approval", "permission", "sandboxEnabled", "enableAllProjectMcpServers", "enabledMcpjsonServers", "required", "GOOSE_MODE"}

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
