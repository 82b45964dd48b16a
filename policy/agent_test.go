package policy_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// drawn is a set of rights, of the server, a vault or an agent, in words of the test.
type drawn struct {
	tier                   int // 0 to 3
	mutations, publish, ui bool
	confirm                int // 0 every change, 1 destructive, 2 never
	disable, only          []string
	access                 map[string]access.Level
}

var (
	drawnFolders  = []string{"Work", "Work/Deep", "Private", "Daily"}
	drawnCommands = []string{"read", "append", "delete", "create", "search", "files"}
	drawnNotes    = []string{"n.md", "Work/n.md", "Work/Deep/n.md", "Private/n.md", "Daily/n.md"}
)

func draw(r *rand.Rand) drawn {
	d := drawn{tier: r.IntN(4), mutations: r.IntN(4) > 0, publish: r.IntN(2) > 0, ui: r.IntN(4) > 0, confirm: r.IntN(3)}
	if r.IntN(3) == 0 {
		d.disable = []string{drawnCommands[r.IntN(len(drawnCommands))]}
	}
	if r.IntN(5) == 0 {
		d.only = append(d.only, drawnCommands[:2+r.IntN(4)]...)
	}
	if r.IntN(3) > 0 {
		d.access = map[string]access.Level{"/": access.Level(1 + r.IntN(3))}
		for _, folder := range drawnFolders {
			if r.IntN(2) == 0 {
				d.access[folder] = access.Level(r.IntN(4))
			}
		}
	}
	return d
}

func (d drawn) policy(t *testing.T) policy.Policy {
	t.Helper()
	p := policy.Unlimited()
	p.Ceiling = []tiers.Tier{tiers.V0, tiers.V1, tiers.V2, tiers.V3}[d.tier]
	p.Mutations, p.Publish, p.UI = d.mutations, d.publish, d.ui
	p.Confirm = []policy.Confirm{policy.ConfirmWrites, policy.ConfirmDestructive, policy.ConfirmNever}[d.confirm]
	p.Disable, p.EnableOnly = d.disable, d.only
	if d.access != nil {
		var err error
		p.Access, err = access.New(d.access)
		require.NoError(t, err)
	}
	return p
}

// level is the level of a note: that of the longest path around it.
func (d drawn) level(note string) access.Level {
	if d.access == nil {
		return access.Delete
	}
	level := d.access["/"]
	for at := note; ; {
		i := strings.LastIndex(at, "/")
		if i < 0 {
			return level
		}
		at = at[:i]
		if own, has := d.access[at]; has {
			return own
		}
	}
}

// drawnCall is a call of a command with a note, and what it needs.
type drawnCall struct {
	command                                        string
	tier                                           int
	writes, destroys, publishes, shows, restricted bool
	needs                                          access.Level
	params                                         allowlist.Params
	wholeVault                                     bool // it names no note
}

// wantedOfAll says by the three sets of rights alone what a call of a command on a note must give:
// "allow", "ask" or "deny". The tier, the effect and the level that it needs are arguments.
func wantedOfAll(all []drawn, c drawnCall, note string) string {
	answer := "allow"
	for _, d := range all {
		switch {
		case d.tier < c.tier, slices.Contains(d.disable, c.command), d.only != nil && !slices.Contains(d.only, c.command), c.writes && !d.mutations,
			c.restricted, c.publishes && !d.publish, c.shows && !d.ui:
			return "deny"
		case c.destroys && d.confirm <= 1, c.writes && d.confirm == 0:
			answer = "ask"
		}
	}
	lowest := access.Delete
	for _, d := range all {
		lowest = min(lowest, d.level(note))
	}
	if lowest > access.None && lowest < c.needs {
		return "deny" // what is hidden is answered as missing, by the program that enforces the rules
	}
	return answer
}

// Fifty agents in drawn vaults of drawn servers: what an agent may do with a note is what the
// server, the vault and the agent each allow, by a rule that is written here and reads no
// policy.
func TestAgentsMayDoWhatAllThreeAllow(t *testing.T) {
	calls := []drawnCall{
		{command: "read", needs: access.Read},
		{command: "files", wholeVault: true},
		{command: "append", writes: true, needs: access.Write, params: allowlist.Params{"content": allowlist.Text("x")}},
		{command: "create", writes: true, needs: access.Write, params: allowlist.Params{"content": allowlist.Text("x")}},
		{command: "create", writes: true, destroys: true, needs: access.Delete,
			params: allowlist.Params{"content": allowlist.Text("x"), "overwrite": allowlist.Flag(true)}},
		{command: "delete", writes: true, destroys: true, needs: access.Delete},
		{command: "history", needs: access.Read},
		{command: "open", shows: true, needs: access.Read},
		{command: "publish:add", writes: true, destroys: true, publishes: true, needs: access.Read},
		{command: "wordcount", needs: access.Read},
		{command: "eval", restricted: true, wholeVault: true, params: allowlist.Params{"code": allowlist.Text("1")}},
		{command: "plugin:disable", restricted: true, wholeVault: true, params: allowlist.Params{"id": allowlist.Text("x")}},
	}
	for i := range calls { // the tiers of the table, which this test is not about
		c := require.Value(allowlist.Describe(calls[i].command))(t)
		calls[i].tier = slices.Index([]tiers.Tier{tiers.V0, tiers.V1, tiers.V2, tiers.V3}, c.Tier)
	}
	r := rand.New(rand.NewPCG(26, 50))
	agents, server, own, counts := policy.Agents{}, map[string]drawn{}, map[string]drawn{}, map[string]int{}
	rights := map[string]drawn{}
	for i := range 50 {
		name := "agent-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		rights[name], server[name], own[name] = draw(r), draw(r), draw(r)
		agents[name] = policy.Agent{Rights: rights[name].policy(t), Vaults: []string{"Notes"}}
	}
	for name := range rights {
		p := agents.InForce(name, server[name].policy(t), own[name].policy(t), "Notes")
		other := agents.InForce(name, server[name].policy(t), own[name].policy(t), "Other", "0123456789abcdef")
		for _, c := range calls {
			for _, note := range drawnNotes {
				params := allowlist.Params{"path": allowlist.Text(note)}
				if c.wholeVault {
					delete(params, "path")
					if note != drawnNotes[0] {
						continue
					}
				}
				for key, value := range c.params {
					params[key] = value
				}
				call := mustParse(t, c.command, params)
				want := wantedOfAll([]drawn{server[name], own[name], rights[name]}, c, note)
				counts[want]++
				if row, err := allowlist.Describe(c.command); note == drawnNotes[0] {
					form := c
					form.needs = access.None // lists and explain are about no note
					listed := wantedOfAll([]drawn{server[name], own[name], rights[name]}, form, note) != "deny"
					require.Equal(t, err, nil,
						"%s, %s: listed %v, want %v", name, c.command, p.Lists(row, plain), listed)
					assert.Equal(t, p.Lists(row, plain) == nil, listed,
						"%s, %s: listed %v", name, c.command, p.Lists(row, plain))
				}
				if got := verdictOf(p, call); got != want {
					t.Errorf("%s, %s of %s: %s, want %s\nserver %+v\nvault %+v\nagent %+v", name, c.command, note, got,
						want, server[name], own[name], rights[name])
				}
				assert.Equal(t, verdictOf(other, call), "deny", "%s in a vault that is not its own: %s of %s", name, c.command, note)
				lowest := min(server[name].level(note), own[name].level(note), rights[name].level(note))
				if got := p.Access.Level(note); got != lowest || other.Access.Level(note) != access.None {
					t.Errorf("%s: %s has level %v, want %v; in another vault %v", name, note, got, lowest, other.Access.Level(note))
				}
			}
		}
	}
	require.That(t, counts["allow"] >= 20, "the draw shows too little: %v", counts)
	require.That(t, counts["ask"] >= 10, "the draw shows too little: %v", counts)
	assert.That(t, counts["deny"] >= 100, "the draw shows too little: %v", counts)
}

// verdictOf returns "allow", "ask" or "deny", and a dry run says the same.
func verdictOf(p policy.Policy, call allowlist.Call) string {
	err := p.Decide(call, plain).Err()
	got := "allow"
	var denial *policy.Denial
	if errors.As(err, &denial) {
		if got = "deny"; denial.NeedsApproval() {
			got = "ask"
		}
	}
	shown := "allow"
	for _, verdict := range p.Judge(call, plain) {
		switch {
		case verdict.Verdict == policy.Deny:
			shown = "deny"
		case verdict.Verdict == policy.Ask && shown == "allow":
			shown = "ask"
		}
	}
	if shown != got {
		return got + ", and a dry run says " + shown
	}
	return got
}

func TestOnlyAgentsWithRightsAreAllowedAnything(t *testing.T) {
	expires := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	agents := policy.Agents{
		"cursor": {Rights: policy.Unlimited(), Expires: expires}, "zero": {}, "ended": {Rights: policy.Unlimited(), Ended: "the agent was revoked"},
		"none": {Rights: policy.Unlimited(), Vaults: []string{}}, "empty": {Rights: policy.Unlimited(), Vaults: []string{""}},
	}
	withDefault := policy.Agents{"default": {Rights: policy.Unlimited()}}
	call := mustParse(t, "read", allowlist.Params{"path": allowlist.Text("n.md")})
	for _, test := range []struct {
		name   string
		agents policy.Agents
		at     time.Time
		why    string // in the denial, "" for a call that is allowed
	}{
		{"", nil, expires, ""},
		{"default", nil, expires, ""},
		{"cursor", nil, expires, "not defined"},
		{"", withDefault, expires, ""},
		{"other", withDefault, expires, "not defined"},
		{"", agents, expires.Add(-1), `no agent "default"`},
		{"default", agents, expires.Add(-1), "not defined"},
		{"cursor", agents, expires.Add(-1), ""},
		{"cursor", agents, expires, "has expired"},
		{"Cursor", agents, expires.Add(-1), "not defined"},
		{"zero", agents, expires, "requires tier"},
		{"ended", agents, expires, "was revoked"},
		{"none", agents, expires, "may not use this vault"},
		{"empty", agents, expires, "may not use this vault"},
	} {
		p := test.agents.InForce(test.name, widest(), policy.Unlimited(), "Notes", "")
		err := p.Decide(call, policy.ClearFacts(test.at)).Err()
		p = p.At(test.at)
		if (test.why == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.why) {
			t.Errorf("agent %q of %d: %v, want %q", test.name, len(test.agents), err, test.why)
		}
		if p.Closed != "" && (p.Access.Level("n.md") != access.None || p.Ceiling != tiers.None || p.Mutations || p.Meet(widest()).Closed == "") {
			t.Errorf("agent %q is left with %+v", test.name, p)
		}
	}
}

// The origin of a setting names what made it stricter.
func TestMeetNamesWhatIsStricter(t *testing.T) {
	server, agent := widest(), policy.Unlimited()
	server.Origins = map[string]string{"tier": "file", "confirm": "flag", "access": "default"}
	agent.Origins = map[string]string{"tier": "agent a", "confirm": "agent a", "access": "agent a"}
	agent.Ceiling = tiers.V1
	p := server.Meet(agent)
	require.Equal(t, p.Origins["tier"], "agent a")
	require.Equal(t, p.Origins["confirm"], "flag")
	require.Equal(t, p.Origins["access"], "default")
	assert.Equal(t, server.Origins["tier"], "file")
}
