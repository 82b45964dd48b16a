package gateway

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// CommandEntry is the summary of a command for programs. Code, Rule and Hint say why it is denied without optional
// parameters, or why no program answers it, and how the user can change that. They are empty if Allowed is true.
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

// ExplainedCommand is a command with all its properties. Its method Text returns them for people and models.
type ExplainedCommand struct {
	CommandEntry
	Why       string           `json:"why,omitempty"`  // why it is not allowed
	Also      []Obstacle       `json:"also,omitempty"` // further reasons
	Summary   string           `json:"summary"`
	MaxEffect string           `json:"maxEffect"`           // the effect with the worst of its parameters
	Since     string           `json:"since"`               // the oldest version of the app that has it
	Extension bool             `json:"extension,omitempty"` // only the embedded program has it
	Rules     []string         `json:"rules,omitempty"`     // content rules that check its calls, each with name and setting
	Params    []ExplainedParam `json:"params"`
	// Example is a call of the command as a command line, "" for a restricted command. Needs are the settings that
	// the example requires in addition to the tier.
	Example string   `json:"example,omitempty"`
	Needs   []string `json:"needs,omitempty"`
}

// Obstacle is a reason why a command is not allowed, and how the user can change that.
type Obstacle struct {
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"`
}

// inOneLine returns the obstacle as one line of text.
func (o Obstacle) inOneLine() string { return strings.TrimSuffix("no: "+o.Why+"; "+o.Hint, "; ") }

// ExplainedParam is one parameter of a command. Effect is the least effect of a call with it, "" if it does not
// change the effect. Closed means that the policy disables it. Refused says why it is permanently disabled.
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

// Entry returns the summary of the command.
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

// lacksProgram reports whether no program could answer the command even if it were enabled. Then it is pointless to
// name settings of the policy.
func (l CommandListing) lacksProgram() bool { return l.Missing != nil && l.Tier != tiers.Restricted }

// Explained returns the command with all its properties.
func (l CommandListing) Explained() ExplainedCommand {
	e := ExplainedCommand{
		CommandEntry: l.Entry(),
		Summary:      l.Summary,
		MaxEffect:    l.Worst.String(),
		Since:        l.Since.String(),
		Extension:    l.EmbeddedOnly,
		Params:       []ExplainedParam{},
		Example:      allowlist.ExampleLine(l.Name),
		Needs:        needsOfExample(l.Name),
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
			Name:     p.Name,
			Kind:     p.Kind,
			Summary:  p.Summary,
			Required: p.Required,
			Choices:  p.Choices,
			Closed:   p.Refused == "" && l.closed[i],
			Refused:  p.Refused,
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

// Text describes the command in plain text for a client: its signature, what it does, whether it is allowed and how
// the user can change that, its parameters, and an example in JSON. It ends with a line break.
func (e ExplainedCommand) Text() string { return e.text(allowlist.ExampleJSON(e.Name)) }

// TextAtTerminal is like [ExplainedCommand.Text], with the example as a command line that begins with prefix.
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
		allowed = Obstacle{e.Why, e.Hint}.inOneLine()
	}
	fmt.Fprintf(w, "  tier\t%s\n  effect\t%s\n  since\t%s\n  allowed\t%s\n", e.Tier, effects, since, allowed)
	for _, further := range e.Also {
		fmt.Fprintf(w, "  \t%s\n", further.inOneLine())
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
		summary := p.Summary
		if len(remarks) > 0 {
			summary += " (" + strings.Join(remarks, "; ") + ")"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, cmp.Or(strings.Join(p.Choices, "|"), p.Kind), summary)
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

// CommandSignatures returns the enabled commands with their signatures and summaries, as text for a user at a
// terminal.
func CommandSignatures(v CatalogVault) string {
	var b strings.Builder
	for _, c := range ListCommands([]CatalogVault{v}) {
		if c.Enabled() {
			fmt.Fprintf(&b, "%s\n  %s\n", c.Signature(allowlist.FullSignature), c.Summary)
		}
	}
	return b.String()
}

// CommandOverview returns the enabled commands as text for an agent. It has one line per command, because the
// description of the tool has the parameters.
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

// agentRules tell a caller of a tool what applies to every command.
const agentRules = `Put a command's parameters into params by name: {"command":"daily:read","params":{"offset":-1}}.
A flag is true. Values are literal text: no quotes, no key=value, no escapes.
Name a note with path (as in results) or file (its name, as in a link). help with params {"command":"NAME"} explains one command.
`
