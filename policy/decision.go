package policy

import (
	"fmt"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// The codes of a [Denial].
const (
	CodeTierClosed     = "tier_closed"
	CodeRestricted     = "restricted_command" // always denied
	CodeDisabled       = "command_disabled"   // the settings disable the command
	CodeMutationsOff   = "mutations_off"
	CodeUnconfirmed    = "unconfirmed"
	CodeTargetRequired = "target_required"
	CodeVersion        = "cli_too_old"
	CodeAccess         = "access_denied"
	CodeAgent          = "agent_denied"
	CodeScope          = "insufficient_scope"
)

// Denial says which rule denied a call.
type Denial struct {
	code    string
	Rule    string // the name of the rule, as in a dry run
	Command string
	Reason  string // lower case, no full stop
	Setting string // the name of the setting that decides, "" if none does
	Scope   Scope  // the scope that the access token of the request lacks, ScopeNone if the denial has another cause
	hint    string // how the user can allow the call, "" if it cannot be allowed
	origin  string // where the setting comes from, "" if no setting decides
}

// Code returns one of the Code constants of this package.
func (d *Denial) Code() string { return d.code }

// Hint says how the user can allow the call, and where the setting that decided comes from; "" if it cannot be allowed.
func (d *Denial) Hint() string {
	if d.origin == "" || d.hint == "" {
		return d.hint
	}
	switch d.origin {
	case originDefault:
		return d.hint + " (" + d.Setting + " is not set)"
	case OriginManaged:
		return "the administrator of this machine can change " + d.Setting + ", which is set by " + d.origin
	}
	return d.hint + " (" + d.Setting + " is set by " + d.origin + ")"
}

const (
	// originDefault is the origin of a setting that is not set.
	originDefault = "default"
	// OriginManaged is the origin of a setting that the administrator of the machine has limited.
	OriginManaged = "managed settings"
)

// NeedsApproval reports whether the call is only denied because the user has not approved it.
func (d *Denial) NeedsApproval() bool { return d.code == CodeUnconfirmed }

// RefusedBy returns the name of the rule, for packages that do not import this one.
func (d *Denial) RefusedBy() string { return d.Rule }

func (d *Denial) Error() string { return fmt.Sprintf("command %q: %s", d.Command, d.Reason) }

func deny(code, setting, reason, hint string) *Denial {
	return &Denial{code: code, Setting: setting, Reason: reason, hint: hint}
}

// RuleVerdict is the verdict of one rule on a call, and why.
type RuleVerdict struct {
	Rule    string
	Verdict Verdict
	Why     string
	denial  *Denial
}

// Verdict is the result of a rule for a call.
type Verdict uint8

const (
	Deny Verdict = iota // the zero value
	Ask                 // requires approval by the user
	Pass                // does not object to the call
)

// String returns "deny", "ask" or "pass".
func (v Verdict) String() string {
	switch v {
	case Ask:
		return "ask"
	case Pass:
		return "pass"
	}
	return "deny"
}

// Decision says whether one call may be run, whether it may be run once the user approves it, and whether its
// change may be previewed. Only [Policy.Decide] makes one. The zero Decision denies the zero Call.
type Decision struct {
	call   allowlist.Call
	denial *Denial
	grant  *grant // what the permit of the call contains; nil if the call is denied even with approval
}

// Decide checks call and the facts about it against the rules. Every decision is made by it, or by [Policy.Judge] and
// [Policy.Lists], which apply the same rules.
func (p Policy) Decide(call allowlist.Call, facts Facts) Decision {
	p = p.Under(facts)
	d := Decision{call: call}
	s := subjectOf(call, facts)
	for _, rule := range rules {
		d.denial = rule.refuse(p, s)
		if d.denial != nil {
			break
		}
	}
	if d.denial == nil || d.denial.NeedsApproval() { // the rules that require approval come last
		d.grant = &grant{
			call:     call,
			minimum:  tiers.Later(p.MinVersion, call.Since()),
			access:   p.EnforcedAccess().String(),
			confined: p.confines(call, facts),
			policy:   p,
			facts:    facts,
		}
	}
	return d
}

// In returns the same decision for the call in a vault, given by name or id: no rule looks at the vault. The error is a
// [*allowlist.ParseError] if vault is not a valid argument.
func (d Decision) In(vault string) (Decision, error) {
	call, err := d.call.In(vault)
	if err != nil {
		return Decision{}, err
	}
	d.call = call
	if d.grant != nil {
		inVault := *d.grant
		inVault.call = call
		d.grant = &inVault
	}
	return d, nil
}

// Call returns the call, whatever the decision.
func (d Decision) Call() allowlist.Call { return d.call }

// Err returns nil if the call may be run without approval, otherwise the [*Denial].
func (d Decision) Err() error {
	if denial := d.denied(); denial != nil {
		return denial
	}
	return nil
}

// Permit returns the permit to run the call. The error is a [*Denial]; a call that requires approval is denied with
// CodeUnconfirmed.
func (d Decision) Permit() (Permit, error) {
	if denial := d.denied(); denial != nil {
		return Permit{}, denial
	}
	return Permit{d.grant}, nil
}

// Approved is [Decision.Permit] for a call that the user approved. Approval does not lift any other denial.
func (d Decision) Approved() (Permit, error) {
	if denial := d.denied(); denial != nil && !denial.NeedsApproval() {
		return Permit{}, denial
	}
	return Permit{d.grant}, nil
}

// Preview returns the permit to compute the change of the call without making it. It is granted if the call may be run,
// and also if only the approval is missing, because the user has to see what to approve. Otherwise it is the zero
// Preview.
func (d Decision) Preview() Preview { return Preview{grant: d.grant} }

// denied returns the denial, nil for a call that may be run without approval.
func (d Decision) denied() *Denial {
	if d.denial == nil && d.grant == nil {
		return deny(CodeRestricted, "", "was judged by no policy", "")
	}
	return d.denial
}
