package allowlist

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"vaultwicket/allowlist/quote"
	"vaultwicket/tiers"
)

// Meant returns the command that a name was most likely meant to be: one that is
// spelled alike, or what other tools call it. It is "" when none is close.
func Meant(name string) string {
	if len(name) > quote.Limit {
		return ""
	}
	words := wordsOf(name)
	for _, joined := range []string{strings.Join(words, ":"), strings.Join(words, "-"), strings.Join(words, "")} {
		if find(joined) != nil {
			return joined
		}
	}
	slices.Sort(words)
	if meant := otherName(strings.Join(words, " ")); meant != "" {
		return meant
	}
	if near := quote.Nearest(name, Names()); near != "" {
		return near
	}
	rest := without(words, fillers)
	for _, left := range [][]string{rest, without(rest, subjects)} {
		if meant := otherName(strings.Join(left, " ")); meant != "" {
			return meant
		}
		if len(left) == 1 && find(left[0]) != nil {
			return left[0]
		}
	}
	return quote.Nearest(strings.Join(wordsOf(name), ":"), Names())
}

// wordsOf splits a name at signs and at capital letters: read_note, note:read and
// readNote have the same words.
func wordsOf(name string) []string {
	var spaced strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		spaced.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// fillers are words in the names of tools that do not tell them apart.
var fillers = []string{"obsidian", "vault", "vaultwicket", "cli", "tool", "command", "the", "a", "my", "all", "md", "markdown", "content", "contents", "by", "in", "for", "of", "local", "mcp", "simple", "help"}

// subjects are what most commands are about.
var subjects = []string{"note", "notes", "file", "files", "page", "pages"}

func without(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(others, word) })
}

// unknownCommand says which command was meant, and where parameters go that were
// written behind its name.
func unknownCommand(name string) *ParseError {
	err := &ParseError{code: CodeUnknownCommand, Command: name, Reason: unknown}
	if hint := hintForLine(name); hint != "" {
		err.hint = hint
	} else if meant := Meant(name); meant != "" {
		err.hint = fmt.Sprintf("did you mean %q?", meant)
	}
	return err
}

// hintForLine is the hint for a command line in place of a name: the call that it
// stands for.
func hintForLine(line string) string {
	words := splitLine(line)
	for len(words) > 1 && slices.Contains([]string{"obsidian", "vaultwicket", "run"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || len(line) > maxLine {
		return ""
	}
	r := find(strings.TrimSuffix(words[0], "()"))
	if r == nil || r.name == line || r.tier == tiers.Restricted {
		return ""
	}
	if len(words) == 1 {
		return fmt.Sprintf("did you mean %q?", r.name)
	}
	return "put the parameters into params: " + r.written(words[1:])
}

// maxLine is the longest command line for which the call is written out.
const maxLine = 400

// written is the call of a command with some words, as JSON.
func (r *row) written(words []string) string {
	params := map[string]any{}
	var rest []string
	for _, word := range words {
		key, value, found := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch p := r.param(key); {
		case found:
			params[key] = strings.Trim(value, `"'`)
		case p != nil && p.kind == kindFlag:
			params[key] = true
		default:
			rest = append(rest, strings.Trim(word, `"'`))
		}
	}
	if p := r.firstParam(params); p != nil && len(rest) > 0 {
		params[p.name] = strings.Join(rest, " ")
	}
	return callJSON(r.name, params)
}

// callJSON writes a call as the arguments of the tool.
func callJSON(name string, params map[string]any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Command string         `json:"command"`
		Params  map[string]any `json:"params"`
	}{name, params})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(text.String())
}

// firstParam is the parameter that a bare text stands for: the first required one that
// is not given, else the path of a note.
func (r *row) firstParam(given map[string]any) *param {
	for i := range r.params {
		if p := &r.params[i]; p.required && given[p.name] == nil {
			return p
		}
	}
	for _, name := range []string{"path", "folder", "query", "name"} {
		if p := r.param(name); p != nil && given[name] == nil {
			return p
		}
	}
	return nil
}

// splitLine splits a line at blanks outside of quotation marks.
func splitLine(line string) (words []string) {
	var word strings.Builder
	var open rune
	for _, r := range line {
		switch {
		case open == 0 && unicode.IsSpace(r):
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		case open == 0 && (r == '"' || r == '\''):
			open = r
		case r == open:
			open = 0
		}
		word.WriteRune(r)
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
