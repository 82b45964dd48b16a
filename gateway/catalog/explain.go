package catalog

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Text explains the command in plain text: its signature, what it does, whether
// it is allowed and how a person can change that, its parameters. It ends with a
// line break.
func (e Explained) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n\n", e.Signature, e.Summary)
	w := tabwriter.NewWriter(&b, 2, 8, 2, ' ', 0)
	fmt.Fprintf(w, "  tier\t%s\n  effect\t%s\n  since\t%s\n  allowed\t%s\n", e.Tier, e.effects(), e.release(), e.verdict())
	w.Flush()
	if len(e.Params) > 0 {
		b.WriteByte('\n')
	}
	for _, p := range e.Params {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, p.written(), p.Summary+p.remarks())
	}
	w.Flush()
	return b.String()
}

func (e Explained) effects() string {
	if e.Effect == e.MaxEffect {
		return e.Effect
	}
	return e.Effect + ", with some parameters " + e.MaxEffect
}

func (e Explained) release() string {
	if e.Extension {
		return "no Obsidian: the embedded program answers, and needs the folder of the vault"
	}
	return "Obsidian " + e.Since
}

func (e Explained) verdict() string {
	if e.Allowed {
		return "yes"
	}
	return strings.TrimSuffix("no: "+e.Why+"; "+e.Hint, "; ")
}

func (p ExplainedParam) written() string {
	if len(p.Choices) > 0 {
		return strings.Join(p.Choices, "|")
	}
	return p.Kind
}

func (p ExplainedParam) remarks() string {
	var notes []string
	if p.Required {
		notes = append(notes, "required")
	}
	if p.Effect != "" {
		notes = append(notes, "effect "+p.Effect)
	}
	if p.Closed {
		notes = append(notes, "disabled by the policy")
	}
	if p.Refused != "" {
		notes = append(notes, "refused: "+p.Refused)
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}
