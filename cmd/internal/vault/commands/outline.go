package commands

import (
	"encoding/json"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/markdown"
)

func init() {
	register(
		command.Command{Name: "outline", Run: outline},
		command.Command{Name: "wordcount", Run: wordCount},
	)
}

// outline has the same sentence for nothing in every form, the total too.
func outline(v *command.Vault, p command.Values) (command.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	return command.FromNote(t.Path, text, outlineOf(markdown.Scan(text).Headings, p)), nil
}

func outlineOf(headings []markdown.Heading, p command.Values) string {
	switch {
	case len(headings) == 0:
		return "No headings found."
	case p.Has("total"):
		return strconv.Itoa(len(headings))
	case p["format"] == command.FormatJSON:
		return outlineJSON(headings)
	case p["format"] != "md":
		return tree(headings)
	}
	var out strings.Builder
	for _, h := range headings {
		out.WriteString(strings.Repeat("#", h.Level) + " " + h.Text + "\n")
	}
	return out.String()
}

// outlineJSON has numbers for level and line, unlike most commands.
func outlineJSON(headings []markdown.Heading) string {
	type row struct {
		Level   int    `json:"level"`
		Heading string `json:"heading"`
		Line    int    `json:"line"`
	}
	table := make([]row, len(headings))
	for i, h := range headings {
		table[i] = row{h.Level, h.Text, h.Line}
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(table) // text and numbers always encode
	return out.String()
}

// tree draws the headings as branches. A heading hangs below the last one
// before it with a lower level; levels that are left out take no room.
func tree(headings []markdown.Heading) string {
	goesOn := siblings(headings)
	var out strings.Builder
	var open []int // the headings above, outermost first
	for i, h := range headings {
		for len(open) > 0 && headings[open[len(open)-1]].Level >= h.Level {
			open = open[:len(open)-1]
		}
		for _, j := range open {
			out.WriteString(pick(goesOn[j], "│   ", "    "))
		}
		out.WriteString(pick(goesOn[i], "├── ", "└── ") + h.Text + "\n")
		open = append(open, i)
	}
	return out.String()
}

// siblings says of each heading whether another branch follows at its place:
// whether the next heading that is not below it still is below its parent.
func siblings(headings []markdown.Heading) []bool {
	parents, next := make([]int, len(headings)), make([]int, len(headings))
	var open []int
	for i, h := range headings {
		for len(open) > 0 && headings[open[len(open)-1]].Level >= h.Level {
			next[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			parents[i] = headings[open[len(open)-1]].Level
		}
		open = append(open, i)
	}
	goesOn := make([]bool, len(headings))
	for i, j := range next {
		goesOn[i] = j > 0 && headings[j].Level > parents[i]
	}
	return goesOn
}

func wordCount(v *command.Vault, p command.Values) (command.Reply, error) {
	text, found, err := v.ScannedNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	words, characters := markdown.WordCount(text[found.Body:])
	switch {
	case p.Has("words") == p.Has("characters"):
		return command.Text("words: " + strconv.Itoa(words) + "\ncharacters: " + strconv.Itoa(characters)), nil
	case p.Has("words"):
		return command.Text(strconv.Itoa(words)), nil
	}
	return command.Text(strconv.Itoa(characters)), nil
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
