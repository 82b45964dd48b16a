package policy_test

import (
	"slices"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// Each step is granted to exactly the commands that are carried out in steps,
// only reads, and stays in the vault of the call.
func TestSteps(t *testing.T) {
	named := 0
	daily := []string{"daily", "daily:append", "daily:prepend", "daily:read"}
	for _, call := range everyCall(t) {
		aimed, err := call.In("Work")
		if err != nil {
			t.Fatal(err)
		}
		permit, err := widest().Decide(aimed)
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
			{"DailyPath", permit.DailyPath(), slices.Contains(daily, call.Name()), "vault=Work daily:path"},
			{"ReadDaily", permit.ReadDaily("Daily/2026-11-21.md"), call.Name() == "daily:read", "vault=Work read path=Daily/2026-11-21.md"},
			{"Locate", permit.Locate(), isNamed(call), "vault=Work file file=" + nameIn(call)},
			{"Exists by path", permit.Exists("path", "A/B.md"), call.Name() == "create", "vault=Work file path=A/B.md"},
			{"Exists by name", permit.Exists("file", "B"), call.Name() == "create", "vault=Work file file=B"},
		} {
			if step.permit.Valid() != step.granted {
				t.Errorf("%v: %s granted %v", call, step.name, step.permit.Valid())
				continue
			}
			if !step.granted {
				continue
			}
			got := step.permit.Call()
			if got.String() != step.line || got.Effect() != tiers.Reads || got.Shows() || got.Sends() || got.Vault() != "Work" || got.FallsBack() {
				t.Errorf("%v: %s is %v", call, step.name, got)
			}
			if step.permit.MinVersion() != permit.MinVersion() {
				t.Errorf("%v: %s asks for %v", call, step.name, step.permit.MinVersion())
			}
		}
	}
	if named == 0 {
		t.Error("no call names a note")
	}
}

func isNamed(call allowlist.Call) bool { _, ok := call.Named(); return ok }

func nameIn(call allowlist.Call) string { name, _ := call.Named(); return name }

func TestStepsWithoutAVault(t *testing.T) {
	permit := mustDecide(t, widest(), "daily:read")
	if got := permit.DailyPath().Call().String(); got != "daily:path" {
		t.Errorf("got %s", got)
	}
}

// The path of the daily note comes from the app, so it is checked like any
// other.
func TestABadPathGivesAWorthlessPermit(t *testing.T) {
	read, create := mustDecide(t, widest(), "daily:read"), mustDecide(t, widest(), "create name=A")
	for _, path := range []string{"", "../A.md", "/A.md", ".obsidian/app.json", "A.md\nB.md", "C:/A.md", "A\x00.md", "\xff", "Error: Vault not found."} {
		if p := read.ReadDaily(path); p.Valid() {
			t.Errorf("%q may be read", path)
		}
		if p := create.Exists("path", path); p.Valid() {
			t.Errorf("%q may be asked for", path)
		}
	}
	for _, key := range []string{"", "vault", "--copy", "name", "overwrite"} {
		if p := create.Exists(key, "A"); p.Valid() {
			t.Errorf("the key %q may be sent", key)
		}
	}
}

// A step cannot grow: what it derives is granted for its own command only.
func TestStepsOfSteps(t *testing.T) {
	permit := mustDecide(t, widest(), "daily:read").ReadDaily("A.md")
	if permit.DailyPath().Valid() || permit.ReadDaily("B.md").Valid() || permit.Exists("path", "B.md").Valid() {
		t.Error("a step grants another one")
	}
}

// Listings and calls agree: a command is listed when its plain form, given a
// target and a person's yes, would run.
func TestLists(t *testing.T) {
	for _, c := range allowlist.Commands() {
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
					denial := p.Lists(c)
					got := ""
					if denial != nil {
						got = denial.Code()
					}
					if got != want {
						t.Fatalf("%s under %+v: got %q, want %q", c.Name, p, got, want)
					}
				}
			}
		}
	}
}

func TestAllows(t *testing.T) {
	for _, c := range allowlist.Commands() {
		for _, param := range c.Params {
			changes := !slices.Contains([]string{"unknown", "read", "ui"}, param.Effect.String())
			for gates := range 4 {
				p := policy.Policy{Mutations: gates&1 != 0, UI: gates&2 != 0}
				want := (p.Mutations || !changes) && (p.UI || !param.Shows)
				if got := p.Allows(param); got != want {
					t.Errorf("%s %s under %+v: %v", c.Name, param.Name, p, got)
				}
			}
		}
	}
}
