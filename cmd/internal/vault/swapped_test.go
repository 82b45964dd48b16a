package vault

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

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
				h := build(t, files)
				h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": "rwd", "Private": "none", "Kept": "r"}).String()
				if words == "undo" {
					h.expect(command.ExitDone, "Moved to trash: A/sub/gone.md\n", "delete", "path=A/sub/gone.md")
				}
				said, calls := h.exchanging(n, target, strings.Fields(words))
				moments = max(moments, calls)
				for _, folder := range []string{"Private", "Kept"} {
					want := map[string]string{"n.md": "same", "gone.md": "same"}
					got := everything(t, h.file(folder))
					assert.That(t, maps.Equal(got, want), "%s, exchanged before call %d: %q, and %s contains %q", name, n, said.Text, folder, got)
				}
			}
			assert.That(t, moments != 0, "%s changed nothing", name)
		}
	}
}

// exchanging carries out a command and puts a link to target in the place of the
// folder A/sub before the n-th call that changes the disk. It returns how many
// such calls were made.
func (h *testVault) exchanging(n int, target string, words []string) (said command.Reply, calls int) {
	h.t.Helper()
	at := h.host()
	defer at.Close()
	v, err := at.Open(context.Background(), command.Line{Folder: h.dir})
	require.NoError(h.t, err)
	v.Disk.Interpose(func() error {
		if calls++; calls == n {
			if err := os.Rename(h.file("A/sub"), h.file("A/away")); err != nil {
				return err
			}
			return os.Symlink(filepath.Join("..", target), h.file("A/sub"))
		}
		return nil
	})
	return respond(v, command.Request{Command: words[0], Args: words[1:], MayWrite: true}), calls
}
