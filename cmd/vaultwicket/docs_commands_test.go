package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// open is a policy that opens all that can be opened.
var openPolicy = policy.Policy{Ceiling: tiers.V3, Mutations: true, Publish: true, UI: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum}

func commandsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" + generated)
	b.WriteString("All commands with their parameters, by tier. Parameters in brackets are optional; `file=` names a note as a link does, `path=` by its\n" +
		"path in the vault. \"Requires\" lists the [settings](settings.md) that a command needs in addition to the tier. The embedded CLI is part of\n" +
		"vaultwicket and needs the folder of the vault. `vaultwicket explain COMMAND`, the command `help` with `command=` and the resource\n" +
		"`vaultwicket://help/{command}` ([MCP](mcp.md)) show the same for your settings.\n")
	for tier := tiers.V0; tier <= tiers.Restricted; tier++ {
		fmt.Fprintf(&b, "\n## Tier %s\n\n%s\n", tier, tierTexts[tier])
		for c := range allowlist.Commands() {
			if c.Tier == tier {
				b.WriteString("\n" + commandSection(t, c))
			}
		}
	}
	return b.String()
}

var tierTexts = map[tiers.Tier]string{
	tiers.V0: "Daily and random notes. Enabled by default.", tiers.V1: "All notes: reading, search, properties, tags, tasks, files.",
	tiers.V2: "History, links, bases, publishing, templates, changes across the vault.", tiers.V3: "All other harmless commands.",
	tiers.Restricted: "Permanently disabled: they run code in the app or administer it. No setting enables them; they are listed so that a denial can say so.",
}

func commandSection(t *testing.T, c allowlist.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s.\n\n", c.Name, c.Summary)
	fmt.Fprintf(&b, "    %s\n\n", c.Signature(func(allowlist.Param) bool { return true }, allowlist.FullSignature))
	fmt.Fprintf(&b, "%s\n", strings.Join(commandFacts(c), " · "))
	if len(c.Params) > 0 {
		b.WriteString("\n" + testenv.TableHead("parameter", "takes", ""))
		for _, p := range c.Params {
			b.WriteString(testenv.TableRow(testenv.TableCode(p.Name), takes(c, p), p.Summary+paramNotes(t, c, p)))
		}
	}
	if c.Tier != tiers.Restricted {
		fmt.Fprintf(&b, "\nExample: `vaultwicket run %s`\n", allowlist.ExampleLine(c.Name))
	}
	return b.String()
}

// commandFacts are the things about a command that the policy and the programs
// decide, asked of them.
func commandFacts(c allowlist.Command) []string {
	effect := "effect " + c.Effect.String()
	if c.Worst != c.Effect {
		effect += ", with some parameters " + c.Worst.String()
	}
	facts := []string{effect}
	if c.Tier == tiers.Restricted {
		return facts
	}
	if gates := gatesOf(c); len(gates) > 0 {
		facts = append(facts, "requires "+strings.Join(gates, ", "))
	}
	if c.Effect.WorseThan(tiers.Writes) {
		facts = append(facts, "asks for approval")
	}
	switch answers := slices.Contains(vault.Commands(), c.Name); {
	case c.EmbeddedOnly:
		return append(facts, "answered by the embedded CLI only")
	case answers:
		facts = append(facts, "answered by the app and the embedded CLI")
	default:
		facts = append(facts, "answered by the app only")
	}
	return append(facts, "Obsidian "+c.Since.String())
}

// gatesOf returns the settings without which the plain form is closed, each found
// by closing it alone.
func gatesOf(c allowlist.Command) []string {
	var gates []string
	for _, gate := range []struct {
		text  string
		close func(*policy.Policy)
	}{
		{"`allow-mutations`", func(p *policy.Policy) { p.Mutations = false }},
		{"`allow-publish`", func(p *policy.Policy) { p.Publish = false }},
		{"`allow-ui`", func(p *policy.Policy) { p.UI = false }},
	} {
		p := openPolicy
		gate.close(&p)
		if p.Lists(c, policy.ClearFacts(time.Now())) != nil {
			gates = append(gates, gate.text)
		}
	}
	return gates
}

// takes says what a value has to be; the bounds of a number are those that an
// error names.
func takes(c allowlist.Command, p allowlist.Param) string {
	if len(p.Choices) > 0 {
		return testenv.TableCode(strings.Join(p.Choices, "|"))
	}
	if p.Kind == "number" {
		_, err := allowlist.ParseWords(c.Name, []string{p.Name + "=x"})
		var wrong *allowlist.ParseError
		if errors.As(err, &wrong) {
			if _, bounds, found := strings.Cut(wrong.Reason, "want a whole number from "); found {
				return "number, " + strings.TrimSuffix(bounds, " to 9007199254740992") + more(bounds)
			}
		}
	}
	return p.Kind
}

func more(bounds string) string {
	if strings.HasSuffix(bounds, " to 9007199254740992") {
		return " or more"
	}
	return ""
}

func paramNotes(t *testing.T, c allowlist.Command, p allowlist.Param) string {
	var notes []string
	if p.Required {
		notes = append(notes, "required")
	}
	switch {
	case p.Effect != tiers.Unknown:
		notes = append(notes, "effect "+p.Effect.String())
	case p.Shows:
		notes = append(notes, "effect "+tiers.Shows.String())
	}
	if p.Refused != "" {
		return "; never passed on: " + p.Refused
	}
	if words := allowlist.Example(c.Name, p.Name); words != nil && !c.EmbeddedOnly {
		call, err := allowlist.ParseWords(words[0], words[1:])
		require.NoError(t, err)
		if call.EmbeddedOnly() {
			notes = append(notes, "embedded CLI only")
		}
	}
	if len(notes) == 0 {
		return ""
	}
	return "; " + strings.Join(notes, "; ")
}
