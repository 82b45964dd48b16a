// Package search has the commands that find notes by a query.
package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/query"
	"vaultwicket/cmd/internal/vault/session"
)

const noMatches = "No matches found."

// Commands returns the rows of the commands that search.
func Commands() []command.Command {
	shared := []grammar.Param{
		{Name: "query", Hint: "text", Kind: grammar.Content, Required: true, Help: "What to look for, in the search language of the app"},
		{Name: "path", Hint: "path", Help: "Only below this folder"},
		{Name: "limit", Hint: "number", Help: "Maximum number of files"},
		{Name: "format", OneOf: []string{"text", answer.FormatJSON}, Help: "Output format"},
		{Name: "case", Kind: grammar.Flag, Help: "Match case"},
	}
	return []command.Command{
		{
			Name: "search", Help: "List the notes that a query finds",
			Params: append(shared[:len(shared):len(shared)], grammar.Param{Name: "total", Kind: grammar.Flag, Help: "Only how many there are"}),
			Run:    searchPaths,
		},
		{Name: "search:context", Help: "List the lines that a query finds", Params: shared, Run: searchLines},
	}
}

// searchPaths and searchLines have the same sentence for nothing in every form.
func searchPaths(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	hits, err := search(v, p, false)
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(hits))), nil
	case len(hits) == 0:
		return answer.Text(noMatches), nil
	}
	paths := make([]string, len(hits))
	for i, h := range hits {
		paths[i] = h.path
		if p["format"] == answer.FormatJSON {
			paths[i] = answer.QuoteJSON(h.path)
		}
	}
	if p["format"] == answer.FormatJSON {
		return answer.Text("[" + strings.Join(paths, ",") + "]"), nil
	}
	return answer.Text(strings.Join(paths, "\n")), nil
}

func searchLines(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	hits, err := search(v, p, true)
	if err != nil {
		return answer.Reply{}, err
	}
	if len(hits) == 0 {
		return answer.Text(noMatches), nil
	}
	text := contextText(hits)
	if p["format"] == answer.FormatJSON {
		text = contextJSON(hits)
	}
	if text == "" {
		text = noMatches // only names were found, and that form has no lines for them
	}
	said := answer.Text(text)
	if slices.ContainsFunc(hits, func(h hit) bool { return h.cut }) {
		said.Notice = fmt.Sprintf("Truncated after %d KiB of lines: narrow the query, or search below a folder with path=.", maxContext>>10)
	}
	return said, nil
}

func contextText(hits []hit) string {
	var out strings.Builder
	for _, h := range hits {
		for _, line := range h.lines {
			out.WriteString(h.path + ":" + strconv.Itoa(line.Line) + ": " + line.Text + "\n")
		}
	}
	return out.String()
}

// contextJSON is compact, unlike other JSON of the app. A note that was found
// by its name alone has no matches.
func contextJSON(hits []hit) string {
	var out strings.Builder
	out.WriteByte('[')
	for i, h := range hits {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(`{"file":` + answer.QuoteJSON(h.path) + `,"matches":[`)
		for j, line := range h.lines {
			if j > 0 {
				out.WriteByte(',')
			}
			out.WriteString(`{"line":` + strconv.Itoa(line.Line) + `,"text":` + answer.QuoteJSON(line.Text) + `}`)
		}
		out.WriteString("]}")
	}
	out.WriteByte(']')
	return out.String()
}

// search returns the notes that a query finds, in the order of listings, and
// if they are wanted the lines in them. Only notes are found, and none that is
// excluded.
func search(v *session.Vault, p grammar.Values, lines bool) ([]hit, error) {
	q, err := query.Parse(p["query"], query.Options{CaseSensitive: p.Has("case")})
	if err != nil {
		return nil, badQuery(err)
	}
	limit, err := p.Number("limit", 0, 1, maxHits)
	if err != nil {
		return nil, err
	}
	under, err := v.FolderOf(p["path"])
	if err != nil {
		return nil, nil // a folder that cannot be is an empty one
	}
	excluded, err := v.Excluded()
	if err != nil {
		return nil, err
	}
	var found hits
	err = v.Host.Knowledge.EachNote(v.View(), knowledge.Scope{Folder: under, Excluded: excluded, Texts: q.NeedsText()}, func(n *knowledge.Note) {
		if v.Ctx.Err() != nil || !q.Match(n) {
			return
		}
		h := hit{path: n.File}
		if lines {
			h.lines = q.Lines(n)
		}
		found.add(h)
	})
	switch {
	case disk.IsMissing(err):
		return nil, nil
	case err != nil:
		return nil, err
	case v.Ctx.Err() != nil:
		return nil, v.Ctx.Err()
	case q.Err() != nil:
		return nil, badQuery(q.Err())
	}
	sorted := found.sorted()
	return sorted[:min(len(sorted), cmp.Or(limit, len(sorted)))], nil
}

// maxHits is where the app stops a search.
const maxHits = 100_000

// badQuery says what is wrong with a query, and what would be right.
func badQuery(err error) error {
	var advised interface {
		error
		Hint() string
	}
	if errors.As(err, &advised) && advised.Hint() != "" {
		return answer.Misuse("%v; %s", err, advised.Hint())
	}
	return answer.Misuse("%v", err)
}
