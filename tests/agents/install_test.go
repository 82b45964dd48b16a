package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if shown := r.Must("install", "cursor", "--agent", "--tier=v1", "--print"); !strings.Contains(shown, `"--agent"`) || !strings.Contains(shown, `"cursor"`) {
		t.Errorf("the entry is\n%s", shown)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Errorf("printing has changed the settings:\n%s", after)
	}
	r.Must("install", "cursor", "--agent", "--tier=v1", "--yes")
	after, err := os.ReadFile(file)
	if want := string(before) + "\n[agents.cursor]\ntier = \"v1\"\nallow-mutations = false\n"; err != nil || string(after) != want {
		t.Errorf("the settings are\n%s\nwant\n%s", after, want)
	}
	entry, err := os.ReadFile(filepath.Join(r.Home, ".cursor", "mcp.json"))
	if err != nil || !strings.Contains(string(entry), `"--agent"`) {
		t.Errorf("%v: %s", err, entry)
	}
	if _, said, status := r.Run("install", "cursor", "--agent=../x", "--print"); status != 2 || !strings.Contains(said, "invalid agent name") {
		t.Errorf("%d: %s", status, said)
	}
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
		if text, _ := os.ReadFile(settings); strings.Contains(string(text), "agents.writer") {
			t.Errorf("%s: the settings are\n%s", what, text)
		}
	}
	r.Must("install", "cursor", "--yes", "--name=second", "--vault="+other, "--agent=a.writer", "--edit")
	after, _ := os.ReadFile(cursor)
	for _, want := range []string{`"vaultwicket"`, `"reader"`, `"second"`, `"a.writer"`, other} {
		if !strings.Contains(string(after), want) {
			t.Errorf("%s is missing in\n%s", want, after)
		}
	}
	if text, _ := os.ReadFile(settings); !strings.HasSuffix(string(text), table+"\n[agents.\"a.writer\"]\ntier = \"v2\"\nallow-mutations = true\n") {
		t.Errorf("the settings are\n%s", text)
	}
	r.Must("install", "cursor", "--yes", "--replace", "--vault="+other, "--agent=reader")
	if after, _ := os.ReadFile(cursor); strings.Contains(string(after), r.Vault+`"`) {
		t.Errorf("it was not replaced:\n%s", after)
	}
	for _, args := range [][]string{{"--access=Work=rw"}, {"--agent", "--access=Work"}, {"--agent", "--access=Work=x"}, {"--agent", "--access=../x=r"}, {"--agent", "--access==r"}} {
		if out, said, status := r.Run(append([]string{"install", "zed", "--print"}, args...)...); status != 2 || out != "" {
			t.Errorf("%q: %d %s%s", args, status, out, said)
		}
	}
}
