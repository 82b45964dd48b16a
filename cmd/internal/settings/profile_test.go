package settings

import (
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/policy"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tiers"
)

// TestThePriorityOfTheSources takes one source after the other away.
func TestThePriorityOfTheSources(t *testing.T) {
	file := writeSettings(t, "tier = \"v1\"\nprofile = \"home\"\n[profiles.home]\ntier = \"v2\"\n")
	noProfile := writeSettings(t, "tier = \"v1\"\n")
	for _, tt := range []struct {
		name, env string
		args      []string
		want      tiers.Tier
		origin    string
	}{
		{"the flag", "v0", []string{"--tier=v3", "--config=" + file}, tiers.V3, "flag --tier"},
		{"the environment", "v0", []string{"--config=" + file}, tiers.V0, "environment VAULTWICKET_TIER"},
		{"the profile", "", []string{"--config=" + file}, tiers.V2, "profile home in config.toml"},
		{"the file", "", []string{"--config=" + noProfile}, tiers.V1, "file " + filepath.Base(noProfile)},
		{"the default", "", []string{"--config=none"}, tiers.V0, "default"},
	} {
		env := map[string]string{}
		if tt.env != "" {
			env["VAULTWICKET_TIER"] = tt.env
		}
		s, _, err := NewFlags("run").Load(world(env), tt.args)
		if err != nil || s.Policy.Ceiling != tt.want || s.Policy.Origins["tier"] != tt.origin {
			t.Errorf("%s: tier %v from %q (%v)", tt.name, s.Policy.Ceiling, s.Policy.Origins["tier"], err)
		}
	}
}

func TestWhoChoosesTheProfile(t *testing.T) {
	file := writeSettings(t, "profile = \"a\"\nconfirm = \"never\"\n[profiles.a]\ntier = \"v1\"\n[profiles.b]\ntier = \"v2\"\n[profiles.c]\ntier = \"v3\"\n")
	for _, tt := range []struct {
		name string
		env  map[string]string
		args []string
		want tiers.Tier
	}{
		{"the file", nil, nil, tiers.V1},
		{"the environment before the file", map[string]string{"VAULTWICKET_PROFILE": "b"}, nil, tiers.V2},
		{"the flag before the environment", map[string]string{"VAULTWICKET_PROFILE": "b"}, []string{"--profile=c"}, tiers.V3},
		{"an empty name is no profile", map[string]string{"VAULTWICKET_PROFILE": ""}, nil, tiers.V0},
		{"an empty name as a flag", nil, []string{"--profile="}, tiers.V0},
	} {
		s, _, err := NewFlags("run").Load(world(tt.env), append(tt.args, "--config="+file))
		if err != nil || s.Policy.Ceiling != tt.want || s.Policy.Confirm != policy.ConfirmNever {
			t.Errorf("%s: tier %v, confirm %v (%v)", tt.name, s.Policy.Ceiling, s.Policy.Confirm, err)
		}
	}
}

func TestAnUnknownProfileStopsTheStart(t *testing.T) {
	file := writeSettings(t, "[profiles.home]\n[profiles.work]\n")
	for args, want := range map[string]string{
		"--config=" + file + " --profile=hoem": `setting "profile" (flag --profile): unknown profile "hoem"; did you mean "home"?`,
		"--config=" + file + " --profile=xyz":  `unknown profile "xyz"`,
		"--config=none --profile=home":         `no settings file defines [profiles.home]`,
	} {
		_, _, err := NewFlags("run").Load(world(nil), strings.Fields(args))
		assert.That(t, err != nil && strings.Contains(err.Error(), want) && terminal.StatusOf(err) == terminal.ExitInvalid, "%s: %v, want %q", args, err, want)
	}
}

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
	assert.That(t, strings.Join(got, "; ") == want, "%q", got)
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
