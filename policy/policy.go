// Package policy answers one question: may this session do this call?
//
// [Policy.Decide] holds a call against an ordered list of rules. The first rule
// that refuses gives the answer; if none does and a person need not be asked,
// the answer is a [Permit], the only thing with which package exec starts a
// process. Nothing else makes a Permit, and the zero Policy grants none.
package policy

import (
	"fmt"

	"vaultwicket/allowlist"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
)

// Policy is what a person has opened. It is plain data so that settings can be
// laid over it; the zero value opens nothing and asks about every change.
type Policy struct {
	// Ceiling is the highest tier that is open.
	Ceiling tiers.Tier
	// Mutations opens calls that change something.
	Mutations bool
	// Publish opens, besides Mutations, what leaves the machine.
	Publish bool
	// UI opens calls that move the focus or open a view.
	UI bool
	// Confirm says before which changes a person has to be asked.
	Confirm Confirm
	// Disable closes single commands; EnableOnly, when it is not empty, closes
	// all others. Neither opens anything.
	Disable, EnableOnly []string
	// Access says what may be done with which note. Ignores says that the vault
	// has a file of patterns that hides more.
	Access  access.Rules
	Ignores bool
	// Origins says for people where a setting comes from, by its name.
	Origins map[string]string
	// MinVersion is the oldest app that is used. Below tiers.MinimumFloor the
	// policy grants nothing.
	MinVersion tiers.Version
}

// Confirm says before which changes a person has to be asked.
type Confirm uint8

const (
	// ConfirmWrites asks before every change. It is the zero value.
	ConfirmWrites Confirm = iota
	// ConfirmDestructive asks before what removes, replaces or publishes.
	ConfirmDestructive
	// ConfirmNever asks before nothing.
	ConfirmNever
)

var confirmNames = [...]string{ConfirmWrites: "writes", ConfirmDestructive: "destructive", ConfirmNever: "never"}

// String returns the name used in settings.
func (c Confirm) String() string {
	if int(c) < len(confirmNames) {
		return confirmNames[c]
	}
	return fmt.Sprintf("confirm(%d)", uint8(c))
}

// asksBefore names in a dry run what a person is asked about.
func (c Confirm) asksBefore() string {
	switch c {
	case ConfirmNever:
		return "nothing"
	case ConfirmDestructive:
		return "deleting, overwriting, publishing"
	}
	return "every change"
}

// ParseConfirm reads "never", "destructive" or "writes".
func ParseConfirm(s string) (Confirm, error) {
	for i, name := range confirmNames {
		if name == s {
			return Confirm(i), nil
		}
	}
	return ConfirmWrites, fmt.Errorf("invalid value %q for confirm: want never, destructive or writes", s)
}

// firstDenial asks the rules until one refuses.
func (p Policy) firstDenial(s subject) *Denial {
	for _, rule := range rules {
		if denial := rule.refuse(p, s); denial != nil {
			return denial
		}
	}
	return nil
}

// Judge returns the verdict of every rule, in order, the ones behind a refusal
// too: a dry run shows them all.
func (p Policy) Judge(call allowlist.Call) []RuleVerdict {
	return p.judge(subjectOf(call))
}

// Lists reports whether the plain form of a command is open, and if not, which
// rule closes it. It is what listings are made of; it grants nothing.
func (p Policy) Lists(command allowlist.Command) *Denial {
	s := subject{
		valid: true, name: command.Name, tier: command.Tier, effect: command.Effect,
		shows: command.Shows, sends: command.Sends, since: command.Since,
	}
	for _, rule := range rules {
		if denial := rule.refuse(p, s); denial != nil && !denial.NeedsApproval() {
			return denial
		}
	}
	return nil
}

// Allows reports whether a parameter of a listed command is open.
func (p Policy) Allows(param allowlist.Param) bool {
	changes := param.Effect != tiers.Unknown && param.Effect.Mutates()
	return (!changes || p.Mutations) && (!param.Shows || p.UI)
}

func (p Policy) judge(s subject) []RuleVerdict {
	verdicts := make([]RuleVerdict, 0, len(rules))
	for _, rule := range rules {
		verdicts = append(verdicts, rule.judge(p, s))
	}
	return verdicts
}

// subject is what the rules look at: a call, or the plain form of a command.
type subject struct {
	valid                   bool
	name                    string
	tier                    tiers.Tier
	effect                  tiers.Effect
	loses                   string // what the call would remove, where that makes it destructive
	shows, sends, fallsBack bool
	since                   tiers.Version
	spells                  []allowlist.NamedPath
	access                  allowlist.PathAccess // that the paths need
}

func subjectOf(call allowlist.Call) subject {
	return subject{
		valid: call.Valid(), name: call.Name(), tier: call.Tier(), effect: call.Effect(), loses: call.Loss(),
		shows: call.Shows(), sends: call.Sends(), fallsBack: call.UsesOpenNote(), since: call.Since(),
		spells: call.NamedPaths(), access: call.PathAccess(),
	}
}
