package policy_test

import (
	"errors"
	"testing"

	"vaultwicket/policy"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

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
			decision := p.Decide(call)
			_, err := decision.Permit()
			var denial *policy.Denial
			want := err == nil || errors.As(err, &denial) && denial.NeedsApproval()
			preview := decision.Preview()
			assert.Equal(t, preview.Valid(), want, "%s: %v: valid", name, call)
			approved, err := decision.Approved()
			if approved.Valid() != want || (err == nil) != want {
				t.Errorf("%s: %v: approved %v, %v", name, call, approved.Valid(), err)
			}
			assert.That(t, !want || preview.Call().String() == call.String(), "%s: %v: the preview is of %v", name, call, preview.Call())
			if want {
				granted++
			}
		}
	}
	assert.That(t, granted != 0, "no call has a preview")
}

// A decision says the same about a call in a vault as about the call itself, and is
// about the call in that vault.
func TestADecisionInAVaultIsTheSame(t *testing.T) {
	asking := widest()
	asking.Confirm = policy.ConfirmWrites
	for _, call := range everyCall(t) {
		for name, p := range map[string]policy.Policy{
			"widest": widest(), "asking": asking, "zero": {}, "rules": with(asking, placesRules(t), false), "ignoring": with(asking, placesRules(t), true),
		} {
			decision, err := p.Decide(call).In("Work")
			require.NoError(t, err)
			inVault, err := call.In("Work")
			require.NoError(t, err)
			want := p.Decide(inVault)
			permit, err := decision.Permit()
			wanted, wantedErr := want.Permit()
			if code(err) != code(wantedErr) || permit.Valid() != wanted.Valid() || decision.Preview().Valid() != want.Preview().Valid() {
				t.Fatalf("%s: %v: %v, want %v", name, inVault, err, wantedErr)
			}
			for _, got := range []struct{ got, want policy.Grant }{{permit, wanted}, {decision.Preview(), want.Preview()}} {
				if got.got.Call().String() != got.want.Call().String() || got.got.Access() != got.want.Access() || got.got.Confined() != got.want.Confined() || got.got.Guarded() != got.want.Guarded() {
					t.Fatalf("%s: %v is granted as %+v", name, inVault, got.got)
				}
			}
			require.That(t, decision.Call().String() == inVault.String(), "%s: the decision is about %v", name, decision.Call())
		}
	}
	for _, vault := range []string{"", "A\nB", "A\x00"} {
		if decision, err := widest().Decide(mustParse(t, "tags", nil)).In(vault); err == nil || decision.Preview().Valid() || decision.Call().Valid() {
			t.Errorf("the vault %q is taken", vault)
		}
	}
}

func TestTheZeroDecisionGrantsNothing(t *testing.T) {
	var d policy.Decision
	permit, err := d.Permit()
	approved, approvedErr := d.Approved()
	assert.That(t, !permit.Valid() && !approved.Valid() && !d.Preview().Valid() && !d.Call().Valid(), "the zero decision grants something: %+v", d)
	for _, err := range []error{err, approvedErr, d.Err()} {
		assert.That(t, code(err) == policy.CodeRestricted, "got %v", err)
	}
	inVault, err := d.In("Work")
	if _, denied := inVault.Permit(); err != nil || code(denied) != policy.CodeRestricted || inVault.Preview().Valid() {
		t.Errorf("in a vault it grants something: %v", err)
	}
	for _, g := range []policy.Grant{policy.Permit{}, policy.Preview{}} {
		assert.That(t, !g.Valid() && !g.Call().Valid() && g.Access() == "" && !g.Confined() && !g.Guarded(), "%T: the zero value grants something", g)
	}
}
