package handlers

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

func init() {
	register(
		Command{Name: "backlinks", Run: backlinks},
		Command{Name: "links", Run: listLinks},
		Command{Name: "unresolved", OfIndex: true, Run: unresolved},
		Command{Name: "orphans", OfIndex: true, Run: without("No orphan files found.", (*index.Graph).In)},
		Command{Name: "deadends", OfIndex: true, Run: without("No dead-end files found.", (*index.Graph).Out)},
		Command{Name: "related", Run: related},
	)
}

// backlinks counts a link of a note to itself, and links in properties and
// canvases, like the app.
func backlinks(v *call.Vault, p call.Values) (answer.Reply, error) {
	x, place, err := v.IndexedTarget(p)
	if err != nil {
		return answer.Reply{}, err
	}
	table := answer.Table{Columns: []string{"file", "count"}, Pairs: p.Has("counts")}
	for _, source := range x.Graph().In(place) {
		table.Add(x.Files[source.Place].Path.String(), strconv.Itoa(int(source.Count)))
	}
	none := answer.Nothing("No backlinks found.", "no file links to %s", answer.Place(x.Files[place].Path.String()))
	return tabled(v, p, table, p["format"], none), nil
}

// listLinks has one line for each target, in the order of listings; those that are
// not there are marked. Only notes have links here: the app says so of canvases
// too, although their links count elsewhere.
func listLinks(v *call.Vault, p call.Values) (answer.Reply, error) {
	if p.Has("depth") || p.Has("direction") || p.Has("limit") {
		// The files that can be reached from a file along its links, the links to it, or both, in up to a
		// number of steps: the nearest first, in the order of listings, each once. Each row has the steps
		// and the file before it on the way.
		depth, err := p.Number("depth", 1, 1, maxDepth)
		if err != nil {
			return answer.Reply{}, err
		}
		limit, err := p.Number("limit", defaultLinks, 1, maxLinks)
		if err != nil {
			return answer.Reply{}, err
		}
		x, place, err := v.IndexedTarget(p)
		if err != nil {
			return answer.Reply{}, err
		}
		found := around(x.Graph(), place, depth, p["direction"])
		switch {
		case p.Has("total"):
			return answer.Number(len(found)), nil
		case len(found) == 0:
			return answer.Text("No links found."), nil
		}
		table := answer.Table{}
		for _, f := range found[:min(limit, len(found))] {
			table.Rows = append(
				table.Rows,
				[]string{x.Files[f.place].Path.String(), strconv.Itoa(f.steps), x.Files[f.via].Path.String()},
			)
		}
		said := limited(table.Reply(v.Disk, answer.FormatTSV), len(table.Rows), len(found), "file")
		said.Truncated = said.Notice != ""
		return said, nil
	}
	x, place, err := v.IndexedFile(p)
	if err != nil {
		return answer.Reply{}, err
	}
	var targets []string
	if x.Files[place].IsNote() {
		for _, target := range x.Graph().Out(place) {
			targets = append(targets, x.Files[target.Place].Path.String())
		}
		unresolved := x.Graph().Unresolved(place)
		if len(unresolved) > 0 {
			v.AddUnread(x.UnreadNames()) // they may be there
		}
		for _, missing := range unresolved {
			targets = append(targets, missing.Key+" (unresolved)")
		}
	}
	filenames.Sort(targets)
	return listing(
		v,
		p,
		targets,
		answer.Nothing("No links found.", "%s links to nothing", answer.Place(x.Files[place].Path.String())),
	), nil
}

func unresolved(v *call.Vault, p call.Values) (answer.Reply, error) {
	x, err := v.Index()
	if err != nil {
		return answer.Reply{}, err
	}
	counts := map[string]int{}
	sources := map[string][]string{}
	graph := x.Graph()
	for place, source := range x.Files {
		for _, missing := range graph.Unresolved(place) {
			counts[missing.Key] += int(missing.Count)
			sources[missing.Key] = append(sources[missing.Key], source.Path.String())
		}
	}
	keys := slices.Collect(maps.Keys(counts))
	filenames.Sort(keys)
	table := answer.Table{Columns: []string{"link"}}
	if p.Has("counts") {
		table.Columns = append(table.Columns, "count")
	}
	if p.Has("verbose") {
		table.Columns = append(table.Columns, "sources")
	}
	for _, key := range keys {
		cells := []string{key}
		if p.Has("counts") {
			cells = append(cells, strconv.Itoa(counts[key]))
		}
		if p.Has("verbose") {
			cells = append(cells, strings.Join(sources[key], ", "))
		}
		table.Rows = append(table.Rows, cells)
	}
	return tabled(v, p, table, p["format"], answer.Text("No unresolved links found.")), nil
}

// without lists the files of every kind that have no edge of one direction. It takes the index
// literally: a link of a note to itself counts, one that leads nowhere does not.
func without(
	none string,
	edges func(g *index.Graph, place int) []index.Edge,
) func(*call.Vault, call.Values) (answer.Reply, error) {
	return func(v *call.Vault, p call.Values) (answer.Reply, error) {
		x, err := v.Index()
		if err != nil {
			return answer.Reply{}, err
		}
		var alone []string
		graph := x.Graph()
		for place, f := range x.Files {
			if len(edges(graph, place)) == 0 {
				alone = append(alone, f.Path.String())
			}
		}
		return listing(v, p, alone, answer.From(v.Disk, none)), nil
	}
}

// Limits of a walk along links: in a few steps it is at most of a vault.
const (
	maxDepth     = 5
	defaultLinks = 200
	maxLinks     = 1000
)

// reached is a file on a walk along links.
type reached struct{ place, via, steps int }

// around walks along links from a file, which is not among the files that are found.
func around(g *index.Graph, from, depth int, direction string) (found []reached) {
	seen := map[int]bool{from: true}
	layer := []int{from}
	for steps := 1; steps <= depth && len(layer) > 0; steps++ {
		var next []int
		for _, at := range layer {
			var edges []index.Edge
			if direction != "in" {
				edges = g.Out(at)
			}
			if direction == "in" || direction == "both" {
				edges = slices.Concat(edges, g.In(at))
			}
			for _, e := range edges {
				if place := int(e.Place); !seen[place] {
					seen[place] = true
					next = append(next, place)
					found = append(found, reached{place, at, steps})
				}
			}
		}
		slices.Sort(next)
		layer = next
	}
	slices.SortStableFunc(found, func(a, b reached) int { return cmp.Or(a.steps-b.steps, a.place-b.place) })
	return found
}
