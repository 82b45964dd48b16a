// Package search has the commands that find notes by a query.
package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/budget"
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
	return []command.Command{
		{Name: "search", Escaped: "query", OfIndex: true, Run: searchPaths},
		{Name: "search:context", Escaped: "query", OfIndex: true, Run: searchLines},
	}
}

// searchPaths and searchLines have the same sentence for nothing in every form.
func searchPaths(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	found, err := search(v, p, false)
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return found.reply(strconv.Itoa(len(found.hits))), nil
	case len(found.hits) == 0:
		return found.nothing(p), nil
	}
	paths := make([]string, len(found.hits))
	for i, h := range found.hits {
		paths[i] = h.path
		if p["format"] == answer.FormatJSON {
			paths[i] = answer.QuoteJSON(h.path)
		}
	}
	if p["format"] == answer.FormatJSON {
		return found.reply("[" + strings.Join(paths, ",") + "]"), nil
	}
	return found.reply(strings.Join(paths, "\n")), nil
}

// result is what a search found, and how it read the query.
type result struct {
	hits    []hit
	reading string // "" for words side by side
	notes   int    // that were looked at
}

// reply returns an answer with how the query was read.
func (r result) reply(text string) answer.Reply {
	said := answer.Text(text)
	if r.reading != "" {
		said.Notice = "query read as: " + r.reading
	}
	return said
}

// nothing says what was searched in vain.
func (r result) nothing(p grammar.Values) answer.Reply {
	said := answer.Nothing(noMatches, "none of the %s in %s matches", session.Count(r.notes, "note"), session.Place(p["path"]))
	if r.notes == 0 {
		said.Notice = session.Place(p["path"]) + " has no notes"
	}
	if r.reading != "" {
		said.Notice += "; query read as: " + r.reading
	}
	return said
}

func searchLines(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	found, err := search(v, p, true)
	if err != nil {
		return answer.Reply{}, err
	}
	if len(found.hits) == 0 {
		return found.nothing(p), nil
	}
	text := contextText(found.hits)
	if p["format"] == answer.FormatJSON {
		text = contextJSON(found.hits)
	}
	said := found.reply(text)
	if text == "" {
		// Only names were found, and that form has no lines for them.
		return answer.Nothing(noMatches, "%s by name and none by a line of its text: the command search lists them", session.Count(len(found.hits), "note")), nil
	}
	if slices.ContainsFunc(found.hits, func(h hit) bool { return h.cut }) {
		said.Truncated = true
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
func search(v *session.Vault, p grammar.Values, lines bool) (result, error) {
	q, err := query.Parse(p["query"], query.Options{CaseSensitive: p.Has("case"), Budget: budget.From(v.Ctx)})
	if err != nil {
		return result{}, badQuery(err)
	}
	limit, err := p.Number("limit", 0, 1, maxHits)
	if err != nil {
		return result{}, err
	}
	under, err := v.FolderOf(p["path"])
	if err != nil {
		return result{}, answer.FolderNotFound(p["path"])
	}
	excluded, err := v.Excluded()
	if err != nil {
		return result{}, err
	}
	var found hits
	var notes atomic.Int64
	wanted := func(n *knowledge.Note) bool {
		if v.Ctx.Err() != nil {
			return false
		}
		outlook := q.Foresee(n, n.Filter)
		if outlook == query.Always && !lines {
			found.add(hit{path: n.File, rank: n.Rank})
			return false
		}
		return outlook != query.Never
	}
	err = v.Host.Knowledge.EachNote(v.View(), knowledge.Scope{Folder: under, Excluded: excluded, Texts: q.NeedsText(), Seen: &notes, Wanted: wanted}, func(n *knowledge.Note) {
		if v.Ctx.Err() != nil || !q.Match(n) {
			return
		}
		h := hit{path: n.File, rank: n.Rank}
		if lines {
			h.lines = q.Lines(n)
		}
		found.add(h)
	})
	switch {
	case disk.IsMissing(err):
		return result{}, answer.FolderNotFound(p["path"])
	case err != nil:
		return result{}, err
	case v.Ctx.Err() != nil:
		return result{}, v.Ctx.Err()
	case q.Err() != nil:
		return result{}, badQuery(q.Err())
	}
	if notes.Load() == 0 { // what is remembered does not tell a missing folder from an empty one
		if _, err := v.EachFileBelow(p["path"], func(session.Listed) {}); err != nil {
			return result{}, err
		}
	}
	sorted := found.sorted()
	return result{sorted[:min(len(sorted), cmp.Or(limit, len(sorted)))], q.Reading(), int(notes.Load())}, nil
}

// maxHits is where the app stops a search.
const maxHits = 100_000

// badQuery says what is wrong with a query, and what would be right.
func badQuery(err error) error {
	var advised interface {
		error
		Hint() string
	}
	var wrong *query.ParseError
	switch {
	case errors.As(err, &wrong) && wrong.Code() == query.CodeNoOperator:
		return answer.MisuseWithHint(wrong.Hint(), "%v.\n%s", err, wrong.Hint())
	case errors.As(err, &advised) && advised.Hint() != "":
		return answer.Misuse("%v; %s", err, advised.Hint())
	}
	return answer.Misuse("%v", err)
}
