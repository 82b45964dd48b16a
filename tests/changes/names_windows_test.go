package changes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Names that Windows reserves, or that lead to something else there: none of them becomes a note, nor does one lead to a note
// that has another name.
func TestNamesThatWindowsReserves(t *testing.T) {
	dir := t.TempDir()
	vault := filepath.Join(dir, "Vault")
	harness.WriteFile(t, filepath.Join(vault, "Note.md"), []byte("# Note\r\nline\r\n"))
	harness.WriteFile(t, filepath.Join(vault, "Long folder name", "Other.md"), []byte("other\n"))
	server := serve(t, vault, filepath.Join(dir, "state"))
	ask := func(command string, params map[string]string) string {
		said, err := server.Ask(map[string]any{"command": command, "params": params})
		require.NoError(t, err)
		return harness.CodeOf(said)
	}
	reserved := []string{
		"CON.md", "con.md", "NUL.md", "nul.txt.md", "COM1.md", "LPT9.md", "COM¹.md", "CONIN$.md", "AUX .md", "PRN/a.md", "a/NUL/b.md",
		"a.", "a .", "a ", "a.md.", "a.md ", "dots../b.md", "blank /b.md",
		"a:b.md", "a.md:stream", "a.md::$DATA", "C:a.md", `C:\a.md`, `\\server\share\a.md`, `\\?\C:\a.md`, `\\.\pipe\a`, `sub\a.md`,
		"/a.md", "../a.md", "a?.md", "a*.md", `a".md`, "a<b.md", "a|b.md", "a\tb.md",
	}
	for _, name := range reserved {
		for what, code := range map[string]string{
			"create": ask("create", map[string]string{"path": name, "content": "x"}),
			"move":   ask("move", map[string]string{"path": "Note.md", "to": name}),
		} {
			assert.That(t, code == "bad_value" || code == "not_found" || code == "access_denied", "%s to %q: %q", what, name, code)
		}
		if stem := strings.TrimSuffix(name, ".md"); stem != name && !strings.ContainsAny(stem, `/\`) {
			code := ask("rename", map[string]string{"path": "Note.md", "name": stem})
			assert.That(t, code != "", "rename to %q is done", stem)
		}
	}
	// A note by another name than its own.
	for _, name := range []string{"Note.md.", "Note.md ", "Note.md::$DATA", "./Note.md", "LONGFO~1/Other.md", `Long folder name\Other.md`} {
		code := ask("read", map[string]string{"path": name})
		assert.That(t, code != "", "%q is read", name)
	}
	var names []string
	require.NoError(t, filepath.WalkDir(vault, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, filepath.ToSlash(strings.TrimPrefix(path, vault)))
		}
		return err
	}))
	assert.EqualSlices(t, names, []string{"/Long folder name/Other.md", "/Note.md"})
	text := string(require.Value(os.ReadFile(filepath.Join(vault, "Note.md")))(t))
	assert.Equal(t, text, "# Note\r\nline\r\n")
}

// A path in the vault may be longer than the 260 characters that older programs of Windows take.
func TestPathsThatAreLong(t *testing.T) {
	dir := t.TempDir()
	vault := filepath.Join(dir, "Vault")
	harness.WriteFile(t, filepath.Join(vault, "Note.md"), []byte("see [[Deep]]\n"))
	server := serve(t, vault, filepath.Join(dir, "state"))
	folder := strings.Repeat(strings.Repeat("f", 60)+"/", 6)
	do := func(command string, params map[string]string) string {
		said, err := server.Ask(map[string]any{"command": command, "params": params})
		require.NoError(t, err)
		require.That(t, said.OK, "%s %v: %+v", command, params, said.Error)
		return strings.TrimSuffix(said.Stdout, "\n")
	}
	do("create", map[string]string{"path": folder + "Deep.md", "content": "one"})
	do("append", map[string]string{"path": folder + "Deep.md", "content": "two"})
	assert.Equal(t, do("read", map[string]string{"path": folder + "Deep.md"}), "one\ntwo")
	assert.That(t, strings.Contains(do("search", map[string]string{"query": "two"}), "Deep.md"), "a search does not find it")
	do("move", map[string]string{"path": folder + "Deep.md", "to": folder + "Deeper.md"})
	assert.Equal(t, do("read", map[string]string{"path": "Note.md"}), "see [[Deeper]]")
	do("delete", map[string]string{"path": folder + "Deeper.md"})
	do("undo", map[string]string{})
	assert.Equal(t, do("read", map[string]string{"path": folder + "Deeper.md"}), "one\ntwo")
}
