package metadata

import (
	"fmt"
	"slices"
	"strconv"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/session"
)

// Limits of a walk along links: in a few steps it is at most of a vault.
const (
	maxDepth     = 5
	defaultLinks = 200
	maxLinks     = 1000
)

// linksAround lists the files that can be reached from a file along its links, the
// links to it, or both, in up to a number of steps: the nearest first, in the order of
// listings, each once. Each row has the steps and the file before it on the way.
func linksAround(v *session.Vault, p grammar.Values) (answer.Reply, error) {
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
		return answer.Text(strconv.Itoa(len(found))), nil
	case len(found) == 0:
		return answer.Text("No links found."), nil
	}
	table := answer.Table{}
	for _, f := range found[:min(limit, len(found))] {
		table.Rows = append(table.Rows, []string{x.Files[f.place].Path.String(), strconv.Itoa(f.steps), x.Files[f.via].Path.String()})
	}
	said := table.Reply(answer.FormatTSV)
	if len(found) > limit {
		said.Truncated = true
		said.Notice = fmt.Sprintf("Truncated: %d of %d files. Use limit=<n>, or a smaller depth.", limit, len(found))
	}
	return said, nil
}

// reached is a file on a walk along links.
type reached struct{ place, via, steps int }

// around walks along links from a file, which is not among the files that are found.
func around(g *index.Graph, from, depth int, direction string) (found []reached) {
	seen := map[int]bool{from: true}
	layer := []int{from}
	for steps := 1; steps <= depth && len(layer) > 0; steps++ {
		var next []int
		for _, at := range layer {
			for _, place := range neighbours(g, at, direction) {
				if !seen[place] {
					seen[place] = true
					next = append(next, place)
					found = append(found, reached{place, at, steps})
				}
			}
		}
		slices.Sort(next)
		layer = next
	}
	slices.SortStableFunc(found, func(a, b reached) int {
		if a.steps != b.steps {
			return a.steps - b.steps
		}
		return a.place - b.place
	})
	return found
}

// neighbours are the files at the other ends of the links of a file.
func neighbours(g *index.Graph, at int, direction string) (places []int) {
	if direction != "in" {
		for _, e := range g.Out(at) {
			places = append(places, int(e.Place))
		}
	}
	if direction == "in" || direction == "both" {
		for _, e := range g.In(at) {
			places = append(places, int(e.Place))
		}
	}
	return places
}
