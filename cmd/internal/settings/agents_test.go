package settings

import (
	"errors"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

const twoAgents = `tier = "v2"
allow-mutations = true
rate = 100

[[vaults]]
name = "Notes"
tier = "v1"
[vaults.access]
"/" = "rw"
"Private" = "none"

[[vaults]]
name = "Team"

[agents.cursor]
tier = "v3"
vaults = ["Team", "Notes"]
rate = 10
rate-mutations = 0
expires = 2027-03-01
[agents.cursor.access]
"/" = "r"
"Private" = "rwd"

[agents.nightly]
allow-mutations = false
vaults = ["Team"]
`

func loadFor(t *testing.T, subcommand string, serves bool, content string, args ...string) (Settings, error) {
	t.Helper()
	f := NewFlags(subcommand)
	f.Observed = serves
	s, _, err := f.Load(world(nil), append([]string{"--config=" + writeSettings(t, content)}, args...))
	return s, err
}

func TestAnAgentNarrowsEveryVault(t *testing.T) {
	s := require.Value(loadFor(t, "serve", true, twoAgents, "--agent=cursor"))(t)
	require.Equal(t, len(s.Served), 2, "serves %+v for %q", s.Served, s.Agent)
	require.Equal(t, s.Served[0].Name, "Notes", "serves %+v for %q", s.Served, s.Agent)
	require.Equal(t, s.Agent, "cursor", "serves %+v for %q", s.Served, s.Agent)
	notes, team := s.Served[0].Policy, s.Served[1].Policy
	if notes.Ceiling != tiers.V1 || notes.Origins["tier"] != "vault Notes in config.toml" || team.Ceiling != tiers.V2 ||
		team.Origins["tier"] != "file config.toml" {
		t.Errorf("tiers %v (%s) and %v (%s)", notes.Ceiling, notes.Origins["tier"], team.Ceiling, team.Origins["tier"])
	}
	for path, levels := range map[string][2]access.Level{"a.md": {access.Read, access.Read}, "Private/a.md": {access.None, access.Delete}} {
		if notes.Access.Level(path) != levels[0] || team.Access.Level(path) != levels[1] {
			t.Errorf("%s has %v and %v, want %v", path, notes.Access.Level(path), team.Access.Level(path), levels)
		}
	}
	if notes.Origins["access"] != "vault Notes in config.toml and agent cursor" || team.Origins["access"] != "agent cursor" {
		t.Errorf("origins of access: %q and %q", notes.Origins["access"], team.Origins["access"])
	}
	assert.Equal(t, s.Limits.Calls, 10, "limits %+v", s.Limits)
	assert.Equal(t, s.Limits.Mutations, 30, "limits %+v", s.Limits)
	assert.Equal(t, s.Limits.MutationsHour, 300, "limits %+v", s.Limits)
	want := time.Date(2027, 3, 1, 0, 0, 0, 0, time.Local)
	assert.That(t, notes.Until.Equal(want), "expires %v and %v, want %v", notes.Until, team.Until, want)
	assert.That(t, team.Until.Equal(want), "expires %v and %v, want %v", notes.Until, team.Until, want)
}

func TestAVaultOfAnotherAgentIsNotServed(t *testing.T) {
	s, err := loadFor(t, "serve", true, twoAgents, "--agent=nightly")
	require.NoError(t, err)
	require.Equal(t, len(s.Served), 1)
	require.Equal(t, s.Served[0].Name, "Team")
	require.That(t, !s.Served[0].Policy.Mutations, "%+v, %v", s.Served, err)
	assert.Equal(t, s.Vault.Name, "Team")
	s, err = loadFor(t, "run", false, twoAgents, "--agent=nightly", "--vault=Notes")
	require.NoError(t, err)
	require.Equal(t, len(s.Served), 1)
	assert.Equal(t, s.Served[0].Policy.Closed, "the agent may not use this vault")
}

// Whom the settings mean: a server is for the default agent, other subcommands are for the
// owner, and without agents everybody is as before.
func TestWhoseRightsApply(t *testing.T) {
	withDefault := twoAgents + "[agents.default]\ntier = \"v0\"\n"
	for _, test := range []struct {
		what    string
		serves  bool
		content string
		args    []string
		agent   string
		tier    tiers.Tier // of the last vault
		err     string
	}{
		{"a server without agents", true, "tier = \"v2\"\n", nil, "", tiers.V2, ""},
		{"the default agent where none is defined", true, "tier = \"v2\"\n", []string{"--agent=default"}, "", tiers.V2, ""},
		{"a server of no agent", true, twoAgents, nil, "default", tiers.None, ""},
		{"a server of the default agent", true, withDefault, nil, "default", tiers.V0, ""},
		{"the owner", false, withDefault, nil, "", tiers.V2, ""},
		{"a terminal for an agent", false, withDefault, []string{"--agent=default"}, "default", tiers.V0, ""},
		{"an unknown agent", true, twoAgents, []string{"--agent=curser"}, "", 0, `unknown agent "curser"; did you mean "cursor"?`},
		{"an agent where none is defined", false, "", []string{"--agent=cursor"}, "", 0, `unknown agent "cursor"`},
		{"a name that is none", false, "", []string{"--agent=../x"}, "", 0, `invalid agent name "../x"`},
	} {
		s, err := loadFor(t, "serve", test.serves, test.content, test.args...)
		if test.err != "" {
			require.That(t, err != nil, "%s: %v, want %q", test.what, err, test.err)
			assert.Contains(t, err.Error(), test.err, "%s", test.what)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		last := s.Served[len(s.Served)-1].Policy
		if last.Agent != test.agent || last.Ceiling != test.tier || (last.Closed != "") != (test.tier == tiers.None) {
			t.Errorf("%s: agent %q, tier %v, closed %q", test.what, last.Agent, last.Ceiling, last.Closed)
		}
	}
}

func TestWrongTablesOfAgents(t *testing.T) {
	for content, want := range map[string]string{
		"agents = 1\n":                                   `line 1: "agents" is a whole number, want tables such as [agents.cursor]`,
		"[agents]\ncursor = 1\n":                         `line 2: "agents.cursor" is a whole number, want a table [agents.cursor]`,
		"[agents.Cursor]\n":                              `line 1: invalid agent name "Cursor"`,
		"[agents.\"a/b\"]\n":                             `line 1: invalid agent name "a/b"`,
		"[agents.a]\nteir = \"v1\"\n":                    `line 2: setting "agents.a.teir": unknown key; did you mean "tier"?`,
		"[agents.a]\ntier = \"v9\"\n":                    `line 2: setting "agents.a.tier": `,
		"[agents.a]\nhttp = \"127.0.0.1:1\"\n":           `line 2: setting "agents.a.http": unknown key`,
		"[agents.a]\nallow-mutations = \"true\"\n":       `line 2: setting "agents.a.allow-mutations": is text, want true or false`,
		"[agents.a]\nvaults = \"Notes\"\n":               `line 2: setting "agents.a.vaults": is text, want a list of names, ids or folders of vaults such as`,
		"[agents.a]\nvaults = [\"\"]\n":                  `line 2: setting "agents.a.vaults": contains text, want names`,
		"[agents.a]\nexpires = \"2027-03-01\"\n":         `line 2: setting "agents.a.expires": is text, want a date such as`,
		"[agents.a]\nexpires = 18:00:00\n":               `line 2: setting "agents.a.expires": is a date or a time, want a date such as`,
		"[agents.a]\n[agents.a.access]\n\"W\" = \"x\"\n": `line 3: access of "W": `,
		"[agents.a]\n[agents.a.access]\n":                `setting "agents.a.access": has no rule`,
	} {
		_, err := loadFor(t, "run", false, content)
		var wrong *wrongFile
		require.That(t, errors.As(err, &wrong), "%q: %v, want %q", content, err, want)
		assert.Contains(t, err.Error(), want, "%q", content)
	}
}

func TestAgentsEndInARunningServer(t *testing.T) {
	read := require.Value(allowlist.Parse("read", allowlist.Params{"path": allowlist.Text("n.md")}))(t)
	base := "tier = \"v2\"\n[agents.other]\n"
	for name, after := range map[string]string{
		"removed": base, "expired": base + "[agents.cursor]\nexpires = 2001-01-01\n",
		"no vault": base + "[agents.cursor]\nvaults = []\n", "no tier": base + "[agents.cursor]\ntier = \"v0\"\n",
	} {
		r := start(t, base+"[agents.cursor]\n", "--agent=cursor")
		err := r.policies[0].Decide(read, policy.ClearFacts(time.Now())).Err()
		require.That(t, err == nil, "%s: before: %v", name, err)
		r.change(after)
		assert.That(t, r.policies[0].Decide(read, policy.ClearFacts(time.Now())).Err() != nil, "%s: still allowed; %s", name, r.messages)
		r.change(base + "[agents.cursor]\n")
		assert.That(t, r.policies[0].Decide(read, policy.ClearFacts(time.Now())).Err() != nil, "%s: allowed again without a start", name)
	}
}

func TestARunningServerKeepsItsAgent(t *testing.T) {
	agents := "tier = \"v2\"\n[agents.a]\ntier = \"v1\"\n[agents.b]\ntier = \"v0\"\n"
	r := start(t, "agent = \"a\"\n"+agents)
	if got := r.change("agent = \"b\"\n" + agents); got != "takes effect at the next start: agent" ||
		r.policies[0].Ceiling != tiers.V1 || r.policies[0].Agent != "a" {
		t.Errorf("%s; %+v", got, r.policies[0])
	}
}
