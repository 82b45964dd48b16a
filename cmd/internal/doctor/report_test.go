package doctor

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A report that is sent to others has the names of checks, and none of a folder, a note, a vault or a client.
func TestAReportToSendHasNoNames(t *testing.T) {
	for i, fault := range faults {
		p := healthy(t)
		fault.put(p)
		r := Check(t.Context(), p.Machine)
		var said strings.Builder
		require.NoError(t, r.PrintAnonymous(&said, p.Machine))
		assert.That(t, strings.Contains(said.String(), " "+fault.finding), "%d: %s is missing in\n%s", i, fault.finding, said.String())
		for _, name := range []string{p.root, filepath.Base(p.root), p.vault, "Notes", "Daily", "Secret", "Journal", "cursor", "Cursor", "Claude"} {
			assert.That(t, !strings.Contains(said.String(), name), "%d: %q is in\n%s", i, name, said.String())
		}
		for _, f := range r.Findings {
			isThere := f.Why != "" && strings.Contains(said.String(), f.Why)
			assert.That(t, !isThere, "%d: a sentence is in\n%s", i, said.String())
			assert.That(t, !strings.Contains(said.String(), f.What), "%d: a sentence is in\n%s", i, said.String())
		}
	}
}

func TestAReportToSend(t *testing.T) {
	r := &Report{}
	r.ok("vault", "the vault /home/me/Notes")
	r.ok("client", "Cursor")
	r.ok("client", "Codex")
	r.problem("vault-missing", "/home/me/Gone", "it matters", "mend it")
	m := Machine{OS: "windows", Version: "0.1.0", State: filepath.Join("/home", "me", ".vaultwicket"), Getenv: func(name string) string {
		return map[string]string{"USERPROFILE": filepath.Join("/home", "me")}[name]
	}}
	var said strings.Builder
	require.NoError(t, r.PrintAnonymous(&said, m))
	want := "vaultwicket 0.1.0, windows/" + runtime.GOARCH + "\nstate folder: in the profile, 0 others\nserved: 0 vaults; listed by the app: 0 vaults\n" +
		"ok       vault\nok       client (2)\nPROBLEM  vault-missing\n1 problem, 0 warnings\n"
	assert.Equal(t, said.String(), want)
}
