package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// wanted says what a policy must answer to a call: a code, "" for a permit. It
// is written down from the table of settings, with words in place of numbers,
// and shares no code with the rules.
func wanted(p policy.Policy, name, tier, effect string, shows, sends, fallsBack bool) string {
	openTiers := map[string]string{"v0": "v0", "v1": "v0 v1", "v2": "v0 v1 v2", "v3": "v0 v1 v2 v3"}[p.Ceiling.String()]
	changes := effect != "read" && effect != "ui"
	listed := func(list []string) bool {
		for _, entry := range list {
			if entry == name {
				return true
			}
		}
		return false
	}
	if tier == "restricted" {
		return "restricted_command"
	}
	if !strings.Contains(openTiers, tier) {
		return "tier_closed"
	}
	if listed(p.Disable) || len(p.EnableOnly) != 0 && !listed(p.EnableOnly) {
		return "command_disabled"
	}
	if changes && !p.Mutations {
		return "mutations_off"
	}
	if (effect == "publish" || sends) && !p.Publish {
		return "mutations_off"
	}
	if changes && fallsBack {
		return "target_required"
	}
	if shows && !p.UI {
		return "command_disabled"
	}
	if p.MinVersion.Before(tiers.Release(1, 12, 2)) {
		return "cli_too_old"
	}
	switch p.Confirm.String() {
	case "never":
	case "destructive":
		if changes && effect != "write" {
			return "unconfirmed"
		}
	default:
		if changes {
			return "unconfirmed"
		}
	}
	return ""
}

func TestDecideOverTheWholeSpace(t *testing.T) {
	ceilings := []tiers.Tier{tiers.None, tiers.V0, tiers.V1, tiers.V2, tiers.V3, tiers.Restricted, tiers.Restricted + 1, 255}
	confirms := []policy.Confirm{policy.ConfirmWrites, policy.ConfirmDestructive, policy.ConfirmNever, 3, 255}
	reached := map[string]bool{}
	for _, call := range everyCall(t) {
		lists := []struct{ disable, enableOnly []string }{
			{}, {disable: []string{"x", call.Name()}}, {enableOnly: []string{"x", call.Name()}}, {enableOnly: []string{"x"}},
		}
		for _, ceiling := range ceilings {
			for gates := range 8 {
				for _, confirm := range confirms {
					for _, list := range lists {
						p := policy.Policy{
							Ceiling: ceiling, Mutations: gates&1 != 0, Publish: gates&2 != 0, UI: gates&4 != 0,
							Confirm: confirm, Disable: list.disable, EnableOnly: list.enableOnly, MinVersion: tiers.DefaultMinimum,
						}
						want := wanted(p, call.Name(), call.Tier().String(), call.Effect().String(), call.Shows(), call.Sends(), call.UsesOpenNote())
						permit, err := p.Decide(call, plain).Permit()
						reached[want] = true
						if code(err) != want || permit.Valid() != (want == "") {
							t.Fatalf("%+v\n%v: got %v and a permit %v, want %q", p, call, err, permit.Valid(), want)
						}
						require.That(t, !permit.Valid() || permit.Call().String() == call.String(), "%v: the permit is for %v", call, permit.Call())
					}
				}
			}
		}
	}
	for _, want := range []string{"", "restricted_command", "tier_closed", "mutations_off", "target_required", "command_disabled", "unconfirmed"} {
		assert.That(t, reached[want], "no call gives %q", want)
	}
}

func TestTheZeroCallIsRefused(t *testing.T) {
	permit, err := widest().Decide(allowlist.Call{}, plain).Permit()
	assert.That(t, !permit.Valid(), "got %v", err)
	assert.Equal(t, code(err), policy.CodeRestricted)
	var denial *policy.Denial
	require.That(t, errors.As(err, &denial), "got %+v", denial)
	require.Equal(t, denial.Rule, "known")
	require.Equal(t, denial.Setting, "")
	require.Equal(t, denial.Hint(), "")
	assert.That(t, !denial.NeedsApproval(), "got %+v", denial)
}

func TestTheZeroPermitIsWorthless(t *testing.T) {
	var p policy.Permit
	assert.That(t, !p.Valid(), "the zero permit is worth something: %+v", p)
	assert.That(t, !p.Call().Valid(), "the zero permit is worth something: %+v", p)
	assert.Equal(t, p.MinVersion(), tiers.Version{}, "the zero permit is worth something")
	for name, step := range map[string]policy.Permit{
		"Probe": p.Probe(), "DailyPath": p.DailyPath(), "ReadDaily": p.ReadDaily("A.md"), "Exists": p.Exists("path", "A.md"),
	} {
		assert.That(t, !step.Valid(), "the zero permit grants %s", name)
	}
}

func TestASuspectedSessionAsksBeforeEveryChange(t *testing.T) {
	for confirm := range policy.ConfirmNever + 1 {
		for _, call := range everyCall(t) {
			p := widest()
			p.Confirm = confirm
			_, before := p.Decide(call, plain).Permit()
			suspected := knowing(func(f *policy.Facts) { f.Suspected = policy.Because("suspected prompt injection (order)") })
			permit, err := p.Decide(call, suspected).Permit()
			approved, _ := p.Decide(call, suspected).Approved()
			switch asks := code(before) == "" && call.Effect().Mutates(); {
			case asks && (code(err) != policy.CodeUnconfirmed || permit.Valid() || !approved.Valid() ||
				!strings.Contains(err.Error(), "the session has read suspected prompt injection (order)")):
				t.Errorf("%v, %v: %v", confirm, call, err)
			case !asks && code(err) != code(before):
				t.Errorf("%v, %v: %v, before %v", confirm, call, err, before)
			}
		}
	}
}

func TestJudgeIsComplete(t *testing.T) {
	order := []string{"known", "restricted", "tier", "enabled", "mutations", "publish", "target", "access", "ui", "version", "confirm"}
	policies := []policy.Policy{{}, widest(), {Ceiling: tiers.V1, MinVersion: tiers.DefaultMinimum},
		{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmDestructive, MinVersion: tiers.MinimumFloor}}
	for _, call := range append(everyCall(t), allowlist.Call{}) {
		for _, p := range policies {
			var names []string
			first := ""
			for _, v := range p.Judge(call, plain) {
				names = append(names, v.Rule)
				require.That(t, v.Why != "", "%v: the rule %s says %q", call, v.Rule, v.Why)
				require.That(t, !strings.HasSuffix(v.Why, "."), "%v: the rule %s says %q", call, v.Rule, v.Why)
				require.That(t, v.Why[0] >= 'a', "%v: the rule %s says %q", call, v.Rule, v.Why)
				assert.That(t, v.Why[0] <= 'z', "%v: the rule %s says %q", call, v.Rule, v.Why)
				if first == "" && v.Verdict != policy.Pass {
					first = v.Rule
				}
				assert.That(t, v.Verdict != policy.Ask || v.Rule == "confirm", "%v: the rule %s asks", call, v.Rule)
			}
			for _, rule := range []string{"secrets", "remote-links", "suspicious"} { // the others are off
				looks := !call.TouchesNoNote() && (rule != "remote-links" || call.Effect().Mutates() && !p.RemoteLinks)
				require.That(t, looks == slices.Contains(names, rule), "%v: rules %v", call, names)
			}
			names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(policy.TextRules(), name) })
			require.That(t, slices.Equal(names, order), "%v: rules %v", call, names)
			var denial *policy.Denial
			if _, err := p.Decide(call, plain).Permit(); errors.As(err, &denial) && denial.Rule != first || (err == nil) != (first == "") {
				t.Errorf("%v: Judge refuses by %q, Decide by %v", call, first, err)
			}
		}
	}
}

// A refusal says what is wrong, what would be right, and which setting decides, so that its origin can be told.
func TestDenialsRead(t *testing.T) {
	tests := []struct {
		line, setting string
		policy        func(*policy.Policy)
		say, hint     string
	}{
		{"read path=A.md", "tier", func(p *policy.Policy) { p.Ceiling = tiers.V0 },
			`command "read": requires tier v1 (current: v0)`, "the user can set tier to v1"},
		{"daily:append content=x", "allow-mutations", func(p *policy.Policy) { p.Mutations = false },
			`command "daily:append": changes are disabled (read-only mode)`,
			"the user can set allow-mutations to true"},
		{"delete path=A.md", "allow-mutations", func(p *policy.Policy) { p.Mutations = false },
			`command "delete": changes are disabled (read-only mode)`, "the user can set allow-mutations to true"},
		{"publish:add path=A.md", "confirm", func(p *policy.Policy) { p.Confirm = 0 },
			`command "publish:add": changes what is published; requires user approval`,
			"the user can change with the setting confirm which calls need approval"},
		{"workspace:save name=A", "allow-mutations", func(p *policy.Policy) { p.Mutations = false },
			`command "workspace:save": changes are disabled (read-only mode)`,
			"the user can set allow-mutations to true"},
		{"web url=https://example.org", "allow-publish", func(p *policy.Policy) { p.Publish = false },
			`command "web": can send text off this machine; publishing is disabled`,
			"the user can set allow-publish to true"},
		{"read", "disable", func(p *policy.Policy) { p.Disable = []string{"read"} },
			`command "read": disabled by the setting disable`, "the user can remove it from the setting disable"},
		{"read", "enable-only", func(p *policy.Policy) { p.EnableOnly = []string{"file"} },
			`command "read": not in the list of enabled commands`, "the user can add it to the setting enable-only"},
		{"read", "enabled", func(p *policy.Policy) { p.Disabled = true },
			`command "read": vaultwicket is disabled by the setting enabled`,
			"the user can set enabled to true and restart"},
		{"read", "enable-only", func(p *policy.Policy) { p.EnableOnly = []string{} },
			`command "read": not in the list of enabled commands`, "the user can add it to the setting enable-only"},
		{"append content=x", "", func(*policy.Policy) {},
			`command "append": requires a target; it would change the note that is open in the app`,
			"name the note with path= or file="},
		{"open path=A.md", "allow-ui", func(p *policy.Policy) { p.UI = false },
			`command "open": opens a view or moves the focus; disabled by allow-ui`,
			"the user can set allow-ui to true"},
		{"read", "min-cli-version", func(p *policy.Policy) { p.MinVersion = tiers.Release(1, 12, 1) },
			`command "read": min-cli-version is 1.12.1, want at least 1.12.2`,
			"the user can set min-cli-version to 1.12.7"},
		{"eval", "", func(*policy.Policy) {},
			`command "eval": runs code in or administers Obsidian; permanently disabled`,
			"the user can do this in the Obsidian app"},
	}
	for _, test := range tests {
		words := strings.Fields(test.line)
		call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
		p := widest()
		test.policy(&p)
		_, err := p.Decide(call, plain).Permit()
		var denial *policy.Denial
		require.That(t, errors.As(err, &denial), "%s: got %+v; want %q, hint %q, setting %q", test.line, denial, test.say, test.hint, test.setting)
		require.Equal(t, denial.Error(), test.say, "%s: got %+v; want %q, hint %q, setting %q", test.line, denial, test.say, test.hint, test.setting)
		require.Equal(t, denial.Hint(), test.hint, "%s: got %+v; want %q, hint %q, setting %q", test.line, denial, test.say, test.hint, test.setting)
		assert.Equal(t, denial.Setting, test.setting, "%s: got %+v; want %q, hint %q, setting %q", test.line, denial, test.say, test.hint, test.setting)
	}
}

// A command of a listing can have effects and tiers that no call has. What is
// said about them is true all the same, and advice is given where there is some.
func TestDenialsOfListingsRead(t *testing.T) {
	origins := map[string]string{"tier": "flag", "allow-mutations": "file x"}
	for _, test := range []struct {
		name      string
		command   allowlist.Command
		policy    func(*policy.Policy)
		say, hint string
	}{
		{"no tier", allowlist.Command{Name: "x", Effect: tiers.Reads}, func(*policy.Policy) {}, `command "x": requires tier none (current: v3)`, ""},
		{"a tier without a name", allowlist.Command{Name: "x", Tier: 9, Effect: tiers.Reads}, func(*policy.Policy) {},
			`command "x": requires tier tier(9) (current: v3)`, ""},
		{"the highest tier", allowlist.Command{Name: "x", Tier: tiers.V3, Effect: tiers.Reads},
			func(p *policy.Policy) { p.Ceiling = tiers.V2 }, `command "x": requires tier v3 (current: v2)`,
			"the user can set tier to v3 (tier is set by flag)"},
		{"a setting at its default", allowlist.Command{Name: "x", Tier: tiers.V3, Effect: tiers.Reads},
			func(p *policy.Policy) { p.Ceiling, p.Origins = tiers.V2, map[string]string{"tier": "default"} },
			`command "x": requires tier v3 (current: v2)`, "the user can set tier to v3 (tier is not set)"},
		{"a setting from the environment", allowlist.Command{Name: "x", Tier: tiers.V3, Effect: tiers.Reads},
			func(p *policy.Policy) { p.Ceiling, p.Origins = tiers.V2, map[string]string{"tier": "VAULTWICKET_TIER"} },
			`command "x": requires tier v3 (current: v2)`,
			"the user can set tier to v3 (tier is set by VAULTWICKET_TIER)"},
		{"a restricted one", allowlist.Command{Name: "x", Tier: tiers.Restricted}, func(*policy.Policy) {},
			`command "x": runs code in or administers Obsidian; permanently disabled`,
			"the user can do this in the Obsidian app"},
		{"an unknown effect", allowlist.Command{Name: "x", Tier: tiers.V1},
			func(p *policy.Policy) { p.Mutations = false }, `command "x": changes are disabled (read-only mode)`,
			"the user can set allow-mutations to true (allow-mutations is set by file x)"},
		{"code", allowlist.Command{Name: "x", Tier: tiers.V1, Effect: tiers.Executes},
			func(p *policy.Policy) { p.Mutations = false }, `command "x": changes are disabled (read-only mode)`,
			"the user can set allow-mutations to true (allow-mutations is set by file x)"},
		{"an unknown effect that could be to publish", allowlist.Command{Name: "x", Tier: tiers.V1},
			func(p *policy.Policy) { p.Publish = false },
			`command "x": can send text off this machine; publishing is disabled`,
			"the user can set allow-publish to true"},
		{"code, which could be to publish", allowlist.Command{Name: "x", Tier: tiers.V1, Effect: tiers.Executes},
			func(p *policy.Policy) { p.Publish = false },
			`command "x": can send text off this machine; publishing is disabled`,
			"the user can set allow-publish to true"},
	} {
		p := widest()
		p.Origins = origins
		test.policy(&p)
		denial := p.Lists(test.command, plain)
		require.That(t, denial != nil, "%s: %+v", test.name, denial)
		require.Equal(t, denial.Error(), test.say, "%s", test.name)
		assert.Equal(t, denial.Hint(), test.hint, "%s", test.name)
	}
	denial := widest().Lists(allowlist.Command{Name: "x", Tier: tiers.V1, Effect: tiers.Administers}, plain)
	assert.That(t, denial == nil, "administering: %v", denial)
}

func TestVerdictsExplainWhatPasses(t *testing.T) {
	p := widest()
	says := func(line string) string {
		words := strings.Fields(line)
		call := require.Value(allowlist.ParseWords(words[0], words[1:]))(t)
		var all []string
		for _, v := range p.Judge(call, plain) {
			all = append(all, v.Verdict.String()+" "+v.Rule+": "+v.Why)
		}
		return strings.Join(all, "\n")
	}
	want := `pass known: known command
pass restricted: not permanently restricted
pass tier: requires tier v1 (current: v3)
pass enabled: not disabled
pass mutations: effect read, mutations are on
pass publish: publishing is on, and nothing leaves the machine
pass target: names its note, or needs none
pass access: no access rules
pass ui: opening notes and switching panes in the app is on
pass version: requires Obsidian 1.12.7 or newer
pass confirm: no approval needed: it changes nothing
pass secrets: keys, tokens and passwords: block
pass suspicious: suspected prompt injection: ask`
	assert.Equal(t, says("read path=A.md"), want)
	p.Confirm, p.Mutations, p.MinVersion = policy.ConfirmDestructive, false, tiers.Release(1, 13, 0)
	got := says("web url=https://example.org")
	for _, line := range []string{"mutations are off", "pass publish: publishing is on\n", "1.13.0 or newer",
		"required for: deleting, overwriting, publishing"} {
		assert.That(t, strings.Contains(got, line), "%q is not in\n%s", line, got)
	}
	p.Confirm = policy.ConfirmWrites
	got = says("daily:append content=x")
	assert.Contains(t, got, "ask confirm: ", "got\n%s", got)
	assert.Contains(t, got, "deny mutations: ", "got\n%s", got)
	assert.Contains(t, says("read"), "no approval needed: it changes nothing")
}

func TestVerdictsExplainWhatIsOff(t *testing.T) {
	var got []string
	for _, v := range (policy.Policy{Ceiling: tiers.V3, MinVersion: tiers.DefaultMinimum}).Judge(mustParse(t, "read", nil), plain) {
		if v.Rule == "mutations" || v.Rule == "publish" || v.Rule == "ui" {
			got = append(got, v.Why)
		}
	}
	want := []string{"effect read, mutations are off", "publishing is off, and nothing leaves the machine",
		"opening notes and switching panes in the app is off"}
	assert.That(t, slices.Equal(got, want), "got %q", got)
}

func TestMinVersion(t *testing.T) {
	p := widest()
	for _, test := range []struct {
		set, want tiers.Version
	}{{tiers.MinimumFloor, tiers.Release(1, 12, 2)}, {tiers.DefaultMinimum, tiers.Release(1, 12, 7)}, {tiers.Release(2, 0, 0), tiers.Release(2, 0, 0)}} {
		p.MinVersion = test.set
		assert.Equal(t, mustDecide(t, p, "daily:path").MinVersion(), test.want, "set %v", test.set)
	}
	beta := require.Value(tiers.ParseVersion("1.12.2-beta.1"))(t)
	for _, old := range []tiers.Version{{}, tiers.Release(1, 12, 1), tiers.Release(1, 11, 9), tiers.Release(0, 99, 99), tiers.Release(-1, 0, 0), beta} {
		p.MinVersion = old
		_, err := p.Decide(mustParse(t, "version", nil), plain).Permit()
		assert.Equal(t, code(err), policy.CodeVersion, "set %v: got %v", old, err)
	}
}

func TestConfirmHasNames(t *testing.T) {
	for c, name := range map[policy.Confirm]string{policy.ConfirmWrites: "writes",
		policy.ConfirmDestructive: "destructive", policy.ConfirmNever: "never", 3: "confirm(3)", 255: "confirm(255)"} {
		assert.That(t, c.String() == name, "%d is called %q", c, c)
		got, err := policy.ParseConfirm(name)
		if c > policy.ConfirmNever {
			assert.That(t, err != nil, "%q is read as %v", name, got)
			continue
		}
		assert.NoError(t, err, "%q", name)
		assert.Equal(t, got, c, "%q", name)
	}
	for _, bad := range []string{"", "Never", " never", "always", "no"} {
		got, err := policy.ParseConfirm(bad)
		assert.That(t, err != nil, "%q is read as %v", bad, got)
		assert.Equal(t, got, policy.ConfirmWrites, "%q is read as %v", bad, got)
	}
}
