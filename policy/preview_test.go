package policy_test

import (
	"errors"
	"testing"

	"vaultwicket/policy"
)

// What a call would change may be worked out where it is allowed or a person
// could allow it, and the permit for that is good for nothing else.
func TestAPreviewIsGrantedWhereAPersonCouldSayYes(t *testing.T) {
	asking := widest()
	asking.Confirm = policy.ConfirmWrites
	shut := asking
	shut.Mutations = false
	for _, call := range everyCall(t) {
		for name, p := range map[string]policy.Policy{"open": widest(), "asking": asking, "shut": shut, "zero": {}} {
			_, err := p.Decide(call)
			var denial *policy.Denial
			want := err == nil || errors.As(err, &denial) && denial.NeedsApproval()
			preview, err := p.Preview(call)
			if preview.Valid() != want || (err == nil) != want || preview.OnlyPreviews() != want {
				t.Errorf("%s: %v: valid %v, %v", name, call, preview.Valid(), err)
			}
			if want && (preview.Call().String() != call.String() || preview.Probe().Valid() || preview.DailyPath().Valid() || preview.Locate().Valid() || preview.Exists("path", "a.md").Valid()) {
				t.Errorf("%s: %v: more than a look comes of a preview", name, call)
			}
		}
	}
	if permit := mustDecide(t, widest(), "daily:read"); permit.OnlyPreviews() {
		t.Error("a permit is only a preview")
	}
}
