package policy

import (
	"vaultwicket/allowlist"
	"vaultwicket/tiers"
)

// Decision is what a policy says of one call: whether it may be run, whether it may be
// run once the user approves it, and whether what it would change may be worked out.
// Only [Policy.Decide] makes one. The zero Decision denies the zero Call.
type Decision struct {
	call   allowlist.Call
	denial *Denial
	// grant is what there is to grant, nil where approval would not be enough.
	grant *grant
}

// Decide holds call against the rules, once.
func (p Policy) Decide(call allowlist.Call) Decision {
	d := Decision{call: call, denial: p.firstDenial(subjectOf(call))}
	if d.denial == nil || d.denial.NeedsApproval() { // the rule that requires approval is the last
		d.grant = &grant{
			call: call, minimum: tiers.Later(p.MinVersion, call.Since()),
			access: p.Access.String(), confined: p.confines(call), by: p,
		}
	}
	return d
}

// In returns the same decision about the call in a vault, by its name or id: no rule
// looks at the vault. The error is a [*allowlist.ParseError].
func (d Decision) In(vault string) (Decision, error) {
	call, err := d.call.In(vault)
	if err != nil {
		return Decision{}, err
	}
	d.call = call
	if d.grant != nil {
		inVault := *d.grant
		inVault.call, d.grant = call, &inVault
	}
	return d, nil
}

// Call returns the call that was decided about, whatever the decision.
func (d Decision) Call() allowlist.Call { return d.call }

// Err returns nil if the call may be run as it is, else the [*Denial].
func (d Decision) Err() error {
	if denial := d.denied(); denial != nil {
		return denial
	}
	return nil
}

// Permit returns the permit to run the call, or the [*Denial]. A call that requires
// approval is denied with CodeUnconfirmed.
func (d Decision) Permit() (Permit, error) {
	if denial := d.denied(); denial != nil {
		return Permit{}, denial
	}
	return Permit{d.grant}, nil
}

// Approved is Permit for a call that the user approved: approval lifts no other rule.
func (d Decision) Approved() (Permit, error) {
	if denial := d.denied(); denial != nil && !denial.NeedsApproval() {
		return Permit{}, denial
	}
	return Permit{d.grant}, nil
}

// Preview returns what lets the change of the call be worked out. It is granted where
// the call is, and where approval is all that is missing: the user has to see what the
// approval is about. Otherwise it is the zero Preview.
func (d Decision) Preview() Preview { return Preview{grant: d.grant} }

// denied returns the denial, nil for a call that may be run as it is.
func (d Decision) denied() *Denial {
	if d.denial == nil && d.grant == nil {
		return deny(CodeRestricted, "", "was judged by no policy", "")
	}
	return d.denial
}
