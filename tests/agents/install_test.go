package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/rig"
)

// An entry for a client starts the server for an agent named after the client, whose table is
// added to the settings file, and the rest of the file stays.
func TestInstallDefinesAnAgent(t *testing.T) {
	r := rig.New(t, notes)
	file := r.Save()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
