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

// backlinks lists the files that link to a file. Like the app, it includes links of a note to itself, and links in
// properties and canvases.
func backlinks(v *call.Vault, p call.Values) (answer.Reply, error) {
	idx, place, err := v.IndexedTarget(p)
	if err != nil {
		return answer.Reply{}, err
	}
	table := answer.Table{Columns: []string{"file", "count"}, Pairs: p.Has("counts")}
	for _, source := range idx.Graph().In(place) {
		table.Add(idx.Files[source.Place].Path.String(), strconv.Itoa(int(source.Count)))
	}
	none := answer.Nothing("No backlinks found.", "no file links to %s", answer.Place(idx.Files[place].Path.String()))
	return tableReply(v, p, table, p["format"], none), nil
}

// listLinks prints one line per target, in the order of listings; missing targets are marked. As in the app, only
// notes have links here: those of canvases count elsewhere.
func listLinks(v *call.Vault, p call.Values) (answer.Reply, error) {
	if p.Has("depth") || p.Has("direction") || p.Has("limit") {
		// The files that can be reached from a file along links in the given direction, in up to depth steps:
		// nearest first, then in the order of listings. Each row has the number of steps and the previous file.
		depth, err := p.Number("depth", 1, 1, maxDepth)
		if err != nil {
			return answer.Reply{}, err
		}
		limit, err := p.Number("limit", defaultLinks, 1, maxLinks)
		if err != nil {
			return answer.Reply{}, err
		}
		idx, place, err := v.IndexedTarget(p)
		if err != nil {
			return answer.Reply{}, err
		}
		files := walkLinks(idx.Graph(), place, depth, p["direction"])
		switch {
		case p.Has("total"):
			return answer.Number(len(files)), nil
		case len(files) == 0:
			return answer.Text("No links found."), nil
		}
		table := answer.Table{}
		for _, f := range files[:min(limit, len(files))] {
			table.Rows = append(
				table.Rows,
				[]string{idx.Files[f.place].Path.String(), strconv.Itoa(f.steps), idx.Files[f.via].Path.String()},
			)
		}
		reply := limited(table.Reply(v.Disk, answer.FormatTSV), len(table.Rows), len(files), "file")
		reply.Truncated = reply.Notice != (answer.Notice{})
		return reply, nil
	}
	idx, place, err := v.IndexedFile(p)
	if err != nil {
		return answer.Reply{}, err
	}
	var targets []string
	if idx.Files[place].IsNote() {
		for _, target := range idx.Graph().Out(place) {
			targets = append(targets, idx.Files[target.Place].Path.String())
		}
		unresolved := idx.Graph().Unresolved(place)
		if len(unresolved) > 0 {
			v.AddUnread(idx.UnreadNames()) // one of these may be a missing target
		}
		for _, missing := range unresolved {
			targets = append(targets, missing.Key+" (unresolved)")
		}
	}
	filenames.Sort(targets)
	return listReply(
		v,
		p,
		targets,
		answer.Nothing("No links found.", "%s links to nothing", answer.Place(idx.Files[place].Path.String())),
	), nil
}

func unresolved(v *call.Vault, p call.Values) (answer.Reply, error) {
	idx, err := v.Index()
	if err != nil {
		return answer.Reply{}, err
	}
	counts := map[string]int{}
	sources := map[string][]string{}
	graph := idx.Graph()
	for place, source := range idx.Files {
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
	return tableReply(v, p, table, p["format"], answer.Text("No unresolved links found.")), nil
}

// without returns the command that lists the files of all kinds without edges in one direction. A link of a note to
// itself counts, an unresolved link does not.
func without(
	none string,
	edges func(g *index.Graph, place int) []index.Edge,
) func(*call.Vault, call.Values) (answer.Reply, error) {
	return func(v *call.Vault, p call.Values) (answer.Reply, error) {
		idx, err := v.Index()
		if err != nil {
			return answer.Reply{}, err
		}
		var unlinked []string
		graph := idx.Graph()
		for place, f := range idx.Files {
			if len(edges(graph, place)) == 0 {
				unlinked = append(unlinked, f.Path.String())
			}
		}
		return listReply(v, p, unlinked, answer.From(v.Disk, none)), nil
	}
}

// Limits of a walk along links. A few steps reach most of a vault.
const (
	maxDepth     = 5
	defaultLinks = 200
	maxLinks     = 1000
)

// reached is a file on a walk along links: its place, the place of the previous file, and the number of steps.
type reached struct{ place, via, steps int }

// walkLinks returns the files that can be reached from a file, without the file itself.
func walkLinks(g *index.Graph, from, depth int, direction string) (files []reached) {
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
					files = append(files, reached{place, at, steps})
				}
			}
		}
		slices.Sort(next)
		layer = next
	}
	slices.SortStableFunc(files, func(a, b reached) int { return cmp.Or(a.steps-b.steps, a.place-b.place) })
	return files
}
