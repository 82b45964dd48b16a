package consent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What the version before agents has left is used as it is: its settings file, its journal, whose
// changes can be undone, and its audit log, which stays whole when both have written to it. The
// files were made by the commit before the first one that knows agents: two changes at a terminal
// and a read of a hidden note.
func TestTheFilesOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	r.Write("A.md", "x\n")
	state := filepath.Join(r.Home, ".local", "state", "vaultwicket")
	r.Must("run", "append", "path=A.md", "content=x") // it makes the folders
	journals, err := filepath.Glob(filepath.Join(state, "journal", "*"))
	require.Equal(t, err, nil, "%q", journals)
	require.Equal(t, len(journals), 1, "%q", journals)
	require.NoError(t, os.RemoveAll(state))
	before := filepath.Join("testdata", "before")
	settings := filepath.Join(t.TempDir(), "config.toml")
	for from, to := range map[string]string{
		"audit.jsonl": filepath.Join(state, "audit"), "audit.key": filepath.Join(state, "audit"), "head.json": filepath.Join(state, "audit"),
		"0000000001.lines": journals[0], "config.toml": filepath.Dir(settings),
	} {
		text := require.Value(os.ReadFile(filepath.Join(before, from)))(t)
		require.NoError(t, os.MkdirAll(to, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(to, from), []byte(strings.ReplaceAll(string(text), `"FOLDER"`, harness.JSON(t, r.Vault))), 0o600))
	}
	r.Write("A.md", "one\ntwo\nthree")
	r.Write("B.md", "b")

	say := func(want string, args ...string) {
		t.Helper()
		got := r.Must(append(args, "--config="+settings)...)
		assert.That(t, strings.Contains(got, want), "%q prints\n%s\nwant %q", args, got, want)
	}
	verified := func(entries string) {
		t.Helper()
		got := r.Must("audit", "verify")
		assert.That(t, strings.Contains(got, entries+" entries verified"), "audit verify prints\n%s", got)
	}
	verified("6")
	say("OK", "config", "check")
	say("profile p in "+settings, "config", "show")
	say("append  terminal  A.md", "journal", "list")
	say("terminal", "undo", "list")
	say("Undone", "undo")
	if _, err := os.Stat(filepath.Join(r.Vault, "B.md")); err == nil {
		t.Error("the change of the version before was not undone")
	}
	if got := r.Must("run", "--config="+settings, "history", "path=A.md"); !strings.HasSuffix(got, "\t8\tappend\tterminal\n") {
		t.Errorf("the history is %q", got)
	}
	if got := serverOf(r, "bob").Do(harness.Calling("append", "path=Both/Plan.md", "content=x")); !got.OK {
		t.Errorf("%+v", got.Error)
	}
	verified("10")
	if got := r.Must("audit", "list", "--agent=bob"); !strings.Contains(got, "append") {
		t.Errorf("the audit log has of bob\n%s", got)
	}
	got := r.Must("journal", "list")
	assert.Contains(t, got, `bob ("t")`, "the journal has\n%s", got)
	assert.Equal(t, strings.Count(got, "\n"), 4, "the journal has\n%s", got)
}
