package exec

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A gateway that is killed outright cannot clean up. The kernel ends the
// client, and our own program even if the kernel did not: it watches a pipe.
func TestChildrenEndWithAKilledGateway(t *testing.T) {
	self := require.Value(os.Executable())(t)
	for _, tt := range []struct{ name, client, do string }{
		{"the client that ignores a request to stop", "obsidian", "ignore"},
		{"our own program", "embedded", "hang"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			client, gateway := filepath.Join(dir, tt.client), filepath.Join(dir, "gateway")
			argv := `["version"]`
			if tt.client == "embedded" {
				argv = `["vault","` + dir + `","--facts","version"]`
			}
			for path, text := range map[string]string{
				client:  `{"Parts":[{"Argv":` + argv + `,"Do":"` + tt.do + `"}]}`,
				gateway: `{"Parts":[{"Argv":["` + client + `"],"Do":"gateway"}]}`,
			} {
				require.NoError(t, os.Symlink(self, path))
				require.NoError(t, os.WriteFile(path+".fake", []byte(text), 0o600))
			}
			parent := osexec.Command(gateway, client)
			require.NoError(t, parent.Start())
			child := marked(t, client)
			_ = parent.Process.Kill()
			_ = parent.Wait()
			within(t, soon, "end of the child", func() bool { return gone(child) })
		})
	}
}

func TestTheLifelineOfAChildHolds(t *testing.T) {
	t.Parallel()
	r, p, path := embeddedRunner(t, Config{Timeout: faultLimit}, script{Parts: []part{{Argv: []string{"--facts", "version"}, Do: "lifeline"}}})
	_, err := r.Run(t.Context(), mustPermit("version", nil), p)
	assert.Equal(t, codeOf(err), CodeTimeout, "%v", err)
	_, err = os.Stat(path + ".ended")
	assert.That(t, err != nil, "the child saw the end of a lifeline that is open")
}
