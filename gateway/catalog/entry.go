package catalog

import (
	"vaultwicket/tiers"
)

// Entry is a command in one line, for programs. Code, Rule and Hint say why its
// plain form is denied, or cannot be answered here, and how the user can change that;
// they are empty if Allowed is true.
type Entry struct {
	Name      string `json:"name"`
	Tier      string `json:"tier"`
	Effect    string `json:"effect"`
	Signature string `json:"signature"`
	Allowed   bool   `json:"allowed"`
	Code      string `json:"code,omitempty"`
	Rule      string `json:"rule,omitempty"`
	Hint      string `json:"hint,omitempty"`
}

// Explained is all that is known of a command. Its method Text says the same to
// people and models.
type Explained struct {
	Entry
	Why       string           `json:"why,omitempty"` // it is closed
	Summary   string           `json:"summary"`
	MaxEffect string           `json:"maxEffect"`           // with the worst of its parameters
	Since     string           `json:"since"`               // the oldest app that has it
	Extension bool             `json:"extension,omitempty"` // no app has it, the embedded program does
	Params    []ExplainedParam `json:"params"`
}

// ExplainedParam is one parameter of a command. Effect is what a call with it
// does at least, "" if it changes nothing; Closed says that the policy disables it;
// Refused says why it is permanently disabled.
type ExplainedParam struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Summary  string   `json:"summary"`
	Required bool     `json:"required,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	Effect   string   `json:"effect,omitempty"`
	Closed   bool     `json:"closed,omitempty"`
	Refused  string   `json:"refused,omitempty"`
}

// Entry returns the command in one line.
func (l Listing) Entry() Entry {
	e := Entry{Name: l.Name, Tier: l.Tier.String(), Effect: l.Effect.String(), Signature: l.Signature(), Allowed: l.Enabled()}
	switch {
	case l.lacksProgram():
		e.Code, e.Hint = l.Missing.Code, l.Missing.Hint
	case l.Denial != nil:
		e.Code, e.Rule, e.Hint = l.Denial.Code(), l.Denial.Rule, l.Denial.Hint()
	}
	return e
}

// lacksProgram reports whether no program could answer the command if it were enabled. Then
// no setting of the policy is worth being named.
func (l Listing) lacksProgram() bool { return l.Missing != nil && l.Tier != tiers.Restricted }

// Explained returns all that is known of the command.
func (l Listing) Explained() Explained {
	e := Explained{
		Entry: l.Entry(), Summary: l.Summary, MaxEffect: l.Worst.String(), Since: l.Since.String(), Extension: l.EmbeddedOnly,
		Params: []ExplainedParam{},
	}
	switch {
	case l.lacksProgram():
		e.Why = l.Missing.Message
	case l.Denial != nil:
		e.Why = l.Denial.Reason
	}
	for i, p := range l.Params {
		item := ExplainedParam{
			Name: p.Name, Kind: p.Kind, Summary: p.Summary, Required: p.Required, Choices: p.Choices,
			Closed: p.Refused == "" && l.closed[i], Refused: p.Refused,
		}
		switch {
		case p.Effect != tiers.Unknown:
			item.Effect = p.Effect.String()
		case p.Shows:
			item.Effect = tiers.Shows.String()
		}
		e.Params = append(e.Params, item)
	}
	return e
}
