package settings

import (
	"strings"
	"testing"

	"vaultwicket/tests/require"
)

// TestFlowRules reads rules of the file, of an agent and of the machine, which all apply, and refuses
// wrong ones with the line and what would be right.
func TestFlowRules(t *testing.T) {
	manage(t, "[[flow]]\nname = \"machine\"\nfrom = [\"Board\"]\n")
	s, err := loadFor(t, "run", false, "[[flow]]\nname = \"file\"\nfrom = [\"Private/\", \"#client\", \"private\"]\nto = [\"web\", \"Shared\"]\naction = \"refuse\"\n[agents.cursor]\n[[agents.cursor.flow]]\nname = \"agent\"\nfrom = [\"/\"]\n", "--agent=cursor")
	require.NoError(t, err)
	var got []string
	for _, f := range s.Served[0].Policy.Flows {
		got = append(got, f.Name+": "+f.String())
	}
	want := "file: after reading from Private, #client, private, carrying text to web, Shared is refused; machine: after reading from Board, carrying text to publish, web, vaults requires approval; agent: after reading from /, carrying text to publish, web, vaults requires approval"
	if strings.Join(got, "; ") != want {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		"[[flow]]\nfrom = [\"A\"]\n": `name ""`, "[[flow]]\nname = \"x\"\n": "from is empty", "[[flow]]\nname = \"x\"\nfrom = [\"../A\"]\n": "relative segments",
		"[[flow]]\nname = \"x\"\nfrom = [\"#\"]\n": "is not a tag", "[[flow]]\nname = \"x\"\nfrom = [\"A\"]\naction = \"block\"\n": "want ask or refuse",
		"[[flow]]\nname = \"x\"\nfrom = [\"A\"]\nallow = true\n": "unknown key", "[[flow]]\nname = \"x\"\nfrom = \"A\"\n": "from", "flow = true\n": "want tables [[flow]]",
		"[[flow]]\nname = \"x\"\nfrom = [\"A\"]\nto = [\"A/*\"]\n": "pattern", "[agents.a]\n[[agents.a.flow]]\nname = \"\"\nfrom = [\"A\"]\n": `name ""`,
	} {
		if _, err := loadFor(t, "run", false, text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
