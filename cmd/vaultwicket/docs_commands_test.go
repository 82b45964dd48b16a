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
	"github.com/vaultwicket/vaultwicket/tests/golden"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// open is a policy that opens all that can be opened.
var openPolicy = policy.Policy{Ceiling: tiers.V3, Mutations: true, Publish: true, UI: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum}

func commandsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" + generated)
	b.WriteString("The commands by tier, with what each takes. Parameters in brackets are optional; `file=` names a note as a link does, `path=` by its\n" +
		"path in the vault. \"Opens with\" says which settings are required in addition to the tier ([settings](settings.md)); *embedded* is the program that comes with\n" +
		"vaultwicket and needs the folder of the vault. The same is told, for the settings in force, by `vaultwicket explain COMMAND`, by the\n" +
		"command `help` with `command=`, and by the resource `vaultwicket://help/{command}` ([MCP](mcp.md)).\n")
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
	tiers.V0: "Daily and random notes. Open from the start.", tiers.V1: "Properties, tags, tasks, files, search.",
	tiers.V2: "History, links, bases, publish, templates.", tiers.V3: "The other harmless ones.",
	tiers.Restricted: "Permanently disabled: they run code in the app or administer it. No setting enables them; they are listed so that a denial can say so.",
}

func commandSection(t *testing.T, c allowlist.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s.\n\n", c.Name, c.Summary)
	fmt.Fprintf(&b, "    %s\n\n", c.Signature(func(allowlist.Param) bool { return true }, false))
	fmt.Fprintf(&b, "%s\n", strings.Join(commandFacts(c), " · "))
	if len(c.Params) > 0 {
		b.WriteString("\n" + golden.Head("parameter", "takes", ""))
		for _, p := range c.Params {
			b.WriteString(golden.Row(golden.Code(p.Name), takes(c, p), p.Summary+paramNotes(t, c, p)))
		}
	}
	if c.Tier != tiers.Restricted {
		fmt.Fprintf(&b, "\nExample: `vaultwicket run %s`\n", exampleOf(t, c))
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
		facts = append(facts, "opens with "+strings.Join(gates, ", "))
	}
	if c.Effect.WorseThan(tiers.Writes) {
		facts = append(facts, "requires approval")
	}
	switch answers := slices.Contains(vault.Commands(), c.Name); {
	case c.EmbeddedOnly:
		return append(facts, "answered by embedded alone")
	case answers:
		facts = append(facts, "answered by the app and by embedded")
	default:
		facts = append(facts, "answered by the app alone")
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
		return golden.Code(strings.Join(p.Choices, "|"))
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
	if call, err := allowlist.ParseWords(c.Name, exampleWords(t, c, p.Name)); err == nil && call.EmbeddedOnly() && !c.EmbeddedOnly {
		notes = append(notes, "embedded alone")
	}
	if len(notes) == 0 {
		return ""
	}
	return "; " + strings.Join(notes, "; ")
}

// exampleOf writes the words of a small call that the table takes and that names
// its note.
func exampleOf(t *testing.T, c allowlist.Command) string {
	words := []string{c.Name}
	for _, word := range exampleWords(t, c) {
		if name, value, found := strings.Cut(word, "="); found && strings.ContainsAny(value, " #") {
			word = name + `="` + value + `"`
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// exampleWords returns the shortest words with the parameters must that the table
// takes, if it can be with a note of their own.
func exampleWords(t *testing.T, c allowlist.Command, must ...string) []string {
	t.Helper()
	var base, rest []allowlist.Param
	for _, p := range c.Params {
		switch {
		case p.Refused != "":
		case p.Required || p.Kind == "word" || slices.Contains(must, p.Name):
			base = append(base, p)
		default:
			rest = append(rest, p)
		}
	}
	slices.SortStableFunc(rest, func(a, b allowlist.Param) int { return rank(a) - rank(b) })
	var falling []string
	for size := 0; size <= 3; size++ {
		for _, chosen := range choose(rest, size) {
			words := wordsOf(c.Name, append(slices.Clone(base), chosen...))
			call, err := allowlist.ParseWords(c.Name, words)
			switch {
			case err != nil:
			case !call.UsesOpenNote() || c.Tier == tiers.Restricted:
				return words
			case falling == nil:
				falling = words
			}
		}
	}
	require.That(t, falling != nil || len(must) != 0, "no example of %s was found", c.Name)
	return falling
}

// rank puts in front what makes the plainest example.
func rank(p allowlist.Param) int {
	if i := slices.Index([]string{"path", "ref", "name", "heading", "line", "done"}, p.Name); i >= 0 {
		return i
	}
	return 9
}

// choose returns all choices of so many of the parameters, in their order.
func choose(list []allowlist.Param, size int) [][]allowlist.Param {
	if size == 0 {
		return [][]allowlist.Param{nil}
	}
	var all [][]allowlist.Param
	for i, p := range list {
		for _, tail := range choose(list[i+1:], size-1) {
			all = append(all, append([]allowlist.Param{p}, tail...))
		}
	}
	return all
}

func wordsOf(command string, params []allowlist.Param) []string {
	var words []string
	for _, p := range params {
		switch p.Kind {
		case "flag":
			words = append(words, p.Name)
		case "word":
			words = append(words, "daily:read")
		default:
			words = append(words, p.Name+"="+exampleValue(command, p))
		}
	}
	return words
}

// exampleValue is a value that a reader takes for a real one: by the command and
// the parameter, by the parameter, by its kind.
func exampleValue(command string, p allowlist.Param) string {
	family, _, _ := strings.Cut(command, ":")
	if len(p.Choices) > 0 {
		return p.Choices[0]
	}
	for _, key := range []string{command + " " + p.Name, family + " " + p.Name, p.Name, p.Kind} {
		if value := exampleValues[key]; value != "" {
			return value
		}
	}
	return ""
}

var exampleValues = map[string]string{
	"base path": "Books.base", "base file": "Books.base", "base:create name": "Dune", "base:set name": "status", "base:eval path": "Work/Plan.md", "base:eval expr": "file.tags.length", "rename name": "Project", "create name": "Project",
	"tag name": "project", "template name": "Day", "template:insert name": "Day", "workspace name": "Morning", "hotkey id": "app:go-back", "plugin id": "daily-notes",
	"bookmark file": "Work/Plan.md", "query": "milk", "old": "milk", "new": "oat milk", "value": "done", "lines": "12-20", "heading": "Tasks",

	"text": "oat milk", "content": "buy milk", "data": "iVBORw0KGgo=", "name": "status", "note name": "Plan", "base name": "Books.base", "file name": "Plan", "path": "Work/Plan.md",
	"folder/ or path": "Archive/", "folder": "Work", "path:line": "Work/Plan.md:12", "number": "3", "age": "-2w", "date": "2026-11-21", "character": "x", "url": "https://example.org/",
}
