package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// An entry for a client starts the server for an agent named after the client, whose table is
// added to the settings file, and the rest of the file stays.
func TestInstallDefinesAnAgent(t *testing.T) {
	r := rig.New(t, notes)
	file := r.Save()
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	shown := r.Must("install", "cursor", "--agent", "--tier=v1", "--print")
	assert.That(t, strings.Contains(shown, `"--agent"`) && strings.Contains(shown, `"cursor"`), "the entry is\n%s", shown)
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Errorf("printing has changed the settings:\n%s", after)
	}
	r.Must("install", "cursor", "--agent", "--tier=v1", "--yes")
	after, err := os.ReadFile(file)
	want := string(before) + "\n[agents.cursor]\ntier = \"v1\"\nallow-mutations = false\n"
	assert.That(t, err == nil && string(after) == want, "the settings are\n%s\nwant\n%s", after, want)
	entry, err := os.ReadFile(filepath.Join(r.Home, ".cursor", "mcp.json"))
	assert.That(t, err == nil && strings.Contains(string(entry), `"--agent"`), "%v: %s", err, entry)
	_, said, status := r.Run("install", "cursor", "--agent=../x", "--print")
	assert.That(t, status == 2 && strings.Contains(said, "invalid agent name"), "%d: %s", status, said)
}

// Two agents and two vaults side by side: the second entry never replaces the first without being
// told to, and each has the rights that were given.
func TestASecondInstallationReplacesNothing(t *testing.T) {
	r := rig.New(t, notes)
	other := r.Vault + "2"
	require.NoError(t, os.Mkdir(other, 0o700))
	settings := r.Save()
	cursor := filepath.Join(r.Home, ".cursor", "mcp.json")
	first := []string{"install", "cursor", "--vault=" + r.Vault, "--agent=reader", "--tier=v1", "--access=/=r", "--access=Work \"x\"/Secret=none", "--yes"}
	r.Must(first...)
	before, _ := os.ReadFile(cursor)
	table := "\n[agents.reader]\ntier = \"v1\"\nallow-mutations = false\n[agents.reader.access]\n\"/\" = \"r\"\n\"Work \\\"x\\\"/Secret\" = \"none\"\n"
	if text, _ := os.ReadFile(settings); !strings.HasSuffix(string(text), table) {
		t.Errorf("the settings are\n%s", text)
	}
	r.Tables += table // as the file is now: the rig writes it again
	for what, args := range map[string][]string{
		"another agent": {"--vault=" + r.Vault, "--agent=writer", "--edit"}, "another vault": {"--vault=" + other, "--agent=reader"}, "no agent": {"--vault=" + r.Vault}, "no vault": {"--agent=reader"},
	} {
		_, said, status := r.Run(append([]string{"install", "cursor", "--yes"}, args...)...)
		if after, _ := os.ReadFile(cursor); status != 1 || !strings.Contains(said, "use") && !strings.Contains(said, "another --name") || string(after) != string(before) {
			t.Errorf("%s: %d %s\n%s", what, status, said, after)
		}
		text, _ := os.ReadFile(settings)
		assert.That(t, !strings.Contains(string(text), "agents.writer"), "%s: the settings are\n%s", what, text)
	}
	r.Must("install", "cursor", "--yes", "--name=second", "--vault="+other, "--agent=a.writer", "--edit")
	after, _ := os.ReadFile(cursor)
	for _, want := range []string{`"vaultwicket"`, `"reader"`, `"second"`, `"a.writer"`, other} {
		assert.That(t, strings.Contains(string(after), want), "%s is missing in\n%s", want, after)
	}
	text, _ := os.ReadFile(settings)
	assert.That(t, strings.HasSuffix(string(text), table+"\n[agents.\"a.writer\"]\ntier = \"v2\"\nallow-mutations = true\n"), "the settings are\n%s", text)
	r.Must("install", "cursor", "--yes", "--replace", "--vault="+other, "--agent=reader")
	if after, _ := os.ReadFile(cursor); strings.Contains(string(after), r.Vault+`"`) {
		t.Errorf("it was not replaced:\n%s", after)
	}
	for _, args := range [][]string{{"--access=Work=rw"}, {"--agent", "--access=Work"}, {"--agent", "--access=Work=x"}, {"--agent", "--access=../x=r"}, {"--agent", "--access==r"}} {
		out, said, status := r.Run(append([]string{"install", "zed", "--print"}, args...)...)
		assert.That(t, status == 2 && out == "", "%q: %d %s%s", args, status, out, said)
	}
}

// What the version before agents has left is used as it is: its settings file, its journal, whose
// changes can be undone, and its audit log, which stays whole when both have written to it. The
// files were made by the commit before the first one that knows agents: two changes at a terminal
// and a read of a hidden note.
func TestTheFilesOfTheVersionBefore(t *testing.T) {
	r := newRig(t)
	r.Write("A.md", "x\n")
	state := filepath.Join(r.Home, ".local", "state", "vaultwicket")
	r.Must("run", "append", "path=A.md", "content=x") // it makes the folders
	journals, err := filepath.Glob(filepath.Join(state, "journal", "*"))
	require.That(t, err == nil && len(journals) == 1, "%q, %v", journals, err)
	require.NoError(t, os.RemoveAll(state))
	before := filepath.Join("testdata", "before")
	settings := filepath.Join(t.TempDir(), "config.toml")
	for from, to := range map[string]string{
		"audit.jsonl": filepath.Join(state, "audit"), "audit.key": filepath.Join(state, "audit"), "head.json": filepath.Join(state, "audit"),
		"0000000001.lines": journals[0], "config.toml": filepath.Dir(settings),
	} {
		text, err := os.ReadFile(filepath.Join(before, from))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(to, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(to, from), []byte(strings.ReplaceAll(string(text), `"FOLDER"`, rig.JSON(t, r.Vault))), 0o600))
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
	if got := serverOf(r, "bob").Do(rig.Calling("append", "path=Both/Plan.md", "content=x")); !got.OK {
		t.Errorf("%+v", got.Error)
	}
	verified("10")
	if got := r.Must("audit", "list", "--agent=bob"); !strings.Contains(got, "append") {
		t.Errorf("the audit log has of bob\n%s", got)
	}
	got := r.Must("journal", "list")
	assert.That(t, strings.Contains(got, "bob (t)") && strings.Count(got, "\n") == 4, "the journal has\n%s", got)
}
