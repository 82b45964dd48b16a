// The control compiles. It does what everybody may do, so that the errors in
// the other files come from the forgery and not from the surroundings.
package forgery

import (
	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

var (
	zeroPermit   policy.Permit
	zeroCall     allowlist.Call
	zeroPreview  policy.Preview
	zeroDecision policy.Decision
	zeroGrant    policy.Grant = zeroPermit
	emptyOne                  = policy.Permit{}
)

func honest() (policy.Permit, error) {
	call, err := allowlist.Parse("read", allowlist.Params{"path": allowlist.Text("A.md")})
	if err != nil {
		return policy.Permit{}, err
	}
	return policy.Policy{Ceiling: tiers.V1, MinVersion: tiers.DefaultMinimum}.Decide(call, policy.Facts{}).Permit()
}
