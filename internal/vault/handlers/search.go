package handlers

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

func init() {
	register(
		Command{Name: "search", Escaped: "query", OfIndex: true, Run: searchPaths},
		Command{Name: "search:context", Escaped: "query", OfIndex: true, Run: searchLines},
		Command{Name: "vault:replace", Plan: replaceInVault},
	)
}

const noMatches = "No matches found."

// searchPaths lists the notes that match a query. Without a match it prints the same sentence in every format, like
// searchLines.
func searchPaths(v *call.Vault, p call.Values) (answer.Reply, error) {
	matches, err := searchNotes(v, p, false)
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return matches.reply(v, strconv.Itoa(len(matches.hits))), nil
	case len(matches.hits) == 0:
		return matches.nothing(p), nil
	}
	paths := make([]string, len(matches.hits))
	for i, h := range matches.hits {
		paths[i] = h.path
		if p["format"] == answer.FormatJSON {
			paths[i] = answer.QuoteJSON(h.path)
		}
	}
	if p["format"] == answer.FormatJSON {
		return matches.reply(v, "["+strings.Join(paths, ",")+"]"), nil
	}
	return matches.reply(v, strings.Join(paths, "\n")), nil
}

// result is the result of a search, and how the query was interpreted.
type result struct {
	hits    []hit  // the first notes that match
	found   int    // number of notes that match
	reading string // the interpretation of the query; "" for plain words
	meant   string // the query that was probably meant, "" if it is this one
	notes   int    // number of notes searched
}

// reply returns a reply with a notice about the interpretation of the query.
func (r result) reply(v *call.Vault, text string) answer.Reply {
	said := answer.From(v.Disk, text)
	said.Notice = r.howRead()
	return limited(said, len(r.hits), r.found, "note")
}

// nothing returns the reply for a search without a match.
func (r result) nothing(p call.Values) answer.Reply {
	reply := answer.Nothing(
		noMatches,
		"none of the %s in %s matches",
		answer.Count(r.notes, "note"),
		answer.Place(p["path"]),
	)
	if r.notes == 0 {
		reply.Notice = answer.Remark("%s has no notes", answer.Place(p["path"]))
	}
	return reply.Noting(r.howRead())
}

// howRead describes how the query was interpreted, if that may not be what was meant. There is no remark on plain
// words.
func (r result) howRead() (how answer.Notice) {
	if r.reading != "" {
		how = answer.Remark("query read as: %s", r.reading)
	}
	if r.meant != "" {
		how = how.And(answer.Remark("AND, NOT, && and = are text here; did you mean query=%s?", r.meant))
	}
	return how
}

func searchLines(v *call.Vault, p call.Values) (answer.Reply, error) {
	matches, err := searchNotes(v, p, true)
	if err != nil {
		return answer.Reply{}, err
	}
	if len(matches.hits) == 0 {
		return matches.nothing(p), nil
	}
	var out strings.Builder
	if p["format"] != answer.FormatJSON {
		for _, h := range matches.hits {
			for _, line := range h.lines {
				out.WriteString(h.path + ":" + strconv.Itoa(line.Line) + ": " + line.Text + "\n")
			}
		}
	} else {
		// Compact, unlike other JSON of the app. A note that was only found by its name has no matches.
		out.WriteByte('[')
		for i, h := range matches.hits {
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
	}
	reply := matches.reply(v, out.String())
	if out.Len() == 0 {
		// Only names matched, and this format has no lines for them.
		return answer.Nothing(
			noMatches,
			"%s by name and none by a line of its text: the command search lists them",
			answer.Count(len(matches.hits), "note"),
		), nil
	}
	if slices.ContainsFunc(matches.hits, func(h hit) bool { return h.cut }) {
		reply.Truncated = true
		reply.Notice = answer.Remark(
			"Truncated after %d KiB of lines: narrow the query, or search below a folder with path=.",
			maxContext>>10,
		)
	}
	return reply, nil
}

// searchNotes returns the notes that match a query, in the order of listings, with the matching lines if lines is set.
// Files that are not notes, and excluded notes, are not searched.
func searchNotes(v *call.Vault, p call.Values, lines bool) (result, error) {
	meant := search.Meant(p["query"])
	q, err := search.ParseQuery(p["query"], search.QueryOptions{CaseSensitive: p.Has("case"), Budget: budget.From(v.Ctx)})
	if err != nil && meant != "" {
		return result{}, answer.MisuseWithHint("did you mean query="+meant+"?", "%v", err)
	}
	if err != nil {
		return result{}, badQuery(err)
	}
	limit, err := p.Number("limit", 0, 1, maxHits)
	if err != nil {
		return result{}, err
	}
	under, err := v.FolderOf(p["path"])
	if err != nil {
		return result{}, answer.NoSuchFolder(p["path"], err)
	}
	excluded, _, err := v.Excluded()
	if err != nil {
		return result{}, err
	}
	var collected hits
	var notes atomic.Int64
	wanted := func(n *search.Note) bool {
		if v.Ctx.Err() != nil {
			return false
		}
		outlook := q.Foresee(n, n.Filter)
		if outlook == search.Always && !lines {
			collected.add(hit{path: n.File, rank: n.Rank})
			return false
		}
		return outlook != search.Never
	}
	err = v.Host.Knowledge.EachNote(
		v.View(),
		search.Scope{Folder: under, Excluded: excluded, Texts: q.NeedsText(), Seen: &notes, Wanted: wanted},
		func(n *search.Note) {
			if v.Ctx.Err() != nil || !q.Match(n) {
				return
			}
			h := hit{path: n.File, rank: n.Rank}
			if lines {
				h.lines = q.Lines(n)
			}
			collected.add(h)
		},
	)
	switch {
	case disk.IsMissing(err):
		return result{}, answer.FolderNotFound(p["path"])
	case err != nil:
		return result{}, err
	case v.Ctx.Err() != nil:
		return result{}, v.Ctx.Err()
	case budget.From(v.Ctx).Exceeded() != nil:
		return result{}, budget.From(v.Ctx).Exceeded()
	case q.Err() != nil:
		return result{}, badQuery(q.Err())
	}
	if notes.Load() == 0 { // the index does not distinguish a missing folder from an empty one
		if _, err := v.EachFileBelow(p["path"], func(call.Listed) {}); err != nil {
			return result{}, err
		}
	}
	collected.mu.Lock()
	defer collected.mu.Unlock()
	collected.shorten()
	sorted := collected.all
	return result{
		sorted[:min(len(sorted), cmp.Or(limit, len(sorted)))],
		len(sorted),
		q.Reading(),
		meant,
		int(notes.Load()),
	}, nil
}

// maxHits is the limit at which the app stops a search.
const maxHits = 100_000

// badQuery is [invalidQuery], except that the hint about an unknown operator is on a line of its own.
func badQuery(err error) error {
	if parseErr, ok := errors.AsType[*search.ParseError](err); ok && parseErr.Code() == search.CodeNoOperator {
		return answer.MisuseWithHint(parseErr.Hint(), "%v.\n%s", err, parseErr.Hint())
	}
	return invalidQuery(err)
}

// hit is a note that matches a query.
type hit struct {
	path  string
	rank  int // position in the order of listings, from 1; 0 if unknown
	lines []search.MatchedLine
	cut   bool // lines are truncated
}

const (
	// maxContext limits the lines of a search in bytes: an agent reads a fraction of it, and several copies
	// are in memory before they are printed.
	maxContext = 4 << 20
	// lineCost is the memory of a line in addition to its text, in bytes.
	lineCost = 64
)

// hits collects matching notes from several goroutines. It keeps the first lines in the order of listings, up to
// maxContext bytes, independent of the order in which notes are searched.
type hits struct {
	mu   sync.Mutex
	all  []hit
	size int // bytes of the lines
}

func (h *hits) add(found hit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, found)
	for _, line := range found.lines {
		h.size += len(line.Text) + lineCost
	}
	if h.size > 2*maxContext {
		h.shorten()
	}
}

// shorten sorts the hits in the order of listings, and drops the lines that do not fit into the answer. It keeps all
// notes, so that their number is correct.
func (h *hits) shorten() {
	slices.SortFunc(h.all, func(a, b hit) int {
		if a.rank != 0 && b.rank != 0 {
			return a.rank - b.rank
		}
		return filenames.Compare(a.path, b.path)
	})
	h.size = 0
	for i := range h.all {
		entry := &h.all[i]
		for n, line := range entry.lines {
			if h.size+len(line.Text)+lineCost > maxContext {
				entry.lines = slices.Clone(entry.lines[:n])
				entry.cut = true
				h.size = maxContext // drop all following lines too, however short
				break
			}
			h.size += len(line.Text) + lineCost
		}
	}
}
