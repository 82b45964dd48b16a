package policy

import "fmt"

// The codes of a [Denial].
const (
	CodeTierClosed     = "tier_closed"
	CodeRestricted     = "restricted_command"
	CodeDisabled       = "command_disabled"
	CodeMutationsOff   = "mutations_off"
	CodeUnconfirmed    = "unconfirmed"
	CodeTargetRequired = "target_required"
	CodeVersion        = "cli_too_old"
	CodeAccess         = "access_denied"
)

// Denial says which rule refused a call.
type Denial struct {
	code    string
	Rule    string // the name of the rule, as in a dry run
	Command string
	Reason  string // lower case, no full stop
	// Setting is the name of the setting that decides, "" if none does.
	Setting string
	hint    string
	origin  string
}

// Code returns one of the Code constants of this package.
func (d *Denial) Code() string { return d.code }

// Hint says how a person, not the model, can change the answer, and where the
// setting that decided comes from; "" when nobody can.
func (d *Denial) Hint() string {
	if d.origin == "" || d.hint == "" {
		return d.hint
	}
	if d.origin == originDefault {
		return d.hint + " (" + d.Setting + " is not set)"
	}
	return d.hint + " (" + d.Setting + " is set by " + d.origin + ")"
}

// originDefault is the origin of a setting that nobody set.
const originDefault = "default"

// NeedsApproval reports whether approval by the user would lift the denial.
func (d *Denial) NeedsApproval() bool { return d.code == CodeUnconfirmed }

// RefusedBy returns the name of the rule, for packages that do not know policies.
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

// Verdict is what a rule says about a call.
type Verdict uint8

const (
	// Deny is the zero value.
	Deny Verdict = iota
	// Ask requires approval by the user.
	Ask
	// Pass does not object to the call.
	Pass
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
