package vault_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A note with a second name in a hidden folder, or outside the vault, is in no
// answer of any command while the rules or the ignore file hide something, and no
// command changes it.
func TestNoCommandReachesAHardLinkWhereSomethingIsHidden(t *testing.T) {
	hiders := map[string]func(h *embedded.Vault){
		"rules": func(h *embedded.Vault) {
			h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "Private": "none"}).String()
		},
		"the ignore file": func(h *embedded.Vault) { h.Put(".vaultwicketignore", "Private/\n") },
	}
	for name, hide := range hiders {
		t.Run(name, func(t *testing.T) {
			for i, row := range vault.Table() {
				if byRules := name == "rules"; testing.Short() && (i%2 == 0) != byRules {
					continue // each command meets one of them
				}
				h, paths := hardLinked3(t)
				hide(h)
				before := h.Texts(true)
				for _, path := range paths {
					for _, call := range callsOn(row, path) {
						status, stdout, stderr := h.Run(call...)
						assert.That(t, !strings.Contains(stdout+stderr, canary), "%q shows what is hidden: %d, %q %q", call, status, stdout, stderr)
					}
				}
				after := h.Texts(true)
				for path, text := range before {
					assert.That(t, !strings.Contains(text, canary) || after[path] == text, "%s: %s became %q", row.Name, path, after[path])
				}
			}
		})
	}
}

// hardLinked3 returns a vault with two notes that have further names.
func hardLinked3(t *testing.T) (h *embedded.Vault, paths []string) {
	t.Helper()
	h = embedded.New(t, map[string]string{
		"A/plain.md": "See [[inside]] and #tag.\n", "T/t.md": "text\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
		"Private/secret.md": "---\n" + canary + "1: " + canary + "2\n---\n# " + canary + "3\n#" + canary + "4 [[" + canary + "5]]\n- [ ] " + canary + "6\n",
	})
	outside := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(outside, []byte("# "+canary+"7\n- [ ] "+canary+"8\n"), 0o600))
	for path, from := range map[string]string{"A/inside.md": h.File("Private/secret.md"), "A/outside.md": outside} {
		if err := os.Link(from, h.File(path)); err != nil {
			t.Skip("no hard links here: ", err)
		}
		paths = append(paths, path)
	}
	return h, paths
}

// callsOn are the calls of a command that concern the note at path: by its path,
// by its name, and on the whole vault. What else is required gets a value that
// suits most parameters.
func callsOn(row handlers.Command, path string) (calls [][]string) {
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
			calls = append(calls, append([]string{call.PlanSwitch}, append(append([]string(nil), base...), "path="+path)...))
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
	h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "Private": "none"}).String()
	for _, args := range []string{
		"read path=A/inside.md", "append path=A/inside.md content=x", "delete path=A/inside.md", "move path=A/inside.md to=B/x.md", "rename path=A/inside.md name=x",
		"wordcount path=A/inside.md", "file path=A/inside.md", "outline path=A/inside.md", "create path=A/inside.md content=x overwrite",
	} {
		h.Expect(answer.ExitFailed, denied, strings.Fields(args)...)
	}
	h.Expect(answer.ExitFailed, "Error: File \"Private/secret.md\" not found.\n", "read", "path=Private/secret.md")
	h.Expect(answer.ExitDone, "A/plain.md\nT/t.md\n", "files")
	h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": access.Read.String(), "A": "rw"}).String()
	status, stdout, _ := h.Run("read", "path=A/inside.md")
	assert.Equal(t, status, answer.ExitDone, "where nothing is hidden")
	assert.Contains(t, stdout, canary, "where nothing is hidden")
}

// Whatever a command does with a note, a folder that is exchanged for a link at
// any moment leads it neither to a hidden note nor to one that may only be read.
func TestNoCommandFollowsAFolderThatBecameALink(t *testing.T) {
	if err := os.Symlink("x", filepath.Join(t.TempDir(), "link")); err != nil {
		t.Skip(err)
	}
	files := map[string]string{
		"A/sub/n.md": "same", "A/other.md": "same", "A/sub/gone.md": "same",
		"Private/n.md": "same", "Private/gone.md": "same", "Kept/n.md": "same", "Kept/gone.md": "same",
	}
	for name, words := range map[string]string{
		"move out": "move path=A/sub/n.md to=moved.md", "move in": "move path=A/other.md to=A/sub/moved.md", "rename": "rename path=A/sub/n.md name=m",
		"rename, the case": "rename path=A/sub/n.md name=N", "delete": "delete path=A/sub/n.md", "delete permanent": "delete path=A/sub/n.md permanent",
		"undo from the trash": "undo", "append": "append path=A/sub/n.md content=x", "create": "create path=A/sub/new.md content=x",
		"overwrite": "create path=A/sub/n.md content=x overwrite", "property": "property:set path=A/sub/n.md name=k value=v",
	} {
		for _, target := range []string{"Private", "Kept"} {
			moments := 0
			for n := 1; n <= moments+1; n++ {
				h := embedded.New(t, files)
				h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "Private": "none", "Kept": "r"}).String()
				if words == "undo" {
					h.Expect(answer.ExitDone, "Moved to trash: A/sub/gone.md\n", "delete", "path=A/sub/gone.md")
				}
				said, calls := exchanging(h, n, target, strings.Fields(words))
				moments = max(moments, calls)
				for _, folder := range []string{"Private", "Kept"} {
					want := map[string]string{"n.md": "same", "gone.md": "same"}
					got := embedded.TextsIn(t, h.File(folder), true)
					assert.That(t, maps.Equal(got, want), "%s, exchanged before call %d: %q, and %s contains %q", name, n, said.Text(), folder, got)
				}
			}
			assert.That(t, moments != 0, "%s changed nothing", name)
		}
	}
}

// exchanging carries out a command and puts a link to target in the place of the
// folder A/sub before the n-th call that changes the disk. It returns how many
// such calls were made.
func exchanging(h *embedded.Vault, n int, target string, words []string) (said answer.Reply, calls int) {
	h.T.Helper()
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(h.T)
	v.Disk.Interpose(func(string) error {
		if calls++; calls == n {
			if err := os.Rename(h.File("A/sub"), h.File("A/away")); err != nil {
				return err
			}
			return os.Symlink(filepath.Join("..", target), h.File("A/sub"))
		}
		return nil
	})
	return vault.Respond(v, protocol.Request{Command: words[0], Args: words[1:], Write: protocol.Write{Allowed: true}}, nil), calls
}
