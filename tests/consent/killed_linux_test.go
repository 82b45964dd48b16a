package consent

import (
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A process that is killed while it leaves a proposal has left all of it or none, and the next one of the agent can leave
// the same; the vault is as it was.
func TestAProcessKilledWhileItProposes(t *testing.T) {
	t.Parallel()
	for _, seen := range []string{"", "folder", "lock", "body", "head"} { // what is on the disk when it is killed
		t.Run(fmt.Sprintf("%q is there", seen), func(t *testing.T) {
			r := newProposalProgram(t)
			var operations []string
			for i := range 20 {
				operations = append(operations, fmt.Sprintf(`{"clientId": "o%d", "command": "create", "params": {"path": "Projects/k%d.md", "content": %q}}`,
					i, i, strings.Repeat("text\n", 50)))
			}
			file := fileOf(t, `{"operations": [`+strings.Join(operations, ",")+`]}`)
			r.Save()
			folder := filepath.Join(r.Home, ".local", "state", "vaultwicket", "proposals")
			c := osexec.Command(harness.Binary, "batch", "--agent", "nightly", "--propose", file)
			c.Env = []string{"HOME=" + r.Home, "PATH="}
			require.NoError(t, c.Start())
			ended := make(chan struct{})
			go func() {
				_ = c.Wait() // it may have been killed
				close(ended)
			}()
			wanted := map[string]int{"": -1, "folder": 0, "lock": 1, "body": 2, "head": 3}[seen]
			harness.WaitFor(t, "what is on the disk", func() bool {
				select {
				case <-ended:
					return true // it was faster
				default:
				}
				entries, err := os.ReadDir(folder)
				return wanted < 0 || err == nil && len(entries) >= wanted
			})
			_ = c.Process.Kill() // it may have ended
			<-ended

			var list []struct {
				Code, Proposal string
				Operations     []struct{ Name string }
			}
			waiting := func() int {
				t.Helper()
				list = nil
				require.NoError(t, json.Unmarshal([]byte(r.Must("approvals", "--json")), &list))
				for _, p := range list {
					assert.Equal(t, len(p.Operations), 20, "operations of %s", p.Proposal)
				}
				return len(list)
			}
			left := waiting()
			assert.That(t, left <= 1, "%d proposals wait", left)
			r.Must("batch", "--agent", "nightly", "--propose", file)
			assert.Equal(t, waiting(), left+1, "with the one that was left after it")
			found, err := filepath.Glob(filepath.Join(r.Vault, "Projects", "k*.md"))
			require.NoError(t, err)
			assert.Equal(t, len(found), 0, "files that are made")
			shown, err := typedAt(t, r, "yes\n", "approve", list[0].Code)
			require.That(t, err == nil, "%v\n%s", err, shown[max(0, len(shown)-400):])
			assert.Equal(t, strings.Count(r.Read("Projects/k19.md"), "text\n"), 50, "of the first of them all is made")
		})
	}
}
