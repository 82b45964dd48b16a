package vault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/policy/access"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// A note with a second name in a hidden folder, or outside the vault, is in no
// answer of any command while the rules or the ignore file hide something, and no
// command changes it.
func TestNoCommandReachesAHardLinkWhereSomethingIsHidden(t *testing.T) {
	hiders := map[string]func(h *testVault){
		"rules": func(h *testVault) {
			h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "Private": "none"}).String()
		},
		"the ignore file": func(h *testVault) { h.put(".vaultwicketignore", "Private/\n") },
	}
	for name, hide := range hiders {
		t.Run(name, func(t *testing.T) {
			for i, row := range table() {
				if byRules := name == "rules"; testing.Short() && (i%2 == 0) != byRules {
					continue // each command meets one of them
				}
				h, paths := hardLinked3(t)
				hide(h)
				before := everything(t, h.dir)
				for _, path := range paths {
					for _, call := range callsOn(row, path) {
						status, stdout, stderr := h.run(call...)
						assert.That(t, !strings.Contains(stdout+stderr, canary), "%q shows what is hidden: %d, %q %q", call, status, stdout, stderr)
					}
				}
				after := everything(t, h.dir)
				for path, text := range before {
					if strings.Contains(text, canary) && after[path] != text {
						t.Errorf("%s: %s became %q", row.Name, path, after[path])
					}
				}
			}
		})
	}
}

// hardLinked3 returns a vault with two notes that have further names.
func hardLinked3(t *testing.T) (h *testVault, paths []string) {
	t.Helper()
	h = build(t, map[string]string{
		"A/plain.md": "See [[inside]] and #tag.\n", "T/t.md": "text\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
		"Private/secret.md": "---\n" + canary + "1: " + canary + "2\n---\n# " + canary + "3\n#" + canary + "4 [[" + canary + "5]]\n- [ ] " + canary + "6\n",
	})
	outside := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(outside, []byte("# "+canary+"7\n- [ ] "+canary+"8\n"), 0o600))
	for path, from := range map[string]string{"A/inside.md": h.file("Private/secret.md"), "A/outside.md": outside} {
		if err := os.Link(from, h.file(path)); err != nil {
			t.Skip("no hard links here: ", err)
		}
		paths = append(paths, path)
	}
	return h, paths
}

// everything returns the texts of all files below a folder by path.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	require.NoError(t, err)
	return files
}

// callsOn are the calls of a command that concern the note at path: by its path,
// by its name, and on the whole vault. What else is required gets a value that
// suits most parameters.
func callsOn(row command.Command, path string) (calls [][]string) {
	values := map[string]string{
		"content": "added", "query": "zq", "name": "made", "to": "B/moved.md", "template": "t", "property": "x", "value": "1", "old": "zq", "new": "n",
		"section": "x", "heading": "x", "line": "1", "limit": "9", "task": "1", "status": "x", "ref": path + ":1", "tag": "tag", "type": "text",
	}
	takes := map[string]bool{}
	base := []string{row.Name}
	for _, p := range paramsOf(row) {
		takes[p.Name] = true
		if p.Required && p.Name != "path" && p.Name != "file" {
			value, ok := values[p.Name]
			if !ok && len(p.Choices) > 0 {
				value = p.Choices[0]
			}
			base = append(base, p.Name+"="+value)
		}
	}
	with := func(more ...string) { calls = append(calls, append(append([]string(nil), base...), more...)) }
	with()
	if takes["path"] {
		with("path=" + path)
		if row.Plan != nil {
			calls = append(calls, append([]string{command.PlanSwitch}, append(append([]string(nil), base...), "path="+path)...))
		}
		if takes["overwrite"] {
			with("path="+path, "overwrite")
		}
		if takes["permanent"] {
			with("path="+path, "permanent")
		}
		if takes["template"] {
			with("path=B/new.md", "template="+strings.TrimSuffix(path, ".md"))
		}
	}
	if takes["file"] {
		with("file=" + path)
		with("file=" + strings.TrimSuffix(filepath.Base(path), ".md"))
	}
	if takes["folder"] {
		with("folder=A")
	}
	return calls
}

// What is said of such a note by its path is why, and what is done where nothing
// is hidden is what is done with every note.
func TestWhatIsSaidOfAHardLink(t *testing.T) {
	const denied = "Error: Access denied: \"A/inside.md\" has more than one hard link, and a part of this vault is hidden.\n"
	h, _ := hardLinked3(t)
	h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "Private": "none"}).String()
	for _, args := range []string{
		"read path=A/inside.md", "append path=A/inside.md content=x", "delete path=A/inside.md", "move path=A/inside.md to=B/x.md", "rename path=A/inside.md name=x",
		"wordcount path=A/inside.md", "file path=A/inside.md", "outline path=A/inside.md", "create path=A/inside.md content=x overwrite",
	} {
		h.expect(command.ExitFailed, denied, strings.Fields(args)...)
	}
	h.expect(command.ExitFailed, "Error: File \"Private/secret.md\" not found.\n", "read", "path=Private/secret.md")
	h.expect(command.ExitDone, "A/plain.md\nT/t.md\n", "files")
	h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": access.Read.String(), "A": "rw"}).String()
	if status, stdout, _ := h.run("read", "path=A/inside.md"); status != command.ExitDone || !strings.Contains(stdout, canary) {
		t.Errorf("where nothing is hidden: %d, %q", status, stdout)
	}
}
