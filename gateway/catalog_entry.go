package gateway

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// CommandEntry is a command in one line, for programs. Code, Rule and Hint say why its
// plain form is denied, or no program answers it, and how the user can change that;
// they are empty if Allowed is true.
type CommandEntry struct {
	Name      string `json:"name"`
	Tier      string `json:"tier"`
	Effect    string `json:"effect"`
	Signature string `json:"signature"`
	Allowed   bool   `json:"allowed"`
	Code      string `json:"code,omitempty"`
	Rule      string `json:"rule,omitempty"`
	Hint      string `json:"hint,omitempty"`
}

// ExplainedCommand is a command with all its properties. Its method Text is the same for people and
// models.
type ExplainedCommand struct {
	CommandEntry
	Why       string           `json:"why,omitempty"`  // it is closed
	Also      []Obstacle       `json:"also,omitempty"` // what closes it besides
	Summary   string           `json:"summary"`
	MaxEffect string           `json:"maxEffect"`           // with the worst of its parameters
	Since     string           `json:"since"`               // the oldest app that has it
	Extension bool             `json:"extension,omitempty"` // no app has it, the embedded program does
	Rules     []string         `json:"rules,omitempty"`     // about texts that look at its calls, each with its name and what it is set to
	Params    []ExplainedParam `json:"params"`
	// Example is a call of the command as on a command line, "" for a restricted one. Needs are the settings that the
	// call requires in addition to the tier.
	Example string   `json:"example,omitempty"`
	Needs   []string `json:"needs,omitempty"`
}

// Obstacle is why a command is closed, and how the user can change that.
type Obstacle struct {
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"`
}

// said is the obstacle in one line.
func (o Obstacle) said() string { return strings.TrimSuffix("no: "+o.Why+"; "+o.Hint, "; ") }

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
func (l CommandListing) Entry() CommandEntry {
	e := CommandEntry{
		Name:      l.Name,
		Tier:      l.Tier.String(),
		Effect:    l.Effect.String(),
		Signature: l.Signature(allowlist.FullSignature),
		Allowed:   l.Enabled(),
	}
	switch {
	case l.lacksProgram():
		e.Code = l.Missing.Code
		e.Hint = l.Missing.Hint
	case l.Denial != nil:
		e.Code = l.Denial.Code()
		e.Rule = l.Denial.Rule
		e.Hint = l.Denial.Hint()
	}
	return e
}

// lacksProgram reports whether no program could answer the command if it were enabled. Then
// no setting of the policy is worth being named.
func (l CommandListing) lacksProgram() bool { return l.Missing != nil && l.Tier != tiers.Restricted }

// Explained returns all that is known of the command.
func (l CommandListing) Explained() ExplainedCommand {
	e := ExplainedCommand{
		CommandEntry: l.Entry(), Summary: l.Summary, MaxEffect: l.Worst.String(), Since: l.Since.String(), Extension: l.EmbeddedOnly,
		Params: []ExplainedParam{}, Example: allowlist.ExampleLine(l.Name), Needs: needsOfExample(l.Name),
	}
	for _, t := range l.vault.Policy.TextRulesOf(l.Command) {
		t.Exceptions = nil // their paths may be hidden from the caller
		e.Rules = append(e.Rules, t.Name+": "+t.String())
	}
	switch {
	case l.lacksProgram():
		e.Why = l.Missing.Message
		for _, further := range l.vault.Policy.Obstacles(l.Command, l.vault.Facts) {
			e.Also = append(e.Also, Obstacle{further.Reason, further.Hint()})
		}
	case l.Denial != nil:
		e.Why = l.Denial.Reason
		for _, further := range l.vault.Policy.Obstacles(l.Command, l.vault.Facts)[1:] {
			e.Also = append(e.Also, Obstacle{further.Reason, further.Hint()})
		}
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

// needsOfExample returns the settings that the example of a command requires.
func needsOfExample(command string) (needs []string) {
	words := allowlist.Example(command)
	if words == nil {
		return nil
	}
	call, err := allowlist.ParseWords(words[0], words[1:])
	if err != nil {
		return nil
	}
	if call.Effect().Mutates() {
		needs = append(needs, "allow-mutations")
	}
	if call.Sends() || call.Effect() == tiers.Publishes {
		needs = append(needs, "allow-publish")
	}
	if call.Shows() {
		needs = append(needs, "allow-ui")
	}
	return needs
}

// Text describes the command in plain text for a client: its signature, what it does, whether it is allowed and
// how the user can change that, its parameters, and a call of it in JSON. It ends with a line break.
func (e ExplainedCommand) Text() string { return e.text(allowlist.ExampleJSON(e.Name)) }

// TextAtTerminal is [ExplainedCommand.Text] with the call as a command line, which begins with prefix.
func (e ExplainedCommand) TextAtTerminal(prefix string) string {
	return e.text(strings.TrimSpace(prefix + " " + e.Example))
}

func (e ExplainedCommand) text(example string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n\n", e.Signature, e.Summary)
	w := tabwriter.NewWriter(&b, 2, 8, 2, ' ', 0)
	effects := e.Effect
	since := "Obsidian " + e.Since
	allowed := "yes"
	if e.Effect != e.MaxEffect {
		effects += ", with some parameters " + e.MaxEffect
	}
	if e.Extension {
		since = "no Obsidian: the embedded program answers, and needs the folder of the vault"
	}
	if !e.Allowed {
		allowed = Obstacle{e.Why, e.Hint}.said()
	}
	fmt.Fprintf(w, "  tier\t%s\n  effect\t%s\n  since\t%s\n  allowed\t%s\n", e.Tier, effects, since, allowed)
	for _, further := range e.Also {
		fmt.Fprintf(w, "  \t%s\n", further.said())
	}
	w.Flush()
	if len(e.Rules) > 0 {
		b.WriteByte('\n')
	}
	for _, rule := range e.Rules {
		b.WriteString("  " + rule + "\n")
	}
	if len(e.Params) > 0 {
		b.WriteByte('\n')
	}
	for _, p := range e.Params {
		var remarks []string
		if p.Required {
			remarks = append(remarks, "required")
		}
		if p.Effect != "" {
			remarks = append(remarks, "effect "+p.Effect)
		}
		if p.Closed {
			remarks = append(remarks, "disabled by the policy")
		}
		if p.Refused != "" {
			remarks = append(remarks, "refused: "+p.Refused)
		}
		about := p.Summary
		if len(remarks) > 0 {
			about += " (" + strings.Join(remarks, "; ") + ")"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, cmp.Or(strings.Join(p.Choices, "|"), p.Kind), about)
	}
	w.Flush()
	if e.Example == "" {
		return b.String()
	}
	b.WriteString("\n  Example: " + example + "\n")
	if len(e.Needs) > 0 {
		b.WriteString("  The example requires " + strings.Join(e.Needs, " and ") + ".\n")
	}
	return b.String()
}

// CommandSignatures returns the enabled commands as text for a user at a terminal, with their signatures and
// summaries.
func CommandSignatures(v CatalogVault) string {
	var b strings.Builder
	for _, c := range ListCommands([]CatalogVault{v}) {
		if c.Enabled() {
			fmt.Fprintf(&b, "%s\n  %s\n", c.Signature(allowlist.FullSignature), c.Summary)
		}
	}
	return b.String()
}

// CommandOverview returns the enabled commands as text for an agent, in one line each, because it has their
// parameters in the description of the tool.
func CommandOverview(v CatalogVault) string {
	var b strings.Builder
	b.WriteString(agentRules + "Enabled commands:\n")
	for _, c := range ListCommands([]CatalogVault{v}) {
		if c.Enabled() {
			fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Summary)
		}
	}
	return b.String()
}

// agentRules are what a caller of a tool has to know about every command.
const agentRules = `Put a command's parameters into params by name: {"command":"daily:read","params":{"offset":-1}}.
A flag is true. Values are literal text: no quotes, no key=value, no escapes.
Name a note with path (as in results) or file (its name, as in a link). help with params {"command":"NAME"} explains one command.
`
