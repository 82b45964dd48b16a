package allowlist

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Example returns the words of a small call of a command that the table takes, such as "read" and
// "path=Work/Plan.md", with the parameters named in with. It names its note where the command works on one.
// It is nil for a restricted command, and for one that does not take these parameters together.
func Example(command string, with ...string) []string {
	r := find(command)
	if r == nil || r.tier == tiers.Restricted {
		return nil
	}
	var always, others []*param
	for i := range r.params {
		p := &r.params[i]
		switch {
		case p.refused != "":
		case p.required || p.kind == kindWord || slices.Contains(with, p.name):
			always = append(always, p)
		default:
			others = append(others, p)
		}
	}
	slices.SortStableFunc(others, func(a, b *param) int { return cmp.Compare(a.exampleRank(), b.exampleRank()) })
	var ofOpenNote []string
	for size := range maxExampleParams + 1 {
		for _, chosen := range combinations(others, size) {
			words := r.exampleWords(slices.Concat(always, chosen))
			call, err := ParseWords(r.name, words[1:])
			switch {
			case err != nil:
			case !call.UsesOpenNote():
				return words
			case ofOpenNote == nil:
				ofOpenNote = words
			}
		}
	}
	return ofOpenNote
}

// maxExampleParams is how many optional parameters an example has at most: a task is named by a note and a line.
const maxExampleParams = 3

// exampleRank is lower for parameters that make plainer examples.
func (p *param) exampleRank() int {
	plainest := []string{"path", "ref", "name", "heading", "line", "done"}
	if i := slices.Index(plainest, p.name); i >= 0 {
		return i
	}
	return len(plainest)
}

// combinations returns all choices of size elements of a list, in their order.
func combinations(list []*param, size int) [][]*param {
	if size == 0 {
		return [][]*param{nil}
	}
	var all [][]*param
	for i, p := range list {
		for _, tail := range combinations(list[i+1:], size-1) {
			all = append(all, append([]*param{p}, tail...))
		}
	}
	return all
}

func (r *row) exampleWords(params []*param) []string {
	words := []string{r.name}
	for _, p := range params {
		switch p.kind {
		case kindFlag:
			words = append(words, p.name)
		case kindWord:
			words = append(words, "daily:read")
		default:
			words = append(words, p.name+"="+r.exampleValue(p))
		}
	}
	return words
}

// exampleValue is a value that a reader takes for a real one: by the command and the parameter, by the parameter, by
// its kind.
func (r *row) exampleValue(p *param) string {
	if len(p.choices) > 0 {
		return p.choices[0]
	}
	family, _, _ := strings.Cut(r.name, ":")
	for _, key := range []string{r.name + " " + p.name, family + " " + p.name, p.name, p.kind.String()} {
		for _, row := range exampleValues {
			if row.key == key {
				return row.value
			}
		}
	}
	return ""
}

// ExampleLine returns the [Example] of a command as a shell takes it, "" where there is none.
func ExampleLine(command string) string {
	words := Example(command)
	for i, word := range words {
		name, value, found := strings.Cut(word, "=")
		if found && strings.ContainsAny(value, " #") {
			words[i] = name + `="` + value + `"`
		}
	}
	return strings.Join(words, " ")
}

// ExampleJSON returns the [Example] of a command as the arguments of a tool call, "" where there is none.
func ExampleJSON(command string) string {
	words := Example(command)
	if words == nil {
		return ""
	}
	call, err := ParseWords(words[0], words[1:])
	if err != nil {
		return ""
	}
	arguments := map[string]any{"command": command}
	params := map[string]any{}
	for _, a := range call.args {
		switch a.kind {
		case kindFlag:
			params[a.key] = true
		case kindNumber:
			params[a.key] = json.Number(a.value)
		default:
			params[a.key] = a.value
		}
	}
	if len(params) > 0 {
		arguments["params"] = params
	}
	text, _ := excerpt.JSON(arguments) // texts, numbers and true always marshal
	return text
}

// exampleValues are values by command and parameter, by family of commands and parameter, by parameter, and by the
// name of its kind.
var exampleValues = [...]struct{ key, value string }{
	{"base path", "Books.base"},
	{"base file", "Books.base"},
	{"base:create name", "Dune"},
	{"base:set name", "status"},
	{"base:eval path", "Work/Plan.md"},
	{"base:eval expr", "file.tags.length"},
	{"rename name", "Project"},
	{"create name", "Project"},
	{"tag name", "project"},
	{"template name", "Day"},
	{"template:insert name", "Day"},
	{"workspace name", "Morning"},
	{"hotkey id", "app:go-back"},
	{"plugin id", "daily-notes"},
	{"bookmark file", "Work/Plan.md"},
	{"query", "milk"},
	{"old", "milk"},
	{"new", "oat milk"},
	{"value", "done"},
	{"lines", "12-20"},
	{"heading", "Tasks"},
	{"text", "oat milk"},
	{"content", "buy milk"},
	{"data", "iVBORw0KGgo="},
	{"name", "status"},
	{"note name", "Plan"},
	{"base name", "Books.base"},
	{"file name", "Plan"},
	{"path", "Work/Plan.md"},
	{"folder/ or path", "Archive/"},
	{"folder", "Work"},
	{"path:line", "Work/Plan.md:12"},
	{"number", "3"},
	{"age", "-2w"},
	{"date", "2026-11-21"},
	{"character", "x"},
	{"url", "https://example.org/"},
}
