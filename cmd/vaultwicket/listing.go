package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"vaultwicket/gateway"
	"vaultwicket/tiers"
)

// listedCommand is a command as "commands --json" and "explain --json" print it.
type listedCommand struct {
	Name      string          `json:"name"`
	Summary   string          `json:"summary"`
	Tier      string          `json:"tier"`
	Effect    string          `json:"effect"`
	MaxEffect string          `json:"maxEffect"`
	Since     string          `json:"since"`
	Allowed   bool            `json:"allowed"`
	Why       string          `json:"why,omitempty"`
	Hint      string          `json:"hint,omitempty"`
	Signature string          `json:"signature"`
	Params    []explainedItem `json:"params"`
}

type explainedItem struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Summary  string   `json:"summary"`
	Required bool     `json:"required,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	Effect   string   `json:"effect,omitempty"`
	Refused  string   `json:"refused,omitempty"`
}

func listed(c gateway.Listed) listedCommand {
	l := listedCommand{
		Name: c.Name, Summary: c.Summary, Tier: c.Tier.String(), Effect: c.Effect.String(), MaxEffect: c.Worst.String(),
		Since: c.Since.String(), Allowed: c.Denial == nil, Signature: c.Signature, Params: []explainedItem{},
	}
	if c.Denial != nil {
		l.Why, l.Hint = c.Denial.Reason, c.Denial.Hint()
	}
	for _, p := range c.Params {
		item := explainedItem{Name: p.Name, Kind: p.Kind, Summary: p.Summary, Required: p.Required, Choices: p.Choices, Refused: p.Refused}
		switch {
		case p.Effect != tiers.Unknown:
			item.Effect = p.Effect.String()
		case p.Shows:
			item.Effect = tiers.Shows.String()
		}
		l.Params = append(l.Params, item)
	}
	return l
}

// listCommands is "vaultwicket commands".
func listCommands(_ context.Context, std streams, args []string) error {
	var all bool
	o, err := open("commands", std, args, func(f *flags) { f.BoolVar(&all, "all", false, "also what is not allowed, and why") })
	if err != nil {
		return err
	}
	if len(o.rest) > 0 {
		return &wrongUse{reason: fmt.Sprintf("commands takes no %q", clip(o.rest[0])), hint: `"vaultwicket explain COMMAND" shows one command`}
	}
	commands := []listedCommand{}
	for _, c := range o.gateway.Listing() {
		if all || c.Denial == nil {
			commands = append(commands, listed(c))
		}
	}
	if o.json {
		return printJSON(std.out, commands, statusDone)
	}
	w := tabwriter.NewWriter(std.out, 0, 8, 2, ' ', 0)
	for _, c := range commands {
		line := c.Tier + "\t" + c.Effect + "\t" + c.Signature
		if all {
			line = c.Tier + "\t" + c.Effect + "\t" + c.Name + "\t" + allowedOr(c.Why)
		}
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

func allowedOr(why string) string {
	if why == "" {
		return "allowed"
	}
	return why
}

// explain is "vaultwicket explain COMMAND".
func explain(_ context.Context, std streams, args []string) error {
	o, err := open("explain", std, args, nil)
	if err != nil {
		return err
	}
	if len(o.rest) != 1 {
		return &wrongUse{reason: "explain takes one command", hint: `"vaultwicket commands --all" lists them`}
	}
	c, err := o.gateway.Explain(o.rest[0])
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(std.out, listed(c), statusDone)
	}
	printExplained(std.out, listed(c))
	return nil
}

func printExplained(out io.Writer, c listedCommand) {
	fmt.Fprintf(out, "%s\n  %s\n\n", c.Signature, c.Summary)
	w := tabwriter.NewWriter(out, 2, 8, 2, ' ', 0)
	fmt.Fprintf(w, "  tier\t%s\n  effect\t%s\n  since\tObsidian %s\n  allowed\t%s\n", c.Tier, effectRange(c), c.Since, yesOrNo(c))
	w.Flush()
	if len(c.Params) == 0 {
		return
	}
	fmt.Fprintln(out)
	for _, p := range c.Params {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, kindOf(p), p.Summary+remarks(p))
	}
	w.Flush()
}

func effectRange(c listedCommand) string {
	if c.Effect == c.MaxEffect {
		return c.Effect
	}
	return c.Effect + ", with some parameters " + c.MaxEffect
}

func yesOrNo(c listedCommand) string {
	if c.Allowed {
		return "yes"
	}
	return strings.TrimSuffix("no: "+c.Why+"; "+c.Hint, "; ")
}

func kindOf(p explainedItem) string {
	if len(p.Choices) > 0 {
		return strings.Join(p.Choices, "|")
	}
	return p.Kind
}

func remarks(p explainedItem) string {
	var notes []string
	if p.Required {
		notes = append(notes, "required")
	}
	if p.Effect != "" {
		notes = append(notes, "effect "+p.Effect)
	}
	if p.Refused != "" {
		notes = append(notes, "refused: "+p.Refused)
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}
