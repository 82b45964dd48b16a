package metadata

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
)

// backlinks counts a link of a note to itself, and links in properties and
// canvases, like the app.
func backlinks(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	x, place, err := v.IndexedTarget(p)
	if err != nil {
		return answer.Reply{}, err
	}
	sources := x.Graph().In(place)
	if p.Has("total") {
		return answer.Text(strconv.Itoa(len(sources))), nil
	}
	if len(sources) == 0 {
		return answer.Nothing("No backlinks found.", "no file links to %s", session.Place(x.Files[place].Path.String())), nil
	}
	table := answer.Table{Columns: []string{"file", "count"}}
	for _, source := range sources {
		table.Add(p.Has("counts"), x.Files[source.Place].Path.String(), strconv.Itoa(int(source.Count)))
	}
	return table.Reply(p["format"]), nil
}

// links has one line for each target, in the order of listings; those that are
// not there are marked. Only notes have links here: the app says so of canvases
// too, although their links count elsewhere.
func links(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	if p.Has("depth") || p.Has("direction") || p.Has("limit") {
		return linksAround(v, p)
	}
	x, place, err := v.IndexedTarget(p)
	if err != nil {
		return answer.Reply{}, err
	}
	var targets []string
	if x.Files[place].IsNote() {
		for _, target := range x.Graph().Out(place) {
			targets = append(targets, x.Files[target.Place].Path.String())
		}
		for _, missing := range x.Graph().Unresolved(place) {
			targets = append(targets, missing.Key+" (unresolved)")
		}
	}
	if p.Has("total") {
		return answer.Text(strconv.Itoa(len(targets))), nil
	}
	if len(targets) == 0 {
		return answer.Nothing("No links found.", "%s links to nothing", session.Place(x.Files[place].Path.String())), nil
	}
	order.Sort(targets)
	return answer.Text(strings.Join(targets, "\n")), nil
}

func unresolved(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	x, err := v.Index()
	if err != nil {
		return answer.Reply{}, err
	}
	counts, sources := map[string]int{}, map[string][]string{}
	graph := x.Graph()
	for place, source := range x.Files {
		for _, missing := range graph.Unresolved(place) {
			counts[missing.Key] += int(missing.Count)
			sources[missing.Key] = append(sources[missing.Key], source.Path.String())
		}
	}
	if p.Has("total") {
		return answer.Text(strconv.Itoa(len(counts))), nil
	}
	if len(counts) == 0 {
		return answer.Text("No unresolved links found."), nil
	}
	keys := slices.Collect(maps.Keys(counts))
	order.Sort(keys)
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
	return table.Reply(p["format"]), nil
}

// orphans and deadends look at files of every kind, and take the index
// literally: a link of a note to itself counts, one that leads nowhere does not.
func orphans(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	return without(v, p, "No orphan files found.", (*index.Graph).In)
}

func deadends(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	return without(v, p, "No dead-end files found.", (*index.Graph).Out)
}

// without lists the files that have no edge of one direction.
func without(v *session.Vault, p grammar.Values, none string, edges func(g *index.Graph, place int) []index.Edge) (answer.Reply, error) {
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
	switch {
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(alone))), nil
	case len(alone) == 0:
		return answer.Text(none), nil
	}
	return answer.Text(strings.Join(alone, "\n")), nil
}
