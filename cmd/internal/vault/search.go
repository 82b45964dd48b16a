package vault

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/query"
)

const noMatches = "No matches found."

func searchCommands() []command {
	shared := []param{
		{name: "query", hint: "text", kind: content, required: true, about: "What to look for, in the search language of the app"},
		{name: "path", hint: "path", about: "Only below this folder"},
		{name: "limit", hint: "number", about: "At most so many files"},
		{name: "format", oneOf: []string{"text", formJSON}, about: "Form of the answer"},
		{name: "case", kind: flag, about: "Tell upper from lower case"},
	}
	return []command{
		{
			name: "search", about: "List the notes that a query finds",
			params: append(shared[:len(shared):len(shared)], param{name: "total", kind: flag, about: "Only how many there are"}),
			run:    searchPaths,
		},
		{name: "search:context", about: "List the lines that a query finds", params: shared, run: searchLines},
	}
}

// searchPaths and searchLines have the same sentence for nothing in every form.
func searchPaths(v *vault, p params) (reply, error) {
	hits, err := v.search(p, false)
	switch {
	case err != nil:
		return reply{}, err
	case p.has("total"):
		return say(strconv.Itoa(len(hits))), nil
	case len(hits) == 0:
		return say(noMatches), nil
	}
	paths := make([]string, len(hits))
	for i, h := range hits {
		paths[i] = h.path
		if p["format"] == formJSON {
			paths[i] = quoted(h.path)
		}
	}
	if p["format"] == formJSON {
		return say("[" + strings.Join(paths, ",") + "]"), nil
	}
	return say(strings.Join(paths, "\n")), nil
}

func searchLines(v *vault, p params) (reply, error) {
	hits, err := v.search(p, true)
	if err != nil {
		return reply{}, err
	}
	if len(hits) == 0 {
		return say(noMatches), nil
	}
	text := contextText(hits)
	if p["format"] == formJSON {
		text = contextJSON(hits)
	}
	if text == "" {
		text = noMatches // only names were found, and that form has no lines for them
	}
	said := say(text)
	if slices.ContainsFunc(hits, func(h hit) bool { return h.cut }) {
		said.remark = fmt.Sprintf("Truncated after %d KiB of lines: narrow the query, or search below a folder with path=.", maxContext>>10)
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
		out.WriteString(`{"file":` + quoted(h.path) + `,"matches":[`)
		for j, line := range h.lines {
			if j > 0 {
				out.WriteByte(',')
			}
			out.WriteString(`{"line":` + strconv.Itoa(line.Line) + `,"text":` + quoted(line.Text) + `}`)
		}
		out.WriteString("]}")
	}
	out.WriteByte(']')
	return out.String()
}

// search returns the notes that a query finds, in the order of listings, and
// if they are wanted the lines in them. Only notes are found, and none that is
// excluded.
func (v *vault) search(p params, lines bool) ([]hit, error) {
	q, err := query.Parse(p["query"], query.Options{CaseSensitive: p.has("case")})
	if err != nil {
		return nil, badQuery(err)
	}
	limit, err := p.number("limit", 0, 1, maxHits)
	if err != nil {
		return nil, err
	}
	under, err := v.folderOf(p["path"])
	if err != nil {
		return nil, nil // a folder that cannot be is an empty one
	}
	excluded, err := v.excluded()
	if err != nil {
		return nil, err
	}
	var found hits
	err = v.host.known.eachNote(v.view(), sought{under, excluded, q.NeedsText()}, func(n *searched) {
		if v.ctx.Err() != nil || !q.Match(n) {
			return
		}
		h := hit{path: n.path}
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
	case v.ctx.Err() != nil:
		return nil, v.ctx.Err()
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
		return misuse("%v; %s", err, advised.Hint())
	}
	return misuse("%v", err)
}
