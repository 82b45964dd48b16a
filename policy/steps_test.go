package policy_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Each step is granted to exactly the commands that are carried out in steps,
// only reads, and stays in the vault of the call.
func TestSteps(t *testing.T) {
	named := 0
	for _, call := range everyCall(t) {
		aimed := require.Value(call.In("Work"))(t)
		permit, err := widest().Decide(aimed, plain).Permit()
		if err != nil {
			continue
		}
		if isNamed(call) {
			named++
		}
		for _, step := range []struct {
			name    string
			permit  policy.Permit
			granted bool
			line    string
		}{
			{"Probe", permit.Probe(), true, "vault=Work version"},
			{"DailyPath", permit.DailyPath(), call.Name() == "daily:read", "vault=Work daily:path"},
			{"ReadDaily", permit.ReadDaily("Daily/2026-11-21.md"), call.Name() == "daily:read", "vault=Work read path=Daily/2026-11-21.md"},
			{"Locate", permit.Locate(), isNamed(call), "vault=Work file file=" + nameIn(call)},
			{"Exists by path", permit.Exists("path", "A/B.md"), createsNew(call), "vault=Work file path=A/B.md"},
			{"Version", permit.Version(), allowlist.RestoresVersion(call.Name()), versionLine(call)},
			{"Exists by name", permit.Exists("file", "B"), createsNew(call), "vault=Work file file=B"},
		} {
			if step.permit.Valid() != step.granted {
				t.Errorf("%v: %s granted %v", call, step.name, step.permit.Valid())
				continue
			}
			if !step.granted {
				continue
			}
			got := step.permit.Call()
			if got.String() != step.line || got.Effect() != tiers.Reads || got.Shows() || got.Sends() || got.Vault() != "Work" || got.UsesOpenNote() {
				t.Errorf("%v: %s is %v", call, step.name, got)
			}
			assert.Equal(t, step.permit.MinVersion(), permit.MinVersion(), "%v: %s asks for", call, step.name)
		}
	}
	assert.That(t, named != 0, "no call names a note")
}

// createsNew is for calls that must not replace a note that exists.
func createsNew(call allowlist.Call) bool {
	_, overwrite := call.Param("overwrite")
	return call.Name() == "create" && !overwrite
}

// versionLine is the question for the text that a call restores.
func versionLine(call allowlist.Call) string {
	asked, err := call.VersionText()
	if err != nil {
		return ""
	}
	return "vault=Work " + asked.String()
}

func isNamed(call allowlist.Call) bool { _, ok := call.Named(); return ok }

func nameIn(call allowlist.Call) string { name, _ := call.Named(); return name }

// The questions about the program and about the vault have to do with no note:
// any program may answer them, whatever the call is about. Every other step is
// confined as the call is, and goes with its rules.
func TestStepsOfACallThatIsConfined(t *testing.T) {
	p := with(widest(), placesRules(t))
	for _, test := range []struct {
		line     string
		step     func(policy.Permit) policy.Permit
		confined bool
		want     string
	}{
		{"daily:read", policy.Permit.Probe, false, "version"},
		{"daily:read", policy.Permit.VaultPath, false, "vault info=path"},
		{"daily:read", policy.Permit.DailyPath, true, "daily:path"},
		{"daily:read", func(p policy.Permit) policy.Permit { return p.ReadDaily("A.md") }, true, "read path=A.md"},
		{"create name=A", func(p policy.Permit) policy.Permit { return p.Exists("file", "A") }, true, "file file=A"},
		{"read file=A", policy.Permit.Locate, true, "file file=A"},
	} {
		permit := mustDecideWith(t, p, ignored, test.line)
		step := test.step(permit)
		if step.Call().String() != test.want || step.Confined() != test.confined || !permit.Confined() {
			t.Errorf("%s: %v, confined %v", test.line, step.Call(), step.Confined())
		}
		if step.Access() != p.Access.String() || step.Access() == "" || step.MinVersion() != permit.MinVersion() {
			t.Errorf("%s: %v goes with the rules %q and asks for %v", test.line, step.Call(), step.Access(), step.MinVersion())
		}
		zero := test.step(policy.Permit{})
		assert.That(t, !zero.Valid(), "the zero permit grants %s", test.want)
		assert.That(t, !zero.Confined(), "the zero permit grants %s", test.want)
	}
	aimed := require.Value(mustParse(t, "read", allowlist.Params{"path": allowlist.Text("A.md")}).In("Work"))(t)
	permit, err := p.Decide(aimed, plain).Permit()
	got := permit.VaultPath().Call().String()
	assert.NoError(t, err)
	assert.Equal(t, got, "vault=Work vault info=path")
}

// The path of the daily note comes from the app, so it is checked like any
// other.
func TestABadPathGivesAWorthlessPermit(t *testing.T) {
	read, create := mustDecide(t, widest(), "daily:read"), mustDecide(t, widest(), "create name=A")
	for _, path := range []string{"", "../A.md", "/A.md", ".obsidian/app.json", "A.md\nB.md", "C:/A.md", "A\x00.md", "\xff", "Error: Vault not found."} {
		assert.That(t, !read.ReadDaily(path).Valid(), "%q may be read", path)
		assert.That(t, !create.Exists("path", path).Valid(), "%q may be asked for", path)
	}
	for _, key := range []string{"", "vault", "--copy", "name", "overwrite"} {
		p := create.Exists(key, "A")
		assert.That(t, !p.Valid(), "the key %q may be sent", key)
	}
}

// What is worthless says nothing either: it goes with no rules and no version.
func TestAStepThatIsRefusedIsTheZeroPermit(t *testing.T) {
	p := with(widest(), placesRules(t))
	for _, vault := range []string{"", "Work"} { // "" is none
		call := mustParse(t, "daily:read", nil)
		if aimed, err := call.In(vault); err == nil {
			call = aimed
		}
		permit := require.Value(p.Decide(call, ignored).Permit())(t)
		for name, step := range map[string]policy.Permit{
			"a bad path": permit.ReadDaily("../A.md"), "another command": permit.Exists("path", "A.md"), "no name": permit.Locate(),
		} {
			assert.Equal(t, step, (policy.Permit{}), "in the vault %q: %s gives", vault, name)
		}
	}
}

func TestStepsOfSteps(t *testing.T) {
	permit := mustDecide(t, widest(), "daily:read").ReadDaily("A.md")
	assert.That(t, !permit.DailyPath().Valid(), "a step grants another one")
	assert.That(t, !permit.ReadDaily("B.md").Valid(), "a step grants another one")
	assert.That(t, !permit.Exists("path", "B.md").Valid(), "a step grants another one")
}

// Listings and calls agree: a command is listed when its plain form, given a
// target and a person's yes, would run.
func TestLists(t *testing.T) {
	for c := range allowlist.Commands() {
		for _, ceiling := range []tiers.Tier{tiers.None, tiers.V0, tiers.V1, tiers.V2, tiers.V3, tiers.Restricted, 255} {
			for gates := range 8 {
				for _, p := range []policy.Policy{
					{MinVersion: tiers.DefaultMinimum},
					{},
					{MinVersion: tiers.DefaultMinimum, Disable: []string{c.Name}, Confirm: policy.ConfirmNever},
					{MinVersion: tiers.DefaultMinimum, EnableOnly: []string{c.Name}, Confirm: policy.ConfirmDestructive},
				} {
					p.Ceiling, p.Mutations, p.Publish, p.UI = ceiling, gates&1 != 0, gates&2 != 0, gates&4 != 0
					asked := p
					asked.Confirm = policy.ConfirmNever
					want := wanted(asked, c.Name, c.Tier.String(), c.Effect.String(), c.Shows, c.Sends, false)
					denial := p.Lists(c, plain)
					got := ""
					if denial != nil {
						got = denial.Code()
					}
					require.Equal(t, got, want, "%s under %+v", c.Name, p)
				}
			}
		}
	}
}

func TestAllows(t *testing.T) {
	for effect := tiers.Unknown; effect <= tiers.Executes+1; effect++ {
		for gates := range 8 {
			p := policy.Policy{Mutations: gates&1 != 0, UI: gates&2 != 0}
			param := allowlist.Param{Effect: effect, Shows: gates&4 != 0}
			changes := !slices.Contains([]string{"unknown", "read", "ui"}, effect.String())
			want := (p.Mutations || !changes) && (p.UI || !param.Shows)
			assert.Equal(t, p.Allows(param), want, "%v, shows %v, under %+v", effect, param.Shows, p)
		}
	}
}

// daily:read says nothing of the note before its path is known. The path decides
// who may read it.
func TestTheDailyNoteIsJudgedByItsPath(t *testing.T) {
	permit := mustDecide(t, with(widest(), placesRules(t)), "daily:read")
	if !permit.Confined() || !permit.DailyPath().Confined() || !permit.Guarded() || permit.Probe().Guarded() {
		t.Errorf("confined %v, its path %v, guarded %v", permit.Confined(), permit.DailyPath().Confined(), permit.Guarded())
	}
	for path, confined := range map[string]bool{"A.md": false, "Read/A.md": false, "Hidden/A.md": true, "hidden/a.md": true} {
		step := permit.ReadDaily(path)
		assert.That(t, step.Valid(), "%s: want %v", path, confined)
		assert.Equal(t, step.Confined(), confined, "%s", path)
		assert.That(t, step.Guarded(), "%s: want %v", path, confined)
	}
	ignoring := mustDecideWith(t, widest(), ignored, "daily:read")
	assert.That(t, ignoring.ReadDaily("A.md").Confined(), "with an ignore file any note may be hidden")
	assert.That(t, ignoring.Guarded(), "with an ignore file any note may be hidden")
}

// What a call would change may be worked out where it is allowed or approval by the
// user is all that is missing. That nothing else can be done with a preview, the
// compiler says, see testdata/forgery/preview.go.
func TestAPreviewIsGrantedWhereApprovalCouldFollow(t *testing.T) {
	asking := widest()
	asking.Confirm = policy.ConfirmWrites
	readOnly := asking
	readOnly.Mutations = false
	granted := 0
	for _, call := range everyCall(t) {
		for name, p := range map[string]policy.Policy{"widest": widest(), "asking": asking, "read-only": readOnly, "zero": {}} {
			decision := p.Decide(call, plain)
			_, err := decision.Permit()
			var denial *policy.Denial
			want := err == nil || errors.As(err, &denial) && denial.NeedsApproval()
			preview := decision.Preview()
			assert.Equal(t, preview.Valid(), want, "%s: %v: valid", name, call)
			approved, err := decision.Approved()
			assert.Equal(t, approved.Valid(), want, "%s: %v: %v", name, call, err)
			assert.Equal(t, err == nil, want, "%s: %v: %v", name, call, err)
			assert.That(t, !want || preview.Call().String() == call.String(), "%s: %v: the preview is of %v", name, call, preview.Call())
			if want {
				granted++
			}
		}
	}
	assert.That(t, granted != 0, "no call has a preview")
}

func TestADecisionInAVaultIsTheSame(t *testing.T) {
	asking := widest()
	asking.Confirm = policy.ConfirmWrites
	for _, call := range everyCall(t) {
		for name, p := range map[string]policy.Policy{
			"widest": widest(), "asking": asking, "zero": {}, "rules": with(asking, placesRules(t)), "ignoring": with(asking, placesRules(t)),
		} {
			facts := plain
			if name == "ignoring" {
				facts = ignored
			}
			decision := require.Value(p.Decide(call, facts).In("Work"))(t)
			inVault := require.Value(call.In("Work"))(t)
			want := p.Decide(inVault, facts)
			permit, err := decision.Permit()
			wanted, wantedErr := want.Permit()
			if code(err) != code(wantedErr) || permit.Valid() != wanted.Valid() || decision.Preview().Valid() != want.Preview().Valid() {
				t.Fatalf("%s: %v: %v, want %v", name, inVault, err, wantedErr)
			}
			for _, got := range []struct{ got, want policy.Grant }{{permit, wanted}, {decision.Preview(), want.Preview()}} {
				if got.got.Call().String() != got.want.Call().String() || got.got.Access() != got.want.Access() ||
					got.got.Confined() != got.want.Confined() || got.got.Guarded() != got.want.Guarded() {
					t.Fatalf("%s: %v is granted as %+v", name, inVault, got.got)
				}
			}
			require.That(t, decision.Call().String() == inVault.String(), "%s: the decision is about %v", name, decision.Call())
		}
	}
	for _, vault := range []string{"", "A\nB", "A\x00"} {
		decision, err := widest().Decide(mustParse(t, "tags", nil), plain).In(vault)
		assert.That(t, err != nil, "the vault %q is taken", vault)
		assert.That(t, !decision.Preview().Valid(), "the vault %q is taken", vault)
		assert.That(t, !decision.Call().Valid(), "the vault %q is taken", vault)
	}
}

func TestTheZeroDecisionGrantsNothing(t *testing.T) {
	var d policy.Decision
	permit, err := d.Permit()
	approved, approvedErr := d.Approved()
	assert.That(t, !permit.Valid(), "the zero decision grants something: %+v", d)
	assert.That(t, !approved.Valid(), "the zero decision grants something: %+v", d)
	assert.That(t, !d.Preview().Valid(), "the zero decision grants something: %+v", d)
	assert.That(t, !d.Call().Valid(), "the zero decision grants something: %+v", d)
	for _, err := range []error{err, approvedErr, d.Err()} {
		assert.That(t, code(err) == policy.CodeRestricted, "got %v", err)
	}
	inVault, err := d.In("Work")
	_, denied := inVault.Permit()
	require.Equal(t, err, nil, "in a vault it grants something")
	require.Equal(t, code(denied), policy.CodeRestricted, "in a vault it grants something")
	assert.That(t, !inVault.Preview().Valid(), "in a vault it grants something: %v", err)
	for _, g := range []policy.Grant{policy.Permit{}, policy.Preview{}} {
		assert.That(t, !g.Valid(), "%T: the zero value grants something", g)
		assert.That(t, !g.Call().Valid(), "%T: the zero value grants something", g)
		assert.Equal(t, g.Access(), "", "%T: the zero value grants something", g)
		assert.That(t, !g.Confined(), "%T: the zero value grants something", g)
		assert.That(t, !g.Guarded(), "%T: the zero value grants something", g)
	}
}
