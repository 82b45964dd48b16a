package allowlist

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Example returns the words of a short valid call of a command with the parameters in with, such as "read"
// and "path=Work/Plan.md". If the command works on a note, the example names it. It is nil for a restricted
// command, and for one that does not support these parameters together.
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

// maxExampleParams is the maximum number of optional parameters in an example: a task needs a note, a line and more.
const maxExampleParams = 3

// exampleRank orders parameters: those with a lower rank make plainer examples.
func (p *param) exampleRank() int {
	plainest := []string{"path", "ref", "name", "heading", "line", "done"}
	if i := slices.Index(plainest, p.name); i >= 0 {
		return i
	}
	return len(plainest)
}

// combinations returns all combinations of size elements of list, each in the order of list.
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

// exampleValue returns a realistic value of p. It is looked up by command and parameter, then by family of commands and
// parameter, then by parameter, then by kind.
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

// ExampleLine returns the [Example] of a command as a line for a shell, "" if there is none.
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

// ExampleJSON returns the [Example] of a command as the arguments of a tool call in JSON, "" if there is none.
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

// exampleValues lists example values. A key is a command or a family of commands and a parameter, only a parameter,
// or the name of a kind.
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
