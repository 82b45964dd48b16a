package handlers

import (
	"cmp"
	"errors"
	"fmt"
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

// searchPaths and searchLines have the same sentence for nothing in every form.
func searchPaths(v *call.Vault, p call.Values) (answer.Reply, error) {
	found, err := searchNotes(v, p, false)
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return found.reply(v, strconv.Itoa(len(found.hits))), nil
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
		return found.reply(v, "["+strings.Join(paths, ",")+"]"), nil
	}
	return found.reply(v, strings.Join(paths, "\n")), nil
}

// result is what a search found, and how it read the query.
type result struct {
	hits    []hit
	found   int    // notes, of which hits are the first ones
	reading string // "" for words side by side
	meant   string // the query that was probably meant, "" for this one
	notes   int    // that were looked at
}

// reply returns an answer with how the query was read.
func (r result) reply(v *call.Vault, text string) answer.Reply {
	said := answer.From(v.Disk, text)
	said.Notice = r.howRead()
	return limited(said, len(r.hits), r.found, "note")
}

// nothing says what was searched in vain.
func (r result) nothing(p call.Values) answer.Reply {
	said := answer.Nothing(
		noMatches,
		"none of the %s in %s matches",
		answer.Count(r.notes, "note"),
		answer.Place(p["path"]),
	)
	if r.notes == 0 {
		said.Notice = answer.Place(p["path"]) + " has no notes"
	}
	if read := r.howRead(); read != "" {
		said.Notice += "; " + read
	}
	return said
}

// howRead says how the query was read where that may not be what was meant, "" for words side by side.
func (r result) howRead() string {
	var notices []string
	if r.reading != "" {
		notices = append(notices, "query read as: "+r.reading)
	}
	if r.meant != "" {
		notices = append(notices, fmt.Sprintf("AND, NOT, && and = are text here; did you mean query=%s?", r.meant))
	}
	return strings.Join(notices, "; ")
}

func searchLines(v *call.Vault, p call.Values) (answer.Reply, error) {
	found, err := searchNotes(v, p, true)
	if err != nil {
		return answer.Reply{}, err
	}
	if len(found.hits) == 0 {
		return found.nothing(p), nil
	}
	var out strings.Builder
	if p["format"] != answer.FormatJSON {
		for _, h := range found.hits {
			for _, line := range h.lines {
				out.WriteString(h.path + ":" + strconv.Itoa(line.Line) + ": " + line.Text + "\n")
			}
		}
	} else {
		// It is compact, unlike other JSON of the app. A note that was found by its name alone has no
		// matches.
		out.WriteByte('[')
		for i, h := range found.hits {
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
	said := found.reply(v, out.String())
	if out.Len() == 0 {
		// Only names were found, and that form has no lines for them.
		return answer.Nothing(
			noMatches,
			"%s by name and none by a line of its text: the command search lists them",
			answer.Count(len(found.hits), "note"),
		), nil
	}
	if slices.ContainsFunc(found.hits, func(h hit) bool { return h.cut }) {
		said.Truncated = true
		said.Notice = fmt.Sprintf(
			"Truncated after %d KiB of lines: narrow the query, or search below a folder with path=.",
			maxContext>>10,
		)
	}
	return said, nil
}

// searchNotes returns the notes that a query finds, in the order of listings, and
// if they are wanted the lines in them. Only notes are found, and none that is
// excluded.
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
	var found hits
	var notes atomic.Int64
	wanted := func(n *search.Note) bool {
		if v.Ctx.Err() != nil {
			return false
		}
		outlook := q.Foresee(n, n.Filter)
		if outlook == search.Always && !lines {
			found.add(hit{path: n.File, rank: n.Rank})
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
			found.add(h)
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
	if notes.Load() == 0 { // what is remembered does not tell a missing folder from an empty one
		if _, err := v.EachFileBelow(p["path"], func(call.Listed) {}); err != nil {
			return result{}, err
		}
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	found.shorten()
	sorted := found.all
	return result{
		sorted[:min(len(sorted), cmp.Or(limit, len(sorted)))],
		len(sorted),
		q.Reading(),
		meant,
		int(notes.Load()),
	}, nil
}

// maxHits is where the app stops a search.
const maxHits = 100_000

// badQuery is [invalidQuery] that gives the advice about an unknown operator a line of its own.
func badQuery(err error) error {
	if wrong, ok := errors.AsType[*search.ParseError](err); ok && wrong.Code() == search.CodeNoOperator {
		return answer.MisuseWithHint(wrong.Hint(), "%v.\n%s", err, wrong.Hint())
	}
	return invalidQuery(err)
}

// hit is a note that was found.
type hit struct {
	path  string
	rank  int // in the order of listings, 0 if it is not known
	lines []search.MatchedLine
	cut   bool // there are more lines, and they are left out
}

const (
	// maxContext bounds the lines of a search in bytes: an agent reads a fraction of
	// it, and they are in memory several times before they are printed.
	maxContext = 4 << 20
	// lineCost is what a line costs besides its text: its number and its container.
	lineCost = 64
)

// hits collects what is found, from several goroutines. Of the lines it keeps the
// first ones in the order of listings, as many as fit an answer, whichever note
// is searched first.
type hits struct {
	mu   sync.Mutex
	all  []hit
	size int // of the lines, in bytes
}

func (h *hits) add(one hit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, one)
	for _, line := range one.lines {
		h.size += len(line.Text) + lineCost
	}
	if h.size > 2*maxContext {
		h.shorten()
	}
}

// shorten puts the hits into the order of listings, and drops the lines after the last one
// that fits the answer. The notes stay: how many are found does not depend on it.
func (h *hits) shorten() {
	slices.SortFunc(h.all, func(a, b hit) int {
		if a.rank != 0 && b.rank != 0 {
			return a.rank - b.rank
		}
		return filenames.Compare(a.path, b.path)
	})
	h.size = 0
	for i := range h.all {
		one := &h.all[i]
		for n, line := range one.lines {
			if h.size+len(line.Text)+lineCost > maxContext {
				one.lines = slices.Clone(one.lines[:n])
				one.cut = true
				h.size = maxContext // nothing after it fits, however short
				break
			}
			h.size += len(line.Text) + lineCost
		}
	}
}
