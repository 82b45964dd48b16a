package change_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A change of six notes ends with its process, before one of its files is exchanged. Whoever opens the vault next completes
// it if its commit had begun and all new texts are there. Otherwise no further note becomes a new one on the way back.
func TestWhatIsBrokenOffGoesOneWay(t *testing.T) {
	const notes = 6
	for _, c := range []struct {
		name      string
		made      int  // notes with the new text when the process ends
		unstaged  bool // a new text is not there
		exchanges int  // of what comes next
		text      string
	}{
		{name: "before the commit", made: 0, exchanges: 0, text: "is x\n"},
		{name: "before the commit, a text missing", made: 0, unstaged: true, exchanges: 0, text: "is x\n"},
		{name: "within the commit", made: 1, exchanges: 5, text: "is y\n"},
		{name: "within the commit, a text missing", made: 1, unstaged: true, exchanges: 1, text: "is x\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{}
			for i := range notes {
				files[fmt.Sprintf("n%d.md", i)] = "is x\n"
			}
			h := embedded.New(t, files)
			breakOffAtExchange(t, h)
			steps := begunSteps(t, h)
			require.Equal(t, len(steps), notes)
			for _, step := range steps[:c.made] {
				exchange(t, h.File(step.Path), h.File(step.Draft))
			}
			if c.unstaged {
				require.NoError(t, os.Remove(h.File(steps[notes-1].Draft)))
			}

			next := h.Host()
			defer next.Close()
			v := require.Value(next.Open(context.Background(), h.Dir, protocol.Request{}))(t)
			exchanges := 0
			v.Disk.Interpose(func(method string) error {
				if method == "Exchange" {
					exchanges++
				}
				return nil
			})
			notice := change.RecoverBefore(v)
			assert.Equal(t, notice.String(), "")
			assert.Equal(t, exchanges, c.exchanges)
			for name := range files {
				assert.Equal(t, h.Get(name), c.text, name)
			}
			left := require.Value(filepath.Glob(filepath.Join(h.Dir, ".vaultwicket-*")))(t)
			assert.Equal(t, len(left), 0, "%v", left)
		})
	}
}

// breakOffAtExchange has a change of all notes end with its process before its first exchange of two files.
func breakOffAtExchange(t *testing.T, h *embedded.Vault) {
	t.Helper()
	at := h.Host()
	defer at.Close()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(t)
	v.Disk.Interpose(func(method string) error {
		if method == "Exchange" {
			runtime.Goexit()
		}
		return nil
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		request := protocol.Request{
			Command: "vault:replace",
			Args:    []string{"old=x", "new=y"},
			Write:   protocol.Write{Allowed: true},
		}
		vault.Respond(v, request, nil)
	}()
	<-ended
}

// begunSteps returns the steps of the newest change, which was not ended.
func begunSteps(t *testing.T, h *embedded.Vault) []journal.Step {
	t.Helper()
	entries, _, err := h.Journal().Entries(context.Background(), journal.Filter{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, len(entries), 1)
	require.Equal(t, entries[0].State, journal.Begun)
	return entries[0].Steps
}

// exchange gives two files the names of each other.
func exchange(t *testing.T, one, other string) {
	t.Helper()
	between := one + ".between"
	require.NoError(t, os.Rename(one, between))
	require.NoError(t, os.Rename(other, one))
	require.NoError(t, os.Rename(between, other))
}
