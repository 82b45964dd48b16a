package policy

import (
	"slices"

	"vaultwicket/tiers"
)

// rules are asked in this order; the first refusal is the answer. A rule
// returns nil when it has nothing against the subject. Adding a rule means
// adding it here.
var rules = [...]rule{
	{"known", known, func(Policy, subject) string { return "is in the table" }},
	{"restricted", notRestricted, func(Policy, subject) string { return "is none of those that nothing can open" }},
	{"tier", tierOpen, func(p Policy, s subject) string {
		return "tier " + s.tier.String() + " is open up to " + p.Ceiling.String()
	}},
	{"enabled", commandEnabled, func(Policy, subject) string { return "no list of commands closes it" }},
	{"mutations", mutationsOpen, func(p Policy, s subject) string {
		return "effect " + s.effect.String() + ", mutations are " + onOff(p.Mutations)
	}},
	{"publish", publishOpen, func(p Policy, s subject) string { return "publishing is " + onOff(p.Publish) + leavesOrNot(s) }},
	{"target", targetNamed, func(Policy, subject) string { return "does not change the note that happens to be open" }},
	{"access", accessAllows, accessPasses},
	{"ui", uiOpen, func(p Policy, _ subject) string { return "moving the focus is " + onOff(p.UI) }},
	{"version", versionSet, func(p Policy, s subject) string {
		return "asks for Obsidian " + tiers.Later(p.MinVersion, s.since).String() + " or newer"
	}},
	{"confirm", confirmed, func(p Policy, s subject) string {
		return "effect " + s.effect.String() + becauseOf(s) + ", a person is asked before: " + p.Confirm.asksBefore()
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
	return deny(CodeRestricted, "", "was not made by the table", "")
}

// notRestricted refuses for good what runs code, administers the app or shows
// what is on its screen. There is no setting to look at, so that no mistake in a
// setting can open it.
func notRestricted(_ Policy, s subject) *Denial {
	if s.tier != tiers.Restricted {
		return nil
	}
	return deny(CodeRestricted, "", "runs code in the app, administers it or shows its inside, and cannot be switched on", "the user can do this in the Obsidian app")
}

func tierOpen(p Policy, s subject) *Denial {
	if p.Ceiling.Opens(s.tier) {
		return nil
	}
	return deny(CodeTierClosed, "tier", "belongs to tier "+s.tier.String()+" and the ceiling is "+p.Ceiling.String(), opensWith(s.tier))
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
		return deny(CodeDisabled, "disable", "is on the list of disabled commands", "the user can take it off the setting disable")
	}
	if len(p.EnableOnly) > 0 && !slices.Contains(p.EnableOnly, s.name) {
		return deny(CodeDisabled, "enable-only", "is not on the list of enabled commands", "the user can add it to the setting enable-only")
	}
	return nil
}

func mutationsOpen(p Policy, s subject) *Denial {
	if p.Mutations || !s.effect.Mutates() {
		return nil
	}
	return deny(CodeMutationsOff, "allow-mutations", changes(s)+" and mutations are off", "the user can set allow-mutations to true")
}

// publishOpen looks at sends besides the effect: opening a web address changes
// nothing, but the address can carry a note out.
func publishOpen(p Policy, s subject) *Denial {
	if p.Publish || !leaves(s) {
		return nil
	}
	return deny(CodeMutationsOff, "allow-publish", "can carry text off this machine and publishing is off", "the user can set allow-publish to true")
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
	return deny(CodeTargetRequired, "", "would change the note that is open in the app", "name the note with path= or file=")
}

func uiOpen(p Policy, s subject) *Denial {
	if p.UI || !s.shows {
		return nil
	}
	return deny(CodeDisabled, "allow-ui", "moves the focus or opens a view and that is switched off", "the user can set allow-ui to true")
}

// versionSet refuses when no usable minimum is set. The installed version is
// compared later by package exec, with what the permit asks for.
func versionSet(p Policy, s subject) *Denial {
	if !p.MinVersion.Before(tiers.MinimumFloor) {
		return nil
	}
	return deny(CodeVersion, "min-cli-version", "needs a minimum version of at least "+tiers.MinimumFloor.String()+", set is "+p.MinVersion.String(),
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
	return deny(CodeUnconfirmed, "confirm", changes(s)+" and nobody was asked", "the user can change with the setting confirm which calls need approval")
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
		return "changes the vault"
	case tiers.Destroys:
		return "removes or replaces what is in the vault"
	case tiers.Publishes:
		return "changes what is published"
	case tiers.Administers:
		return "changes the settings of the app"
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
