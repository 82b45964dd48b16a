package policy

import (
	"slices"

	"vaultwicket/allowlist"
	"vaultwicket/tiers"
)

// rules are asked in this order; the first refusal is the answer. A rule
// returns nil when it has nothing against the subject. Adding a rule means
// adding it here.
var rules = [...]rule{
	{"known", known, func(Policy, subject) string { return "known command" }},
	{"restricted", notRestricted, func(Policy, subject) string { return "not permanently restricted" }},
	{"tier", tierOpen, func(p Policy, s subject) string {
		return tierRequired(p, s)
	}},
	{"enabled", commandEnabled, func(Policy, subject) string { return "not disabled" }},
	{"mutations", mutationsOpen, func(p Policy, s subject) string {
		return "effect " + s.effect.String() + ", mutations are " + onOff(p.Mutations)
	}},
	{"publish", publishOpen, func(p Policy, s subject) string { return "publishing is " + onOff(p.Publish) + leavesOrNot(s) }},
	{"target", targetNamed, func(Policy, subject) string { return "target is explicit or not needed" }},
	{"access", accessAllows, accessPasses},
	{"ui", uiOpen, func(p Policy, _ subject) string { return "moving the focus is " + onOff(p.UI) }},
	{"version", versionSet, func(p Policy, s subject) string {
		return "requires Obsidian " + tiers.Later(p.MinVersion, s.since).String() + " or newer"
	}},
	{"confirm", confirmed, func(p Policy, s subject) string {
		return "effect " + s.effect.String() + becauseOf(s) + ", requires approval: " + p.Confirm.asksBefore()
	}},
}

// rule is one reason to refuse, with the name it has in a dry run and what it
// says when it has nothing against a call.
type rule struct {
	name  string
	check func(Policy, subject) *Denial
	pass  func(Policy, subject) string
}

// refuse returns what the rule has against s, nil when it has nothing.
func (r rule) refuse(p Policy, s subject) *Denial {
	denial := r.check(p, s)
	if denial != nil {
		denial.Rule, denial.Command, denial.origin = r.name, s.name, p.Origins[denial.Setting]
	}
	return denial
}

func (r rule) judge(p Policy, s subject) RuleVerdict {
	denial := r.refuse(p, s)
	switch {
	case denial == nil:
		return RuleVerdict{Rule: r.name, Verdict: Pass, Why: r.pass(p, s)}
	case denial.NeedsApproval():
		return RuleVerdict{Rule: r.name, Verdict: Ask, Why: denial.Reason, denial: denial}
	}
	return RuleVerdict{Rule: r.name, Verdict: Deny, Why: denial.Reason, denial: denial}
}

// known refuses the zero call, which no table row stands behind.
func known(_ Policy, s subject) *Denial {
	if s.valid {
		return nil
	}
	return deny(CodeRestricted, "", "not a call of a known command", "")
}

// notRestricted refuses for good what runs code, administers the app or shows
// what is on its screen. There is no setting to look at, so that no mistake in a
// setting can open it.
func notRestricted(_ Policy, s subject) *Denial {
	if s.tier != tiers.Restricted {
		return nil
	}
	return deny(CodeRestricted, "", "runs code in or administers Obsidian; permanently disabled", "the user can do this in the Obsidian app")
}

func tierOpen(p Policy, s subject) *Denial {
	if p.Ceiling.Opens(s.tier) {
		return nil
	}
	return deny(CodeTierClosed, "tier", tierRequired(p, s), opensWith(s.tier))
}

// tierRequired says which tier the subject requires and which is enabled.
func tierRequired(p Policy, s subject) string {
	return "requires tier " + s.tier.String() + " (current: " + p.Ceiling.String() + ")"
}

// opensWith names the setting that opens a tier, "" where none does.
func opensWith(t tiers.Tier) string {
	if !tiers.V3.Opens(t) {
		return ""
	}
	return "the user can set tier to " + t.String()
}

func commandEnabled(p Policy, s subject) *Denial {
	if slices.Contains(p.Disable, s.name) {
		return deny(CodeDisabled, "disable", "disabled by the setting disable", "the user can remove it from the setting disable")
	}
	if len(p.EnableOnly) > 0 && !slices.Contains(p.EnableOnly, s.name) {
		return deny(CodeDisabled, "enable-only", "not in the list of enabled commands", "the user can add it to the setting enable-only")
	}
	return nil
}

func mutationsOpen(p Policy, s subject) *Denial {
	if p.Mutations || !s.effect.Mutates() {
		return nil
	}
	return deny(CodeMutationsOff, "allow-mutations", "changes are disabled (read-only mode)", "the user can set allow-mutations to true")
}

// publishOpen looks at sends besides the effect: opening a web address changes
// nothing, but the address can carry a note out.
func publishOpen(p Policy, s subject) *Denial {
	if p.Publish || !leaves(s) {
		return nil
	}
	return deny(CodeMutationsOff, "allow-publish", "can send text off this machine; publishing is disabled", "the user can set allow-publish to true")
}

// leaves counts whatever is worse than publishing too, but for administering:
// saving a layout of panes sends nothing anywhere.
func leaves(s subject) bool {
	return s.sends || s.effect.WorseThan(tiers.Destroys) && s.effect != tiers.Administers
}

// targetNamed refuses a change to whatever note the person happens to have
// open: the caller cannot know which one that is.
func targetNamed(_ Policy, s subject) *Denial {
	if !s.fallsBack || !s.effect.Mutates() {
		return nil
	}
	hint := "name the note with path= or file="
	if c, err := allowlist.Describe(s.name); err == nil && slices.ContainsFunc(c.Params, func(p allowlist.Param) bool { return p.Name == "daily" }) {
		hint += ", or give daily for the daily note of today"
	}
	return deny(CodeTargetRequired, "", "requires a target; it would change the note that is open in the app", hint)
}

func uiOpen(p Policy, s subject) *Denial {
	if p.UI || !s.shows {
		return nil
	}
	return deny(CodeDisabled, "allow-ui", "opens a view or moves the focus; disabled by allow-ui", "the user can set allow-ui to true")
}

// versionSet refuses when no usable minimum is set. The installed version is
// compared later by package exec, with what the permit asks for.
func versionSet(p Policy, s subject) *Denial {
	if !p.MinVersion.Before(tiers.MinimumFloor) {
		return nil
	}
	return deny(CodeVersion, "min-cli-version", "min-cli-version is "+p.MinVersion.String()+", want at least "+tiers.MinimumFloor.String(),
		"the user can set min-cli-version to "+tiers.DefaultMinimum.String())
}

func confirmed(p Policy, s subject) *Denial {
	switch p.Confirm {
	case ConfirmNever:
		return nil
	case ConfirmDestructive:
		if !s.effect.WorseThan(tiers.Writes) {
			return nil
		}
	default:
		if !s.effect.Mutates() {
			return nil
		}
	}
	return deny(CodeUnconfirmed, "confirm", changes(s)+"; requires user approval", "the user can change with the setting confirm which calls need approval")
}

// becauseOf says why the effect is worse than that of the command.
func becauseOf(s subject) string {
	if s.loses == "" {
		return ""
	}
	return " (it " + s.loses + ")"
}

// changes says what the subject does to the vault, for messages.
func changes(s subject) string {
	if s.loses != "" {
		return s.loses
	}
	switch s.effect {
	case tiers.Writes:
		return "changes notes"
	case tiers.Destroys:
		return "deletes or overwrites notes"
	case tiers.Publishes:
		return "changes what is published"
	case tiers.Administers:
		return "changes app settings"
	}
	return "has the effect " + s.effect.String()
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func leavesOrNot(s subject) string {
	if leaves(s) {
		return ""
	}
	return ", and nothing leaves the machine"
}
