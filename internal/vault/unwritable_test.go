package vault_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
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
				assert.Equal(t, said.Kind.Code, protocol.CodeVaultUnwritable, "%v at call %d of %q: %s", cause, n, words, said.Text())
				isNamed := strings.Contains(said.Text(), "cannot be written")
				assert.That(t, isNamed, "%v at call %d of %q: %s", cause, n, words, said.Text())
				isAbsolute := strings.Contains(said.Text(), h.Dir)
				assert.That(t, !isAbsolute, "%v at call %d of %q: %s", cause, n, words, said.Text())
				isTemporary := strings.Contains(said.Text(), ".vaultwicket")
				assert.That(t, !isTemporary, "%v at call %d of %q: %s", cause, n, words, said.Text())
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
		assert.Equal(t, answer.Explain(answer.VaultError(test.err)).Text(), test.want, "%s", name)
	}
}

// A disk that begins to fail in the middle of a change and stays so: the answer is true of what is on it, whether or not it
// can still be read, names no file of the machine, and once the disk is well the next call takes back what is left.
func TestADiskThatFailsForGoodIsToldAsItIs(t *testing.T) {
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO} {
		for _, readsFail := range []bool{false, true} {
			for _, words := range changesOnADisk {
				whole := unreadVault(t)
				whole.Run(append([]string{call.WriteSwitch}, words...)...)
				done := visibleTexts(whole)
				kinds := map[string]int{}
				for n, isDead := 1, true; isDead; n++ {
					h := unreadVault(t)
					before := visibleTexts(h)
					said, calls := respondOnDyingDisk(h, words, n, cause, readsFail)
					isDead = calls >= n
					now := visibleTexts(h)
					h.Run(call.WriteSwitch, "create", "path=Next.md") // whoever comes next finishes what was begun
					require.NoError(t, os.Remove(h.File("Next.md")))
					healed := visibleTexts(h)
					when := fmt.Sprintf("%v from call %d of %q on, reads fail %v: %s", cause, n, words, readsFail, said.Text())
					isAbsolute := strings.Contains(said.Text(), h.Dir)
					assert.That(t, !isAbsolute, "%s", when)
					isTemporary := strings.Contains(said.Text(), ".vaultwicket")
					assert.That(t, !isTemporary, "%s", when)
					kinds[said.Kind.Code]++
					switch said.Kind.Code {
					case "":
						assert.That(t, maps.Equal(now, done), "%s: there is %v", when, now)
						assert.That(t, maps.Equal(healed, done), "%s: healed, there is %v", when, healed)
					case protocol.CodeVaultUnwritable:
						for _, path := range said.Part.Made {
							assert.Equal(t, now[path], done[path], "%s: %s", when, path)
						}
						for _, path := range said.Part.Unmade {
							assert.Equal(t, now[path], before[path], "%s: %s", when, path)
						}
						isUntouched := maps.Equal(now, before)
						assert.That(t, isUntouched || len(said.Part.Made) > 0, "%s: there is %v", when, now)
						assert.That(t, maps.Equal(healed, before), "%s: healed, there is %v", when, healed)
					case protocol.CodeOutcomeUnknown:
						isWhole := maps.Equal(healed, before) || maps.Equal(healed, done)
						assert.That(t, isWhole, "%s: healed, there is %v", when, healed)
						assert.That(t, readsFail, "%s: the disk can be read", when)
					case protocol.CodeVaultUnreadable:
						assert.That(t, readsFail, "%s: the disk can be read", when)
						assert.That(t, maps.Equal(healed, before), "%s: healed, there is %v", when, healed)
					default:
						t.Errorf("%s: the code is %s", when, said.Kind.Code)
					}
				}
				t.Logf("%v, reads fail %v, %q: %v", cause, readsFail, words, kinds)
			}
		}
	}
}

// visibleTexts are the texts of the visible files of a vault.
func visibleTexts(h *embedded.Vault) map[string]string {
	all := h.Texts(false)
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasPrefix(path, ".") || strings.Contains(path, "/.") })
	return all
}

// respondOnDyingDisk carries out a change on a disk of which all calls fail that change it from the n-th on, and with
// readsFail all that look at it, too. It returns how many changing calls there were.
func respondOnDyingDisk(h *embedded.Vault, words []string, n int, cause error, readsFail bool) (said answer.Reply, calls int) {
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(h.T)
	var isDead atomic.Bool
	v.Disk.InterposeReads(func(method, name string) error {
		if !readsFail || !isDead.Load() {
			return nil
		}
		return &os.PathError{Op: method, Path: name, Err: cause}
	})
	v.Disk.Interpose(func(method string) error {
		if calls++; calls < n {
			return nil
		}
		isDead.Store(true)
		return &os.PathError{Op: method, Path: h.File(".vaultwicket-1.tmp"), Err: cause}
	})
	request := protocol.Request{Command: words[0], Args: words[1:], Write: protocol.Write{Allowed: true}}
	return vault.Respond(v, request, nil), calls
}
