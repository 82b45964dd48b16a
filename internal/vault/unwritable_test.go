package vault_test

import (
	"context"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// changesOnADisk are calls that change one note, make one, remove one, and change several.
var changesOnADisk = [][]string{
	{"append", "path=A.md", "content=more"}, {"create", "path=New/B.md", "content=x"}, {"delete", "path=A.md"},
	{"delete", "path=A.md", "permanent"}, {"rename", "path=Plan.md", "name=Goal"}, {"vault:replace", "old=word", "new=term"},
}

// Whatever a disk says at whichever call, the answer has one code for it, names the note and no other file, and nothing is
// changed once the disk takes changes again.
func TestADiskThatTakesNoChangeIsNamedByItsCode(t *testing.T) {
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.EACCES} {
		for _, words := range changesOnADisk {
			failed := 0
			for n := 1; ; n++ {
				h := unreadVault(t)
				before := h.Texts(true)
				said, calls := respondOnDisk(h, words, n, cause)
				if calls < n {
					break
				}
				if said.Status == answer.ExitDone { // what fails is only tried
					continue
				}
				failed++
				assert.Equal(t, said.Kind.Code, protocol.CodeVaultUnwritable, "%v at call %d of %q: %s", cause, n, words, said.Text)
				isNamed := strings.Contains(said.Text, "cannot be written")
				assert.That(t, isNamed, "%v at call %d of %q: %s", cause, n, words, said.Text)
				isAbsolute := strings.Contains(said.Text, h.Dir)
				assert.That(t, !isAbsolute, "%v at call %d of %q: %s", cause, n, words, said.Text)
				isTemporary := strings.Contains(said.Text, ".vaultwicket")
				assert.That(t, !isTemporary, "%v at call %d of %q: %s", cause, n, words, said.Text)
				h.Run("files") // whoever comes next finishes what was begun
				after := h.Texts(true)
				assert.That(t, maps.Equal(before, after), "%v at call %d of %q: %v became %v", cause, n, words, before, after)
			}
			assert.That(t, failed > 0, "%q fails at no call", words)
		}
	}
}

// respondOnDisk carries out a change on a disk of which the n-th call fails that changes it. It returns how many calls there
// were.
func respondOnDisk(h *embedded.Vault, words []string, n int, cause error) (said answer.Reply, calls int) {
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(h.T)
	v.Disk.Interpose(func(method string) error {
		if calls++; calls != n {
			return nil
		}
		return &os.PathError{Op: method, Path: h.File(".vaultwicket-1.tmp"), Err: cause}
	})
	request := protocol.Request{Command: words[0], Args: words[1:], Write: protocol.Write{Allowed: true}}
	return vault.Respond(v, request, nil), calls
}

func TestAFolderThatCannotBeOpenedIsNotTakenForAMissingOne(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"missing":      {os.ErrNotExist, "Vault not found."},
		"a file":       {&os.PathError{Op: "open", Path: "/x", Err: syscall.ENOTDIR}, "Vault not found."},
		"a fault":      {&os.PathError{Op: "open", Path: "/x", Err: syscall.EIO}, "Error: The folder of the vault cannot be opened: input/output error."},
		"not allowed":  {&os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, "Error: The folder of the vault cannot be opened: permission denied."},
		"without path": {syscall.EIO, "Error: The folder of the vault cannot be opened: input/output error."},
	} {
		assert.Equal(t, answer.Explain(answer.VaultError(test.err)).Text, test.want, "%s", name)
	}
}
