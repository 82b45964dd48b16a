package policy

import (
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/policy/access"
	"vaultwicket/tiers"
)

// The rules about texts look at what notes say, and the others at the call. Each is a row of the table of
// rules, and has one name everywhere: in the settings shadow and exceptions, in dry runs and
// explanations, in the audit log, in metrics and on the page.
const (
	RuleFlow        = "flow"
	RulePrivate     = "private"
	RuleSecrets     = "secrets"
	RuleRemoteLinks = "remote-links"
	RuleSuspicious  = "suspicious"
)

// TextRules returns the names of the rules about texts.
func TextRules() (names []string) {
	for _, r := range (Policy{}).TextRules() {
		names = append(names, r.Name)
	}
	return names
}

// TextRule is what a policy says of a rule about texts.
type TextRule struct {
	Name          string
	Looks         string   // at what
	Settings      []string // that decide. State is their value, and Origin where that of the first one comes from.
	State, Origin string
	Shadow        bool              // it decides, and has no effect
	Exceptions    access.Exceptions // where it does not apply
}

// String returns the rule for people, without its name.
func (r TextRule) String() string {
	parts := []string{r.Looks + ": " + r.State}
	if r.Shadow {
		parts = append(parts, "in shadow, without effect")
	}
	for _, e := range r.Exceptions {
		parts = append(parts, "not for "+e.Path+" ("+e.Comment+")")
	}
	return strings.Join(parts, "; ")
}

// TextRules returns every rule about texts, in the order in which they are judged.
func (p Policy) TextRules() (all []TextRule) {
	for _, r := range rules {
		if r.state != nil {
			all = append(all, r.text(p))
		}
	}
	return all
}

// TextRulesOf returns those that are on and look at texts of a command, none if no setting enables it.
func (p Policy) TextRulesOf(command allowlist.Command) (all []TextRule) {
	for _, r := range rules {
		if r.state != nil && command.Tier != tiers.Restricted && r.looksAt(p, plainForm(command)) {
			all = append(all, r.text(p))
		}
	}
	return all
}

func (r rule) looksAt(p Policy, s subject) bool {
	_, on := r.state(p)
	return on && r.about(s)
}

func (r rule) text(p Policy) TextRule {
	state, _ := r.state(p)
	return TextRule{r.name, r.looks, r.settings, state, p.Origins[r.settings[0]], p.Shadows(r.name), p.Exceptions.Of(r.name)}
}

// Shadows reports whether a rule about texts decides and has no effect.
func (p Policy) Shadows(rule string) bool { return slices.Contains(p.Shadow, rule) }
